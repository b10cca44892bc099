"""Tests uses of draws: ArviZ, leave-one-out, and components of draws from any source."""

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


def test_a_run_is_read_with_its_own_model_only(faithful, program, tmp_path):
    options = dict(draws=50, warmup=100, chains=2, progress=False)
    draws = emomc.sample(line(faithful), directory=tmp_path / "run", **options)
    expected = draws.log_likelihoods(5)
    more = faithful | {"other": np.arange(272.0)}
    for model in (line(faithful), line(more), line({name: faithful[name] for name in reversed(faithful)})):
        np.testing.assert_array_equal(emomc.read_run(tmp_path / "run", model).log_likelihoods(5), expected)

    def refused(message, model):
        with pytest.raises(emomc.InputError, match=message) as caught:
            emomc.read_run(tmp_path / "run", model)
        assert str(caught.value).startswith(f"model: {tmp_path / 'run'}: ")

    def other(log_density, **parameters):
        priors = {name: emomc.half_normal(20) for name in parameters}
        return emomc.Model(data=faithful, parameters=parameters, log_density=log_density, priors=priors)

    refused("3 numbers in the run, and 1 in the model", other("normal_lpdf(waiting, 70, s)", s=emomc.positive()))
    named = {"a": emomc.positive(), "b": emomc.positive(), "t": emomc.positive()}
    refused("s in the run, and t in the model", other("normal_lpdf(waiting, a + b * duration, t)", **named))
    refused("the run has 272 rows, and the model 100", line({name: x[:100] for name, x in faithful.items()}))
    refused("other values than those of the run", line(faithful | {"waiting": faithful["waiting"][::-1].copy()}))
    renamed = {"length": faithful["duration"], "waiting": faithful["waiting"]}
    by_another_name = emomc.Model(
        data=renamed,
        parameters={"a": emomc.real(), "b": emomc.real(), "s": emomc.positive()},
        log_density="normal_lpdf(waiting, a + b * length, s)",
        priors={"a": emomc.normal(0, 50), "b": emomc.normal(0, 50), "s": emomc.half_normal(20)},
    )
    refused("the run reads the column duration, which the model's data do not have", by_another_name)
    named = {"a": emomc.positive(), "b": emomc.positive(), "s": emomc.positive()}
    refused("the log likelihood of the first draw is .*; allowed: a model with the same likelihood",
            other("normal_lpdf(waiting, b + a * duration, s)", **named))  # fmt: skip
    # Runs of mixtures and of the program are known by their data, too.
    emomc.GaussianMixture(2).fit_posterior(faithful, directory=tmp_path / "mixture", **options)
    mixture = emomc.GaussianMixture(2).posterior
    assert emomc.read_run(tmp_path / "mixture", mixture(faithful)).log_likelihoods(3).shape == (3, 272)
    with pytest.raises(emomc.InputError, match="other values than those of the run"):
        emomc.read_run(tmp_path / "mixture", mixture(faithful | {"waiting": faithful["waiting"] + 1}))
    (tmp_path / "program.yaml").write_text(
        f"data: {{file: {ROOT}/tests/apps/data/faithful.csv}}\nlikelihood: {{components: 2, covariance: full}}\n"
        "sampler: {draws: 50, warmup: 50}\nbackend: cpu\n"
    )
    subprocess.run([program, "run", "program.yaml", "-q", "--output", "program"], cwd=tmp_path, check=True)
    assert emomc.read_run(tmp_path / "program", mixture(faithful)).log_likelihoods(3).shape == (3, 272)
    with pytest.raises(emomc.InputError, match="other values than those of the run"):
        emomc.read_run(tmp_path / "program", mixture(faithful | {"waiting": faithful["waiting"] + 1}))


