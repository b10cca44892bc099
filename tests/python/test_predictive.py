"""Tests replicates of the data: ArviZ's groups posterior_predictive and prior_predictive, in memory and in files."""

import importlib
import json
import subprocess
import warnings

import emomc
import numpy as np
import pytest

from conftest import ROOT, line


@pytest.fixture(scope="module")
def arviz_1():
    """Returns the module arviz_base, a part of ArviZ 1.x."""
    return pytest.importorskip("arviz_base")


@pytest.fixture(scope="module")
def plots():
    """Returns the module arviz_plots, with a backend that needs no screen."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    try:
        return importlib.import_module("arviz_plots")
    except (ImportError, AttributeError) as error:  # arviz-plots 0.8 does not support matplotlib 3.11
        pytest.skip(f"no arviz_plots: {error}")


@pytest.fixture(scope="module")
def counts():
    """Returns counts with a known cause: x and the Poisson variable n."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=120)
    return {"x": x, "n": rng.poisson(np.exp(1 + 0.3 * x)).astype(float)}


def poisson(data, **more):
    return emomc.Model(
        data=data,
        linear={"eta": emomc.Linear(columns=["x"], coefficients="b", intercept="a")},
        log_density="poisson_log_lpmf(n, eta)",
        priors={"a": emomc.normal(0, 1), "b": emomc.normal(0, 1)},
        **more,
    )


def run(model, **more):
    return emomc.sample(model, **({"chains": 2, "draws": 100, "warmup": 200, "seed": 5, "progress": False} | more))


@pytest.fixture(scope="module")
def of_line(faithful):
    return run(line(faithful))


@pytest.fixture(scope="module")
def of_counts(counts):
    return run(poisson(counts))


ALL = {"posterior_predictive": True, "prior_predictive": 150}
GROUPS = {"posterior", "sample_stats", "log_prior", "log_likelihood", "observed_data", "constant_data"} | {
    "posterior_predictive",
    "prior",
    "prior_predictive",
}


def expect_groups(data, of, draws, faithful):
    """Expects the groups of `data`, an InferenceData or a DataTree, of which `of` returns a group as a Dataset."""
    drawn = of(data, "posterior_predictive")["waiting"]
    assert drawn.dims == ("chain", "draw", "row") and drawn.shape == (2, 100, 272)
    assert drawn["draw"].values.tolist() == list(range(100)) and drawn["row"].values.tolist() == list(range(272))
    assert set(of(data, "posterior_predictive").data_vars) == set(of(data, "observed_data").data_vars) == {"waiting"}
    np.testing.assert_array_equal(of(data, "constant_data")["duration"], faithful["duration"])
    prior = of(data, "prior")
    assert set(prior.data_vars) == {"a", "b", "s", "ratio"} and prior["a"].shape == (1, 150)
    np.testing.assert_array_equal(prior["ratio"], prior["a"] / prior["b"])
    assert of(data, "prior_predictive")["waiting"].shape == (1, 150, 272)
    np.testing.assert_array_equal(of(data, "posterior")["a"], draws["a"])


def test_groups_of_both_versions(faithful, of_line, arviz_0, arviz_1):
    old, new = of_line.to_inferencedata(**ALL), of_line.to_datatree(**ALL)
    assert set(old.groups()) == GROUPS == set(new.children)
    expect_groups(old, lambda data, group: data[group], of_line, faithful)
    expect_groups(new, lambda data, group: data[group].dataset, of_line, faithful)
    for group in ("posterior_predictive", "prior_predictive"):
        np.testing.assert_array_equal(old[group]["waiting"], new[group]["waiting"])
    # Without a request the groups do not exist.
    assert not {"posterior_predictive", "prior", "prior_predictive"} & set(of_line.to_datatree().children)


