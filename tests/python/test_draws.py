"""What is done with draws: ArviZ, leave-one-out, components of anyone's draws."""

import json
import subprocess

import emomc
import numpy as np
import pytest

from conftest import ROOT, line


def test_log_likelihoods_of_rows(faithful):
    model = line(faithful)
    draws = emomc.sample(model, draws=50, warmup=100, chains=2, progress=False)
    values = draws.log_likelihoods()
    assert values.shape == (2, 50, 272)
    z = (faithful["waiting"] - draws["a"][..., None] - draws["b"][..., None] * faithful["duration"]) / draws["s"][..., None]
    np.testing.assert_allclose(values, -0.5 * z**2 - np.log(draws["s"])[..., None] - 0.5 * np.log(2 * np.pi), rtol=1e-9)
    np.testing.assert_allclose(values.sum(axis=-1), draws["log_likelihood"], rtol=1e-9)
    np.testing.assert_array_equal(draws.log_likelihoods(10), values.reshape(-1, 272)[::10])


def test_groups_of_arviz(faithful, tmp_path):
    az = pytest.importorskip("arviz")
    model = line(faithful)
    draws = emomc.sample(model, directory=tmp_path / "run", until={"ess": 1000}, progress=False)
    idata = draws.to_inferencedata()
    assert set(idata.groups()) == {"posterior", "log_likelihood", "log_prior", "sample_stats", "observed_data"}
    assert idata.log_likelihood["log_likelihood"].dims == ("chain", "draw", "row")
    np.testing.assert_array_equal(idata.observed_data["waiting"], faithful["waiting"])
    assert list(idata.observed_data["row"].values[:3]) == [0, 1, 2]
    loo = az.loo(idata)
    ours = emomc.compare({"line": draws}, draws=10**6)["line"]
    assert ours["elpd_loo"] == pytest.approx(loo.elpd_loo, abs=0.02)  # ArviZ estimates the efficiency in another way
    assert ours["se_elpd_loo"] == pytest.approx(loo.se, rel=1e-2)
    assert "log_likelihood" not in draws.to_inferencedata(log_likelihood=False).groups()
    # Without the model a run directory has no rows.
    bare = emomc.read_run(tmp_path / "run")
    assert set(bare.to_inferencedata().groups()) == {"posterior", "log_prior", "sample_stats"}
    with pytest.raises(ValueError, match="the model of these draws is not known; give it to read_run"):
        bare.to_inferencedata(log_likelihood=True)
    known = emomc.read_run(tmp_path / "run", model)
    np.testing.assert_array_equal(known.log_likelihoods(20), draws.log_likelihoods(20))
    mixture = emomc.GaussianMixture(2).fit_posterior(faithful, draws=20, warmup=50, chains=2, progress=False)
    of_mixture = mixture.draws_.to_inferencedata()
    assert of_mixture.observed_data["data"].dims == ("row", "column")
    assert of_mixture.log_likelihood["log_likelihood"].shape == (2, 20, 272)


def test_datatrees_of_arviz_1(faithful):
    pytest.importorskip("arviz_base")
    draws = emomc.sample(line(faithful), draws=100, warmup=200, proposal="nuts", progress=False)
    tree = draws.to_datatree()
    assert {"posterior", "log_likelihood", "log_prior", "sample_stats", "observed_data"} <= set(tree.children)
    np.testing.assert_array_equal(tree["posterior"]["a"].values, draws["a"])
    assert tree["log_likelihood"]["log_likelihood"].dims == ("chain", "draw", "row")
    assert tree["sample_stats"]["diverging"].dtype == bool
    stats = pytest.importorskip("arviz_stats")
    ours = emomc.compare({"line": draws}, draws=10**6)["line"]
    assert float(stats.loo(tree).elpd) == pytest.approx(ours["elpd_loo"], abs=0.05)
    assert float(stats.rhat(tree)["a"]) == pytest.approx(draws.summary("a")["a"]["rhat"], abs=2e-3)


