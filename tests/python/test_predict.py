"""Predictions of rows: the outputs of likelihoods of one's own and the components of mixtures, beside the program's."""

import csv
import doctest
import io
import json
import subprocess

import emomc
import numpy as np
import pytest

from conftest import ROOT, line

pytestmark = pytest.mark.filterwarnings("ignore::emomc.DrawsWarning")

LEVELS = {"q5": 0.05, "q50": 0.5, "q95": 0.95}
ROWS = {"expected": "a + b * duration", "above": "a + b * duration > 70"}


def run(model, **more):
    """Few draws: how good they are does not matter here."""
    return emomc.sample(model, **({"chains": 2, "draws": 100, "warmup": 200, "seed": 5, "progress": False} | more))


def predict(program, folder, *arguments):
    """What the program predicts, as JSON and as columns of text."""
    texts = []
    for form in (["--json"], []):
        done = subprocess.run([program, "predict", *arguments, *form], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        texts.append(done.stdout)
    table = list(csv.reader(io.StringIO(texts[1])))
    return json.loads(texts[0]), {name: [row[j] for row in table[1:]] for j, name in enumerate(table[0])}


@pytest.fixture(scope="module")
def of_line(faithful):
    return run(line(faithful, rows=ROWS))


@pytest.fixture(scope="module")
def files(program, tmp_path_factory):
    """Runs of the program: a line, and a mixture of two Gaussians."""
    folder = tmp_path_factory.mktemp("files")
    texts = {
        "line": "likelihood: {parameters: {a: {}, b: {}, s: {support: positive}}, "
        'log_density: "normal_lpdf(waiting, a + b * duration, s)", derived: {ratio: "a / b"}, '
        'rows: {expected: "a + b * duration", above: "a + b * duration > 70"}}\n'
        "prior: {a: {normal: {mean: 0, sd: 50}}, b: {normal: {mean: 0, sd: 50}}, s: {half_normal: 20}}\n",
        "mixture": "likelihood: {components: 2, covariance: full}\n",
    }
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(
            f"data: {{file: {ROOT}/tests/apps/data/faithful.csv}}\n{text}"
            "sampler: {chains: 2, draws: 100, warmup: 200, seed: 5}\n"
        )
        subprocess.run([program, "run", f"{name}.yaml", "-q", "--output", name], cwd=folder, check=True)
    (folder / "new.csv").write_text("note,duration,waiting\n1,2.5,50\n7,4,90\n")
    return folder


NEW = {"note": [1, 7], "duration": [2.5, 4], "waiting": [50, 90]}


def expect_outputs(predicted, json_of, table):
    """All numbers of the program's JSON and of its CSV."""
    assert list(predicted) == list(json_of["outputs"]) and predicted.num_draws == json_of["draws"]
    for name, values in json_of["outputs"].items():
        output = predicted[name]
        np.testing.assert_array_equal(output.mean, values["mean"])
        np.testing.assert_array_equal(output.sd, values["sd"])
        for q, key in enumerate(LEVELS):
            np.testing.assert_array_equal(output.quantiles[:, q], values[key])
    columns = predicted.columns()
    assert list(columns) == list(table)
    for name, texts in table.items():
        np.testing.assert_array_equal(columns[name], [float(text) for text in texts])


@pytest.mark.parametrize("draws", [200, 30])
def test_outputs_are_those_of_the_program(files, faithful, of_line, program, draws):
    """Of the same seed and settings in memory, of the run's directory with its model, and of the directory alone."""
    model = line(faithful, rows=ROWS)
    for data, arguments in ((None, []), (NEW, ["--data", "new.csv"])):
        expected = predict(program, files, "line", "--draws", str(draws), *arguments)
        for known in (of_line, emomc.read_run(files / "line", model), emomc.read_run(files / "line")):
            expect_outputs(known.predict(data, most_draws=draws), *expected)


def test_outputs_are_the_formulas(faithful, of_line):
    a, b = of_line["a"].ravel(), of_line["b"].ravel()
    predicted = of_line.predict(quantiles=[0.9, 0.25, 0, 1])
    for name, values in {
        "expected": a[:, None] + b[:, None] * faithful["duration"],
        "above": (a[:, None] + b[:, None] * faithful["duration"] > 70).astype(float),
    }.items():
        np.testing.assert_allclose(predicted[name].mean, values.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(predicted[name].sd, values.std(axis=0, ddof=1), rtol=1e-9, atol=1e-12)
        levels = np.quantile(values, [0.9, 0.25, 0, 1], axis=0).T
        np.testing.assert_allclose(predicted[name].quantiles, levels, rtol=1e-12)
    assert predicted.levels == (0.9, 0.25, 0, 1) and predicted.num_draws == 200
    none = of_line.predict(quantiles=[], most_draws=1)
    assert none["expected"].quantiles.shape == (272, 0) and (none["expected"].sd == 0).all()
    assert none["expected"].mean[0] == pytest.approx(a[0] + b[0] * faithful["duration"][0], rel=1e-14)
    assert list(none.columns()) == ["row", "expected_mean", "expected_sd", "above_mean", "above_sd"]
    assert "expected_q2.5" in of_line.predict(quantiles=[0.025]).columns()


def test_new_rows_may_be_of_every_kind(of_line, program):
    pandas = pytest.importorskip("pandas")
    expected = of_line.predict(NEW)["expected"].mean
    assert expected.shape == (2,)
    frame = pandas.DataFrame(NEW | {"who": ["Ann", "Bob"]})
    kinds = {
        "only what outputs need": {"duration": np.array([2.5, 4], dtype=np.float32)},
        "a data frame with texts": frame,
        "one with another index": frame.set_index(pandas.Index([9, 3])),
        "the model's columns": np.array([[2.5, 50], [4, 90]]),
        "lists": [[2.5, 50], [4, 90]],
    }
    for kind, data in kinds.items():
        np.testing.assert_array_equal(of_line.predict(data)["expected"].mean, expected, err_msg=kind)
    assert len(pandas.DataFrame(of_line.predict(frame).columns())) == 2


def test_outputs_of_parameters_alone_have_the_rows_of_any_column(faithful):
    draws = run(line(faithful, rows={"r": "a / b"}))
    assert draws.predict({"who": ["Ann", "Bob", "Eve"]})["r"].mean.shape == (3,)
    assert draws.predict()["r"].mean[0] == pytest.approx((draws["a"] / draws["b"]).mean(), rel=1e-12)


def test_linear_predictors_counts_and_functions():
    rng = np.random.default_rng(4)
    x, n = rng.normal(size=60), rng.poisson(2, size=60)
    model = emomc.Model(
        data={"x": x, "n": n, "site": np.arange(60) % 3},
        parameters={"s": emomc.real(3)},
        linear={"eta": emomc.Linear(columns=["x"], coefficients="b", intercept="a")},
        where={"level": "eta + s[site]"},
        log_density="poisson_log_lpmf(n, level)",
        priors={"a": emomc.normal(0, 1), "b": emomc.normal(0, 1), "s": emomc.normal(0, 1)},
        rows={"rate": "exp(level)"},
    )
    draws = run(model)
    rate = draws.predict({"x": [0.5], "site": [2]})["rate"]  # without the counts
    values = np.exp(draws["a"] + 0.5 * draws["b"][..., 0] + draws["s"][..., 2])
    assert rate.mean[0] == pytest.approx(values.mean(), rel=1e-12)
    with pytest.raises(emomc.InputError, match="site.*3"):
        draws.predict({"x": [0.5], "site": [3]})


def test_a_model_of_a_function_has_outputs_too(faithful):
    pytest.importorskip("numba")

    def density(waiting, a):
        return -0.5 * ((waiting - a) / 14) ** 2

    model = emomc.Model(data=faithful, log_density=density, parameters={"a": emomc.real()},
                        priors={"a": emomc.normal(0, 50)}, rows={"late": "waiting - a"})  # fmt: skip
    draws = run(model, draws=20)
    np.testing.assert_allclose(draws.predict({"waiting": [80]})["late"].mean, 80 - draws["a"].mean(), rtol=1e-12)


def test_components_are_those_of_the_program(files, faithful, program):
    mixture = emomc.GaussianMixture(2, random_state=5)
    in_memory = mixture.fit_posterior(faithful, draws=100, warmup=200, chains=2, progress=False).draws_
    for data, arguments in ((None, []), (NEW, ["--data", "new.csv"])):
        found, table = predict(program, files, "mixture", *arguments)
        for draws in (in_memory, emomc.read_run(files / "mixture")):
            predicted = draws.predict(data)
            component, partition = predicted["component"], predicted.partition
            assert list(predicted) == ["component"] and component.quantiles.shape == (found["rows"], 2, 3)
            for k in range(2):
                values = found["outputs"][f"component_{k}"]
                np.testing.assert_array_equal(component.mean[:, k], values["mean"])
                np.testing.assert_array_equal(component.sd[:, k], values["sd"])
                for q, key in enumerate(LEVELS):
                    np.testing.assert_array_equal(component.quantiles[:, k, q], values[key])
            np.testing.assert_array_equal(partition.component, found["partition"]["component"])
            assert (partition.pairs_that_differ, partition.num_candidates, partition.num_draws) == tuple(
                found["partition"][key] for key in ("pairs_that_differ", "candidates", "draws")
            )
            assert partition.is_most_probable == found["partition"]["is_most_probable"]
            columns = predicted.columns()
            assert list(columns) == list(table)
            for name, texts in table.items():
                np.testing.assert_array_equal(columns[name], [float(text) for text in texts])
    np.testing.assert_allclose(in_memory.predict()["component"].mean, mixture.predict_proba(faithful), atol=1e-6)
    np.testing.assert_array_equal(
        in_memory.predict(np.column_stack([NEW["duration"], NEW["waiting"]]))["component"].mean,
        in_memory.predict(NEW)["component"].mean,
    )


def test_components_that_overlap_are_said_to(faithful):
    rng = np.random.default_rng(1)
    mixture = emomc.GaussianMixture(3).fit_posterior(rng.normal(size=(60, 1)), draws=100, warmup=200, chains=2,
                                                     progress=False)  # fmt: skip
    with pytest.warns(UserWarning, match="cannot be told apart in .* of the partition only the numbers of the components do"):
        mixture.draws_.predict()


def test_one_line_says_what_is_wrong(faithful, of_line, tmp_path):
    def refused(draws, message, *arguments, **options):
        with pytest.raises(emomc.InputError, match=message) as caught:
            draws.predict(*arguments, **options)
        assert "\n" not in str(caught.value)

    refused(run(line(faithful)), "the likelihood has no rows, which say what to predict for each row")
    refused(of_line, "data: there is no column duration; did you mean durations. needed: duration", {"durations": [1.0]})
    refused(of_line, r"data: an array of 3 columns, and the model has 2 \(duration, waiting\); allowed", np.ones((4, 3)))
    refused(of_line, "data: row 1, column duration: nan is not a finite number", {"duration": [1, np.nan]})
    refused(of_line, "data: there are no rows", {"duration": []})
    refused(of_line, "quantiles: 1.5 is out of range; allowed: 0 to 1", quantiles=[0.5, 1.5])
    refused(of_line, "most_draws: 0 is out of range; allowed: 1 or more", most_draws=0)
    with pytest.raises(ValueError, match="data: an array with 1 axes; allowed: rows x columns"):
        of_line.predict([1.0, 2.0])
    infinite = run(line(faithful, rows={"x": "a / (duration - 2)"}), draws=20)
    refused(infinite, "rows.x: -?inf in row 2 of the data", {"duration": [1, 2]})
    with pytest.raises(KeyError, match="there are: expected, above"):
        of_line.predict()["exp"]
    with pytest.raises(emomc.InputError, match="rows.x"):
        line(faithful, rows={"x": "a + c"})
    one = emomc.GaussianMixture(1).fit_posterior(faithful, draws=20, warmup=50, chains=2, progress=False).draws_
    refused(one, "the likelihood has one component only")
    two = emomc.GaussianMixture(2).fit_posterior(faithful, draws=20, warmup=50, chains=2, progress=False).draws_
    refused(two, "data: there is no column waiting", {"duration": [2.0]})


def test_what_a_directory_does_not_say_is_refused(faithful, tmp_path):
    run(line(faithful, rows=ROWS), directory=tmp_path / "run")
    draws = emomc.read_run(tmp_path / "run")
    assert draws.predict(NEW)["expected"].mean.shape == (2,)
    with pytest.raises(emomc.InputError, match="the data of this run were in the memory of a program"):
        draws.predict()
    run(line(faithful), directory=tmp_path / "plain")
    with pytest.raises(emomc.InputError, match="plain: the likelihood has no likelihood.rows"):
        emomc.read_run(tmp_path / "plain").predict(NEW)
    # Outputs may be thought of after the run.
    later = emomc.read_run(tmp_path / "plain", line(faithful, rows=ROWS))
    np.testing.assert_array_equal(later.predict(NEW)["expected"].mean, draws.predict(NEW)["expected"].mean)
    other = emomc.Model(data=faithful, parameters={"m": emomc.real()}, log_density="normal_lpdf(waiting, m, 14)",
                        priors={"m": emomc.normal(0, 50)}, rows={"m2": "2 * m"})  # fmt: skip
    with pytest.raises(emomc.InputError, match="the draws have other parameters than the posterior"):
        emomc.read_run(tmp_path / "run", other).predict()
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    del manifest["likelihood"]
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(emomc.InputError, match="manifest.json: the likelihood of the run is missing"):
        emomc.read_run(tmp_path / "run").predict(NEW)


def test_the_docstrings_example_runs():
    (test,) = doctest.DocTestFinder().find(emomc.Draws.predict, "predict", globs={})
    assert len(test.examples) == 4 and doctest.DocTestRunner().run(test).failed == 0


def test_new_rows_on_a_gpu_are_refused(of_line):
    gpu_array = pytest.importorskip("gpu_array")
    if not gpu_array.has_gpu():
        pytest.skip("no GPU")
    with pytest.raises(emomc.InputError, match="these are in the memory of GPU"):
        of_line.predict({"duration": gpu_array.to_gpu(np.array([2.0, 3.0]), "cudart")})