def test_replicates_have_the_posterior_predictive_distribution(arviz_1):
    """Checks y ~ normal(m, 2) with m ~ normal(0, 3), whose predictive distribution is known."""
    y = np.array([1.0, 4, 2, 5, 3, 6, 0])
    model = emomc.Model(data={"y": y}, parameters={"m": emomc.real()}, log_density="normal_lpdf(y, m, 2)",
                        priors={"m": emomc.normal(0, 3)})  # fmt: skip
    draws = run(model, chains=4, draws=4000)
    tree = draws.to_datatree(posterior_predictive=True, prior_predictive=20_000)
    precision = len(y) / 4 + 1 / 9
    sds = {"posterior_predictive": np.sqrt(1 / precision + 4), "prior_predictive": np.sqrt(9 + 4)}
    means = {"posterior_predictive": y.sum() / 4 / precision, "prior_predictive": 0}
    # Draws of m are correlated, but the rest of a replicate is not. The bounds are 5.5 standard errors, which chance
    # exceeds in 4 of 10^8 cases each.
    ess = {"posterior_predictive": draws.summary("m")["m"]["ess_bulk"], "prior_predictive": 20_000}
    for group, sd in sds.items():
        values = tree[group]["y"].values.reshape(-1, len(y))
        for row in range(len(y)):
            assert values[:, row].mean() == pytest.approx(means[group], abs=5.5 * sd / np.sqrt(ess[group]))
            variance = ((values[:, row] - means[group]) ** 2).mean()
            assert variance == pytest.approx(sd**2, abs=5.5 * sd**2 * np.sqrt(2 / ess[group]))
        # The rows of a replicate share the same m, whose variance is the rest of sd^2.
        product = ((values[:, 0] - means[group]) * (values[:, 1] - means[group])).mean()
        assert product == pytest.approx(sd**2 - 4, abs=5.5 * np.sqrt((sd**4 + (sd**2 - 4) ** 2) / ess[group]))


def test_replicates_belong_to_the_runs_seed_and_draw(faithful, of_line, arviz_1, tmp_path):
    all_of_them = of_line.to_datatree(**ALL)
    again = of_line.to_datatree(**ALL)
    for group in ("posterior_predictive", "prior_predictive"):
        np.testing.assert_array_equal(all_of_them[group]["waiting"], again[group]["waiting"])
    some = of_line.to_datatree(posterior_predictive=20)["posterior_predictive"]
    assert some["draw"].values.tolist() == list(range(0, 100, 5))
    np.testing.assert_array_equal(some["waiting"], all_of_them["posterior_predictive"]["waiting"].sel(draw=some["draw"]))
    other = run(line(faithful), seed=6).to_datatree(prior_predictive=150)
    assert (other["prior"]["a"].values != all_of_them["prior"]["a"].values).all()
    # The replicates of a run that is read from a directory are the same.
    run(line(faithful), directory=tmp_path / "run")
    read = emomc.read_run(tmp_path / "run", line(faithful)).to_datatree(**ALL)
    np.testing.assert_array_equal(read["posterior_predictive"]["waiting"], all_of_them["posterior_predictive"]["waiting"])
    np.testing.assert_array_equal(read["prior_predictive"]["waiting"], all_of_them["prior_predictive"]["waiting"])