def test_compare_is_the_programs(faithful, program, tmp_path):
    runs = {}
    for name, components in (("one", 1), ("two", 2)):
        (tmp_path / f"{name}.yaml").write_text(
            f"data: {{file: {ROOT}/tests/apps/data/faithful.csv}}\nlikelihood: {{components: {components}}}\n"
            "sampler: {seed: 2, draws: 500, warmup: 500}\nbackend: cpu\n"
        )
        subprocess.run([program, "run", f"{name}.yaml", "-q", "--output", name], cwd=tmp_path, check=True)
        model = emomc.GaussianMixture(components, covariance_type="diag").posterior(faithful)
        runs[name] = emomc.read_run(tmp_path / name, model)
    said = subprocess.run([program, "compare", "one", "two", "--json"], cwd=tmp_path, capture_output=True, text=True)
    ours = emomc.compare(runs)
    theirs = json.loads(said.stdout)
    assert [row["name"] for row in ours] == [row["run"] for row in theirs["runs"]] == ["two", "one"]
    for mine, row in zip(ours, theirs["runs"], strict=True):
        for a, b in (("elpd_loo",) * 2, ("se_elpd_loo",) * 2, ("p_loo",) * 2, ("elpd_difference",) * 2,
                     ("se_difference",) * 2, ("num_bad_k", "pareto_k_above_0.7"), ("worst_k", "worst_pareto_k"),
                     ("trusted",) * 2):  # fmt: skip
            assert mine[a] == pytest.approx(row[b], abs=1e-8), (a, mine, row)
    assert "two" in str(ours).splitlines()[1]
    by_half = emomc.compare(runs, by=np.arange(272) // 2)
    assert by_half["two"]["elpd_loo"] == pytest.approx(ours["two"]["elpd_loo"], abs=5)


def test_compare_refuses_what_does_not_compare(faithful):
    def run(data):
        return emomc.sample(line(data), draws=100, warmup=100, chains=2, progress=False)

    one = run(faithful)
    with pytest.raises(ValueError, match="there are none"):
        emomc.compare({})
    with pytest.raises(ValueError, match="few: 100 rows, but all has 272"):
        emomc.compare({"all": one, "few": run({name: x[:100] for name, x in faithful.items()})})
    with pytest.raises(ValueError, match="other: other values of waiting than all"):
        emomc.compare({"all": one, "other": run(faithful | {"waiting": faithful["waiting"] + 1})})
    with pytest.raises(ValueError, match=r"by: an array of shape \(3,\); allowed: one value for each of the 272 rows"):
        emomc.compare({"all": one}, by=[1, 2, 3])


def test_relabel_finds_the_components_of_anyones_draws(faithful):
    rng = np.random.default_rng(3)
    mixture = emomc.GaussianMixture(2).fit_posterior(faithful, draws=300, warmup=300, progress=False)
    draws = {name: mixture.draws_[name].copy() for name in mixture.draws_.parameters}
    expected = {name: array.copy() for name, array in draws.items()}
    swap = rng.random(draws["weights"].shape[:2]) < 0.5
    for array in draws.values():
        array[swap] = array[swap][:, ::-1]
    found = emomc.relabel(draws)
    for name, array in expected.items():
        flip = slice(None) if np.array_equal(found[name][0, 0], array[0, 0]) else slice(None, None, -1)
        np.testing.assert_array_equal(found[name], array[:, :, flip])
    with pytest.raises(ValueError, match="components: no parameter has a dimension component"):
        emomc.relabel({"a": np.zeros((2, 10))})
    az = pytest.importorskip("arviz")
    dims = {"weights": ["k"], "means": ["k", "x"], "covariances": ["k", "x", "y"]}
    idata = az.from_dict(posterior=draws, dims=dims)
    mended = emomc.relabel(idata, components="k")
    np.testing.assert_array_equal(mended.posterior["means"].values, found["means"])
    np.testing.assert_array_equal(idata.posterior["means"].values, draws["means"])  # it is a copy
    np.testing.assert_array_equal(emomc.relabel(idata.posterior, "k")["weights"].values, found["weights"])
    assert emomc.relabel(mixture.draws_) is mixture.draws_