def test_groups_of_arviz(faithful, tmp_path, arviz_0):
    az = arviz_0
    model = line(faithful)
    draws = emomc.sample(model, directory=tmp_path / "run", until={"ess": 1000}, progress=False)
    idata = draws.to_inferencedata()
    groups = {"posterior", "log_likelihood", "log_prior", "sample_stats", "observed_data", "constant_data"}
    assert set(idata.groups()) == groups
    assert idata.log_likelihood["log_likelihood"].dims == ("chain", "draw", "row")
    np.testing.assert_array_equal(idata.observed_data["waiting"], faithful["waiting"])
    np.testing.assert_array_equal(idata.constant_data["duration"], faithful["duration"])
    assert list(idata.observed_data["row"].values[:3]) == [0, 1, 2]
    loo = az.loo(idata)
    ours = emomc.compare({"line": draws}, draws=10**6)["line"]
    assert ours["elpd_loo"] == pytest.approx(loo.elpd_loo, abs=0.02)  # ArviZ estimates the efficiency in another way
    assert ours["se_elpd_loo"] == pytest.approx(loo.se, rel=1e-2)
    assert "log_likelihood" not in draws.to_inferencedata(log_likelihood=False).groups()
    # Without the model, a run that is read from a directory has no rows.
    bare = emomc.read_run(tmp_path / "run")
    assert set(bare.to_inferencedata().groups()) == {"posterior", "log_prior", "sample_stats"}
    with pytest.raises(ValueError, match="the model of these draws is not known; give it to read_run"):
        bare.to_inferencedata(log_likelihood=True)
    known = emomc.read_run(tmp_path / "run", model)
    np.testing.assert_array_equal(known.log_likelihoods(20), draws.log_likelihoods(20))
    mixture = emomc.GaussianMixture(2).fit_posterior(faithful, draws=20, warmup=50, chains=2, progress=False)
    of_mixture = mixture.draws_.to_inferencedata()
    assert set(of_mixture.observed_data.data_vars) == {"duration", "waiting"}
    assert of_mixture.observed_data["waiting"].dims == ("row",)
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
    table = stats.summary(tree, var_names=["a", "b", "s"], round_to="none")
    assert table.loc["a", "mean"] == pytest.approx(draws["a"].mean(), rel=1e-9)
    flat = emomc.Model(
        data=faithful,
        parameters={"a": emomc.real(), "s": emomc.positive()},
        log_density="normal_lpdf(waiting, a, s)",
        priors={"a": emomc.normal(0, 50), "s": emomc.half_normal(20)},
    )
    other = emomc.sample(flat, draws=100, warmup=200, proposal="nuts", progress=False)
    ranks = stats.compare({"line": tree, "flat": other.to_datatree()})
    assert list(ranks.index) == ["line", "flat"]  # durations predict waiting times
    # For the sensitivity to powers of the prior and of the likelihood, 272 rows count more than wide priors.
    sense = stats.psense_summary(tree, var_names=["a"])
    assert float(sense.loc["a", "likelihood"]) > float(sense.loc["a", "prior"])


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


def test_relabel_finds_the_components_of_anyones_draws(faithful, arviz_0):
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
    az = arviz_0
    dims = {"weights": ["k"], "means": ["k", "x"], "covariances": ["k", "x", "y"]}
    idata = az.from_dict(posterior=draws, dims=dims)
    mended = emomc.relabel(idata, components="k")
    np.testing.assert_array_equal(mended.posterior["means"].values, found["means"])
    np.testing.assert_array_equal(idata.posterior["means"].values, draws["means"])  # relabel() returns a copy
    np.testing.assert_array_equal(emomc.relabel(idata.posterior, "k")["weights"].values, found["weights"])
    assert emomc.relabel(mixture.draws_) is mixture.draws_


def test_rungs_and_evidence(faithful, tmp_path):
    rng = np.random.default_rng(3)
    y = rng.normal(1.2, 1, 40)
    model = emomc.Model(data={"y": y}, parameters={"m": emomc.real()}, log_density="normal_lpdf(y, m, 1)",
                        priors={"m": emomc.normal(0, 2)})  # fmt: skip
    n, s = len(y), 2.0
    expected = -0.5 * (n * np.log(2 * np.pi) + (y**2).sum() - y.sum() ** 2 / (n + 1 / s**2) + np.log1p(n * s * s))
    draws = emomc.sample(model, draws=1000, warmup=500, tempering=6, progress=False)
    rungs, evidence = draws.rungs, draws.evidence()
    assert rungs.betas.shape == (6,) and rungs.betas[0] == 1 and rungs.betas[-1] == 0 and (np.diff(rungs.betas) < 0).all()
    assert rungs.swap_rates.shape == (5,) and rungs.round_trips > 10 and rungs.acceptance.shape == (6,)
    assert rungs.log_likelihood.shape == (6, 4, 1000)
    np.testing.assert_array_equal(rungs.log_likelihood[0], draws["log_likelihood"])
    assert evidence.warnings == [] and 0 < evidence.standard_error < 0.1
    assert evidence.log_evidence == pytest.approx(expected, abs=5 * evidence.standard_error)
    error = 5 * evidence.thermodynamic_standard_error + evidence.rule_error
    assert evidence.thermodynamic == pytest.approx(expected, abs=error)
    assert evidence.lower < evidence.thermodynamic < evidence.upper
    # The ladder is given by the caller, and a directory has the rungs, too.
    given = {"ladder": [1, 0.3, 0.05, 0], "every": 2}
    written = emomc.sample(model, draws=100, warmup=100, tempering=given, directory=tmp_path / "run", progress=False)
    read = emomc.read_run(tmp_path / "run")
    assert written.rungs.betas.tolist() == read.rungs.betas.tolist() == [1, 0.3, 0.05, 0]
    np.testing.assert_array_equal(written.rungs.log_likelihood, read.rungs.log_likelihood)
    assert read.evidence().log_evidence == written.evidence().log_evidence