def test_what_is_thinned_is_named(arviz_1):
    y = np.random.default_rng(1).normal(size=60_000)
    model = emomc.Model(data={"y": y}, parameters={"m": emomc.real()}, log_density="normal_lpdf(y, m, 1)",
                        priors={"m": emomc.normal(0, 1)})  # fmt: skip
    draws = run(model, chains=4, draws=100)
    with pytest.warns(UserWarning, match="posterior_predictive has 83 of 100 draws of each chain, as many as take 160 MB"):
        tree = draws.to_datatree(posterior_predictive=True, log_likelihood=False)
    assert tree["posterior_predictive"]["y"].shape == (4, 83, 60_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert draws.to_datatree(posterior_predictive=9, log_likelihood=False)["posterior_predictive"]["y"].shape[1] == 9


def test_mixtures_have_a_variable_for_each_column(faithful, arviz_0, arviz_1):
    mixture = emomc.GaussianMixture(2).fit_posterior(faithful, draws=50, warmup=200, chains=2, progress=False)
    for data in (mixture.draws_.to_inferencedata(**ALL), mixture.draws_.to_datatree(**ALL)):
        for name, column in faithful.items():
            np.testing.assert_array_equal(data["observed_data"][name], column)
            assert data["posterior_predictive"][name].shape == (2, 50, 272)
            assert data["prior_predictive"][name].shape == (1, 150, 272)
        assert data["prior"]["covariances"].dims == data["posterior"]["covariances"].dims
    # Most replicates are near the data.
    drawn = data["posterior_predictive"]["waiting"].values
    assert abs(drawn.mean() - faithful["waiting"].mean()) < 3 and abs(drawn.std() - faithful["waiting"].std()) < 3


def test_counts_are_integers(of_line, of_counts, arviz_1):
    """Checks that waiting times, which are whole minutes, have replicates that are not integers, but counts have."""
    for draws, name, kind in ((of_counts, "n", "i"), (of_line, "waiting", "f")):
        tree = draws.to_datatree(**ALL)
        for group in ("observed_data", "posterior_predictive", "prior_predictive"):
            assert tree[group][name].dtype.kind == kind, (group, name)


def test_columns_may_be_called_as_dimensions(arviz_1):
    rng = np.random.default_rng(2)
    data = {"row": rng.normal(size=30), "weights": rng.normal(size=30)}
    draws = emomc.GaussianMixture(1).fit_posterior(data, draws=20, warmup=50, chains=2, progress=False).draws_
    tree = draws.to_datatree(posterior_predictive=True)
    assert set(tree["posterior_predictive"].data_vars) == {"row_", "weights_"} == set(tree["observed_data"].data_vars)
    np.testing.assert_array_equal(tree["observed_data"]["row_"], data["row"])


def test_what_cannot_be_drawn_is_refused(faithful, of_line, arviz_1):
    by_hand = emomc.Model(
        data=faithful,
        parameters={"a": emomc.real(), "s": emomc.positive()},
        log_density="-0.5 * ((waiting - a) / s)^2 - log(s)",
        priors={"a": emomc.normal(0, 50), "s": emomc.half_normal(20)},
    )
    draws = run(by_hand, draws=20)
    message = "log_density, column 30: how columns are drawn does not follow from this, which is no density"
    for group in ("posterior_predictive", "prior_predictive"):
        with pytest.raises(emomc.InputError, match=message):
            draws.to_datatree(**{group: True})
    assert set(draws.to_datatree()["observed_data"].data_vars) == {"duration", "waiting"}  # unknown columns
    for value in (0, -3):
        with pytest.raises(emomc.InputError, match=f"posterior_predictive: {value}; allowed: True, False, or 1 or more"):
            of_line.to_datatree(posterior_predictive=value)
    with pytest.raises(TypeError):
        of_line.to_datatree(posterior_predictive="all")


def test_simulate_states_how_columns_are_drawn(faithful, arviz_1):
    model = emomc.Model(
        data={"y": faithful["waiting"]},
        parameters={"m": emomc.real()},
        log_density="-0.5 * ((y - m) / 14)^2",
        simulate={"late": "bernoulli_rng(0.5)", "y": "normal_rng(m, if_else(late == 1, 1e-9, 2e-9))"},
        priors={"m": emomc.normal(0, 50)},
    )
    draws = run(model, draws=20)
    tree = draws.to_datatree(posterior_predictive=True)
    np.testing.assert_allclose(
        tree["posterior_predictive"]["y"], np.broadcast_to(draws["m"][..., None], (2, 20, 272)), atol=1e-7
    )
    with pytest.raises(emomc.InputError, match="simulate.y"):
        emomc.Model(data={"y": [1.0]}, parameters={"m": emomc.real()}, log_density="normal_lpdf(y, m, 1)",
                    simulate={"y": "normal_rgn(m, 1)"}, priors={"m": emomc.normal(0, 1)})  # fmt: skip


def test_functions_need_simulate(faithful, arviz_1):
    pytest.importorskip("numba")

    def density(waiting, a):
        return -0.5 * ((waiting - a) / 14) ** 2

    parameters, priors = {"a": emomc.real()}, {"a": emomc.normal(0, 50)}
    draws = run(emomc.Model(data=faithful, log_density=density, parameters=parameters, priors=priors), draws=10)
    with pytest.raises(emomc.InputError, match="does not follow from a compiled function; state it by simulate"):
        draws.to_datatree(posterior_predictive=True)
    model = emomc.Model(data=faithful, log_density=density, parameters=parameters, priors=priors,
                        simulate={"waiting": "normal_rng(a, 14)"})  # fmt: skip
    tree = run(model, draws=10).to_datatree(posterior_predictive=True)
    assert tree["posterior_predictive"]["waiting"].shape == (2, 10, 272)


def test_replicates_that_are_no_numbers_are_named(counts, arviz_1):
    model = emomc.Model(data=counts, parameters={"m": emomc.real()}, log_density="poisson_lpmf(n, m)",
                        priors={"m": emomc.normal(1, 1)})  # fmt: skip
    draws = run(model, draws=20, init="prior", proposal="random_walk")
    with pytest.warns(UserWarning, match="prior_predictive: [0-9]+ of 200 replicates have values that are no finite"):
        tree = draws.to_datatree(prior_predictive=200)
    bad = np.isnan(tree["prior_predictive"]["n"].values).any(axis=-1)
    np.testing.assert_array_equal(bad, tree["prior"]["m"].values < 0)


@pytest.mark.parametrize("of", ["of_line", "of_counts"])
def test_arviz_plots_draws_them(of, request, plots, arviz_1):
    """Draws plots of a real variable and of counts, from memory."""
    tree = request.getfixturevalue(of).to_datatree(**ALL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning says that counts have better plots
        for kind in ("kde", "ecdf"):
            drawn = plots.plot_ppc_dist(tree, kind=kind)
            (name,) = tree["observed_data"].data_vars
            assert set(drawn.viz["predictive_dist"].data_vars) == set(drawn.viz["observed_dist"].data_vars) == {name}
            assert drawn.viz["predictive_dist"][name].size == 50
        plots.plot_ppc_dist(tree, group="prior_predictive")
        if of == "of_counts":
            plots.plot_ppc_rootogram(tree)  # only for integers
    importlib.import_module("matplotlib.pyplot").close("all")


@pytest.fixture(scope="module")
def files(program, tmp_path_factory, counts):
    """Returns runs of the program on a real variable, on counts, and of a mixture, with draws.nc of all groups."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "counts.csv").write_text("x,n\n" + "".join(f"{x},{int(n)}\n" for x, n in zip(counts["x"], counts["n"], strict=True)))
    likelihoods = {
        "line": f"data: {{file: {ROOT}/tests/apps/data/faithful.csv}}\n"
        "likelihood: {parameters: {a: {}, b: {}, s: {support: positive}}, "
        'log_density: "normal_lpdf(waiting, a + b * duration, s)"}\n'
        "prior: {a: {normal: {mean: 0, sd: 50}}, b: {normal: {mean: 0, sd: 50}}, s: {half_normal: 20}}\n",
        "counts": "data: {file: counts.csv}\n"
        "likelihood: {linear: {eta: {intercept: a, columns: [x], coefficients: b}}, "
        'log_density: "poisson_log_lpmf(n, eta)"}\n'
        "prior: {a: {normal: {mean: 0, sd: 1}}, b: {normal: {mean: 0, sd: 1}}}\n",
        "mixture": f"data: {{file: {ROOT}/tests/apps/data/faithful.csv}}\nlikelihood: {{components: 2, covariance: full}}\n",
    }
    for name, text in likelihoods.items():
        (folder / f"{name}.yaml").write_text(
            text + "sampler: {chains: 2, draws: 100, warmup: 200, seed: 5}\nbackend: cpu\n"
        )
        subprocess.run([program, "run", f"{name}.yaml", "-q", "--output", name], cwd=folder, check=True)
        arguments = ["--posterior-predictive", "--prior-predictive", "--log-likelihood", "-o", f"{name}.nc"]
        said = subprocess.run([program, "export", name, "--format", "netcdf", *arguments],
                              cwd=folder, capture_output=True, text=True)  # fmt: skip
        if "this build has no netCDF" in said.stderr:
            pytest.skip("a build without libnetcdf")
        assert said.returncode == 0, said.stderr
    return folder


def test_both_versions_read_the_programs_file(files, arviz_0, arviz_1):
    pytest.importorskip("netCDF4")
    stats = pytest.importorskip("arviz_stats")
    xarray = importlib.import_module("xarray")
    for name, variables in (("line", {"waiting"}), ("counts", {"n"}), ("mixture", {"duration", "waiting"})):
        old = arviz_0.from_netcdf(str(files / f"{name}.nc"))
        new = xarray.open_datatree(files / f"{name}.nc")
        assert GROUPS <= set(old.groups()) and GROUPS <= set(new.children)
        for data in (old, new):
            for group, shape in (("posterior_predictive", (2, 100)), ("prior_predictive", (1, 1000))):
                assert set(data[group].data_vars) == set(data["observed_data"].data_vars) == variables
                for variable in variables:
                    kind = "i" if variable == "n" else "f"
                    assert data[group][variable].dtype.kind == data["observed_data"][variable].dtype.kind == kind
                    assert data[group][variable].dims == ("chain", "draw", "row")
                    assert data[group][variable].shape[:2] == shape
                assert data[group]["row"].values.tolist() == list(range(data["observed_data"].sizes["row"]))
            assert data["log_likelihood"]["row"].size == data["observed_data"]["row"].size
            np.testing.assert_array_equal(data["log_prior"]["log_prior"], data["sample_stats"]["log_prior"])
        assert set(old["prior"].data_vars) == set(old["posterior"].data_vars)
        assert np.isfinite(arviz_0.loo(old).elpd_loo) and np.isfinite(float(stats.loo(new).elpd))
        assert (stats.summary(new)["ess_bulk"].astype(float) > 0).all()
        if "component" in new["posterior"].dims:  # psense_summary would take this dimension for its own
            new = new.map_over_datasets(lambda data: data.rename(component="k") if "component" in data.dims else data)
        assert len(stats.psense_summary(new)) == len(stats.summary(new))


def test_the_programs_file_is_pythons_tree(files, faithful, arviz_1):
    """Checks that the same seed and settings give the same draws, and therefore the same replicates."""
    pytest.importorskip("netCDF4")
    xarray = importlib.import_module("xarray")
    read = emomc.read_run(files / "line", line(faithful)).to_datatree(posterior_predictive=True, prior_predictive=True)
    there = xarray.open_datatree(files / "line.nc")
    for group in ("posterior_predictive", "prior_predictive", "observed_data"):
        np.testing.assert_array_equal(there[group]["waiting"], read[group]["waiting"])
    np.testing.assert_array_equal(there["prior"]["a"], read["prior"]["a"])


@pytest.mark.parametrize("name", ["line", "counts", "mixture"])
def test_arviz_0_plots_the_programs_file(name, files, arviz_0):
    pytest.importorskip("netCDF4")
    pytest.importorskip("matplotlib").use("Agg")
    data = arviz_0.from_netcdf(str(files / f"{name}.nc"))
    drawn = arviz_0.plot_ppc(data, num_pp_samples=10, random_seed=1)
    assert len(np.atleast_1d(drawn)) == len(data["observed_data"].data_vars)
    importlib.import_module("matplotlib.pyplot").close("all")


@pytest.mark.parametrize("name", ["line", "counts", "mixture"])
def test_arviz_plots_draws_the_programs_file(name, files, plots):
    pytest.importorskip("netCDF4")
    tree = importlib.import_module("xarray").open_datatree(files / f"{name}.nc")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = plots.plot_ppc_dist(tree)
    assert set(drawn.viz["observed_dist"].data_vars) == set(tree["observed_data"].data_vars)
    importlib.import_module("matplotlib.pyplot").close("all")


def test_the_program_reads_files_with_these_groups(files, of_line, program, tmp_path, arviz_0, arviz_1):
    pytest.importorskip("netCDF4")
    of_line.to_inferencedata(**ALL).to_netcdf(str(tmp_path / "old.nc"))
    of_line.to_datatree(**ALL).to_netcdf(tmp_path / "new.nc")
    means = {"old": of_line["a"].mean(), "new": of_line["a"].mean()}
    means["line"] = emomc.read_run(files / "line")["a"].mean()
    for name, file in (("old", tmp_path / "old.nc"), ("new", tmp_path / "new.nc"), ("line", files / "line.nc")):
        said = subprocess.run([program, "summary", file, "--json"], capture_output=True, text=True, check=True)
        rows = {row["name"]: row for row in json.loads(said.stdout)["parameters"]}
        assert rows["a"]["mean"] == pytest.approx(means[name], rel=1e-12)
        assert not {"waiting", "waiting[0]"} & set(rows)  # replicates are not parameters
        said = subprocess.run([program, "compare", file, "--json"], capture_output=True, text=True, check=True)
        assert np.isfinite(json.loads(said.stdout)["runs"][0]["elpd_loo"])