def test_tempering_refuses_what_is_no_ladder(faithful):
    model = line(faithful)
    plain = emomc.sample(model, draws=20, warmup=20, chains=2, progress=False)
    assert plain.rungs is None
    with pytest.raises(emomc.InputError, match="no rungs"):
        plain.evidence()
    for tempering, message in (
        (0, "tempering.rungs: 0 is out of range"),
        ({"rungs": 3, "step": 1}, "step is unknown; allowed: rungs, ladder, every"),
        ({"rungs": 3, "ladder": "even"}, "a ladder of 'even'"),
        ({"rungs": 3, "ladder": [1, 0]}, "2 powers for 3 rungs"),
        ({"ladder": [1, 0.5, 0.7]}, "does not decrease"),
        ({"rungs": 3, "every": 0}, "every 0 steps"),
        ({}, "it has no rungs"),
    ):
        with pytest.raises(ValueError, match=message):
            emomc.sample(model, draws=20, tempering=tempering, progress=False)
    with pytest.raises(TypeError):
        emomc.sample(model, draws=20, tempering=2.5, progress=False)


def test_stacking_weighs_the_modes_that_predict(faithful):
    y = np.where(np.arange(120) % 10 == 0, 4.2, -0.1) + 0.06 * ((np.arange(120) * 17) % 40 - 19.5)
    model = emomc.Model(
        data={"y": y}, parameters={"m": emomc.real()}, priors={"m": emomc.normal(0, 10)},
        log_density="normal_lpdf(y, if_else(m > 0, 0, 4), 1) + normal_lpdf(sqrt(m * m), 8, 3)",
    )  # fmt: skip
    draws = emomc.sample(model, chains=6, draws=400, warmup=500, seed=5, init="prior", proposal="random_walk",
                         progress=False)  # fmt: skip
    positive = draws["m"][:, -1] > 0
    assert 0 < positive.sum() < 6
    a, b = np.exp(-0.5 * y**2), np.exp(-0.5 * (y - 4) ** 2)
    grid = np.linspace(0, 1, 2001)
    best = grid[np.log(grid[:, None] * a + (1 - grid[:, None]) * b).sum(axis=1).argmax()]
    stacking = emomc.stack(draws)
    assert stacking.weights.sum() == pytest.approx(1) and len(stacking) == 6
    assert stacking.weights[positive].sum() == pytest.approx(best, abs=0.02)
    assert stacking.elpd_loo > stacking.elpd_loo_of_equal_weights and not stacking.warnings
    (row,) = stacking.summary("m")
    assert row["mean"] == pytest.approx((stacking.weights * draws["m"].mean(axis=1)).sum(), rel=1e-9)
    together = emomc.stack(draws, clusters=np.where(positive, 1, 0))
    assert [len(row["chains"]) for row in together] == [(~positive).sum(), positive.sum()]
    assert "weight" in str(together).splitlines()[0]
    with pytest.raises(ValueError, match="2 numbers for 6 chains"):
        emomc.stack(draws, clusters=[0, 1])
    with pytest.raises(ValueError, match="numbers below 0"):
        emomc.stack(draws, clusters=[-1, 0, 0, 0, 0, 0])
    with pytest.raises(ValueError, match=r"by: an array of shape \(1,\)"):
        emomc.stack(draws, by=[1])
