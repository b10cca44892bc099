"""Tests models of the user's own and their draws."""

import json
import os
import pty
import re
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import emomc
import numpy as np
import pytest

from conftest import ROOT, interrupted, line


def test_draws_are_the_programs(faithful, program, tmp_path):
    draws = emomc.sample(line(faithful), seed=3, backend="reference", progress=False)
    (tmp_path / "run.yaml").write_text(
        f"data: {{file: {ROOT}/tests/apps/data/faithful.csv}}\n"
        "likelihood:\n  parameters: {a: {}, b: {}, s: {support: positive}}\n"
        '  log_density: "normal_lpdf(waiting, a + b * duration, s)"\n'
        '  derived: {ratio: "a / b"}\n'
        "prior: {a: {normal: {mean: 0, sd: 50}}, b: {normal: {mean: 0, sd: 50}}, s: {half_normal: 20}}\n"
        "sampler: {seed: 3}\nbackend: reference\n"
    )
    subprocess.run([program, "run", "run.yaml", "-q", "--output", "run"], cwd=tmp_path, check=True)
    run = emomc.read_run(tmp_path / "run")
    assert run.num_chains == 4 and run.finished and run.backend == "reference"
    for c in range(4):
        for key, values in draws.chain(c).items():
            np.testing.assert_array_equal(values, run.chain(c)[key])
    assert run.names == draws.names
    for name in ("a", "b", "s", "log_density", "ratio"):
        np.testing.assert_array_equal(draws[name], run[name])
    np.testing.assert_allclose(draws["ratio"], draws["a"] / draws["b"], rtol=1e-14)
    assert draws.ended_by == "converged"
    assert draws.trusted and run.trusted
    assert max(row["rhat"] for row in draws.summary()) <= 1.01


def test_log_densities_are_those_of_numpy(faithful):
    model = line(faithful)
    a, b, s = 33.0, 11.0, 6.0

    def log_normal(x, mean, sd):
        return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)

    expected = log_normal(faithful["waiting"], a + b * faithful["duration"], s).sum()
    expected += log_normal(a, 0, 50) + log_normal(b, 0, 50) + log_normal(s, 0, 20) + np.log(2)
    assert model.names == ["a", "b", "s"]
    assert model.log_posterior([a, b, s]) == pytest.approx(expected, rel=1e-12)
    u = model.unconstrain([a, b, s])
    np.testing.assert_allclose(model.constrain(u), [a, b, s], rtol=1e-12)
    assert model.log_density(u) == pytest.approx(expected + np.log(s), rel=1e-9)
    assert model.log_density(np.tile(u, (2, 3, 1))).shape == (2, 3)
    assert model.log_posterior([a, b, -1.0]) == -np.inf


def test_gradients_are_differences(faithful):
    model = line(faithful)
    u = model.initial(seed=1)
    value, gradient = model.log_density_and_gradient(u)
    assert value == pytest.approx(model.log_density(u), rel=1e-12)
    for i, step in enumerate(np.eye(len(u)) * 1e-5):
        difference = (model.log_density(u + step) - model.log_density(u - step)) / 2e-5
        assert difference == pytest.approx(gradient[i], rel=1e-4, abs=1e-4 * abs(value) * 1e-3)


def test_draws_have_names_and_shapes():
    rng = np.random.default_rng(1)
    data = {"x": rng.normal(size=50), "z": rng.normal(size=50)}
    data["y"] = 1 + 2 * data["x"] - data["z"] + rng.normal(size=50)
    model = emomc.Model(
        data=data,
        parameters={"s": emomc.positive()},
        linear={"eta": emomc.Linear(columns=["x", "z"], coefficients="b", intercept="a")},
        log_density="normal_lpdf(y, eta, s)",
        priors={"a": emomc.normal(0, 5), "b": emomc.normal(0, [5, 4]), "s": emomc.half_normal(2)},
    )
    calls = []
    draws = emomc.sample(model, chains=3, draws=200, warmup=300, progress=lambda *at: calls.append(at))
    assert draws.parameters == {"s": (), "a": (), "b": (2,)}
    assert draws["b"].shape == (3, 200, 2) and draws["s"].shape == (3, 200)
    np.testing.assert_array_equal(draws["b"][..., 1], draws["b[1]"])
    np.testing.assert_allclose(draws["log_density"], draws["log_prior"] + draws["log_likelihood"], rtol=1e-12)
    assert draws.summary("b*")["b[0]"]["mean"] == pytest.approx(draws["b"][..., 0].mean(), rel=1e-12)
    assert "b[0]" in str(draws.summary("b*")) and "s " not in str(draws.summary("b*"))
    assert calls and calls[-1][1] == 300 + 200
    assert np.all(np.abs(draws["b"].mean(axis=(0, 1)) - [2, -1]) < 1)
    with pytest.raises(KeyError, match="nothing; there are: s, a, b"):
        draws["nothing"]


class OtherArray:
    """An array that offers only DLPack."""

    def __init__(self, values, device=1):
        self.values, self.device = values, device

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return (self.device, 0)


def test_draws_that_should_not_be_trusted_cause_a_warning(faithful):
    with pytest.warns(emomc.DrawsWarning, match="not be trusted as they are: effective sample sizes below 400"):
        draws = emomc.sample(line(faithful), draws=20, progress=False)
    assert not draws.trusted
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert emomc.sample(line(faithful), progress=False).trusted


def test_data_may_be_frames_and_arrays_of_others(faithful):
    expected = line(faithful).log_posterior([33.0, 11.0, 6.0])
    assert line({k: OtherArray(v) for k, v in faithful.items()}).log_posterior([33.0, 11.0, 6.0]) == expected
    with pytest.raises(ValueError, match=r"data\['duration'\]: an array of another device \(DLPack's 10\)"):
        line({k: OtherArray(v, device=10) for k, v in faithful.items()})
    with pytest.raises(ValueError, match=r"data\['duration'\]: an array of a GPU that has no shape"):
        line({k: OtherArray(v, device=2) for k, v in faithful.items()})
    pandas = pytest.importorskip("pandas")
    assert line(pandas.DataFrame(faithful)).log_posterior([33.0, 11.0, 6.0]) == expected
    X = np.column_stack([faithful["duration"], faithful["waiting"]])
    as_rows = emomc.Model(
        data=X,
        parameters={"m": emomc.real()},
        log_density="normal_lpdf(c1, m, 10)",
        priors={"m": emomc.normal(0, 50)},
    )
    assert np.isfinite(as_rows.log_posterior([70.0]))


def test_nuts_has_statistics(faithful, arviz_0):
    draws = emomc.sample(line(faithful), proposal="nuts", draws=100, warmup=200, chains=2, progress=False)
    idata = draws.to_inferencedata()
    assert idata.sample_stats["diverging"].shape == (2, 100)
    assert idata.sample_stats["energy"].shape == (2, 100)


def test_arviz_1_is_refused_in_words(faithful, monkeypatch):
    arviz = pytest.importorskip("arviz")
    draws = emomc.sample(line(faithful), draws=20, warmup=20, chains=2, progress=False)
    monkeypatch.setattr(arviz, "__version__", "1.3.0")
    with pytest.raises(ImportError, match=r"ArviZ 1\.3\.0 has no InferenceData of its own; use to_datatree\(\)"):
        draws.to_inferencedata()


def test_arviz_reads_the_draws(faithful, arviz_0):
    az = arviz_0
    mixture = emomc.GaussianMixture(2).fit_posterior(faithful, seed=1, until={"ess": 2000}, progress=False)
    idata = mixture.draws_.to_inferencedata()
    assert idata.posterior["covariances"].dims == ("chain", "draw", "component", "column", "column_2")
    assert list(idata.posterior["column"].values) == ["duration", "waiting"]
    table = az.summary(idata, var_names=["means"], round_to="none")
    assert table["r_hat"].max() <= 1.01
    ours = mixture.draws_.summary("means*")["means[0,1]"]
    assert table.loc["means[0, waiting]", "mean"] == pytest.approx(ours["mean"], rel=1e-9)
    assert idata.log_prior["log_prior"].shape == idata.sample_stats["lp"].shape


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda d: emomc.sample(line(d), resume=True), "resume, overwrite: allowed with a directory only"),
        (lambda d: emomc.sample(line(d), directory=""), "directory: it is empty"),
        (lambda d: emomc.sample(line(d), directory="x", resume=True, overwrite=True), "allowed: one of them"),
        (lambda d: emomc.Model(data=d, log_density="normal_lpdf(waiting, m, 1)", priors={}), "m"),
        (lambda d: line(d | {"waiting": np.full(272, np.nan)}), "row 0, column waiting: nan is not a finite number"),
        (lambda d: line(d | {"waiting": [1.0, 2.0]}), r"data\['waiting'\]: 2 values; the first column has 272"),
        (lambda d: line(d | {"waiting": ["a"] * 272}), r"data\['waiting'\]: values of type"),
        (lambda d: line({}), "there are no columns"),
        (lambda d: line(d | {"waiting": np.ma.masked_less(d["waiting"], 60)}), "masked values; allowed: numbers in all"),
        (lambda d: emomc.Prior("normal", {"mean": 0, "scale": 1}).flat("m"), "mean, scale; allowed: mean, sd"),
        (lambda d: emomc.Prior("norml", {"mean": 0, "sd": 1}).flat("m"), "norml is an unknown family; allowed: normal"),
        (lambda d: emomc.sample(line(d), chains=0), "chains: 0 is out of range"),
        (lambda d: emomc.sample(line(d), proposal="nut"), "did you mean nuts"),
        (lambda d: emomc.sample(line(d), backend="gpu"), "backend: gpu is unknown"),
        (lambda d: emomc.sample(line(d), until={"rhat": 1}), "until: rhat is unknown; allowed: ess, seconds"),
        (lambda d: line(d).log_density([1.0]), "u has 1 elements; allowed: 3"),
        (lambda d: emomc.simplex(1), "2 or more weights"),
        (lambda d: emomc.real(order="increasing"), "write its length"),
        (lambda d: emomc.read_run("/nothing"), "nothing"),
    ],
)
def test_errors_say_what_is_wrong(faithful, call, message):
    with pytest.raises(ValueError, match=message):
        call(faithful)


def test_threads_run_at_once(faithful):
    """Checks that another thread runs while chains do, since the GIL is released."""
    model = line(faithful)
    count = 0
    done = threading.Event()

    def work():
        nonlocal count
        while not done.is_set():
            count += 1
            time.sleep(0.001)

    other = threading.Thread(target=work)
    other.start()
    began = time.monotonic()
    results = []
    samplers = [
        threading.Thread(
            target=lambda s=s: results.append(
                emomc.sample(model, seed=s, draws=20_000, warmup=1000, threads=1, progress=False)
            )
        )
        for s in (1, 1)
    ]
    for thread in samplers:
        thread.start()
    for thread in samplers:
        thread.join()
    seconds = time.monotonic() - began
    done.set()
    other.join()
    assert count > 20 * seconds  # of about a thousand a second; with the GIL held only a few would be counted
    np.testing.assert_array_equal(results[0]["a"], results[1]["a"])


@pytest.mark.parametrize("where", ["terminal", "notebook", "file"])
def test_progress_is_a_line_on_a_terminal_and_in_a_notebook(where):
    code = textwrap.dedent(
        """
        import emomc, sys
        if "notebook" in sys.argv: sys.modules["ipykernel"] = sys
        model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
                            log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
        emomc.sample(model, draws=10**7, warmup=100, until={"seconds": 1})
        """
    )
    reading, writing = pty.openpty() if where == "terminal" else os.pipe()
    child = subprocess.Popen([sys.executable, "-c", code, where], stderr=writing)
    os.close(writing)
    said = b""
    try:
        while part := os.read(reading, 65536):
            said += part
    except OSError:  # the other end of the terminal is closed
        pass
    os.close(reading)
    assert child.wait(timeout=60) == 0
    if where == "file":
        assert said == b""
        return
    drawn = [line.strip() for line in said.decode().split("\r")]
    assert any(re.fullmatch(r"sampling: step \d+ of at most \d+, acceptance 0\.\d+, \d+ s", line) for line in drawn), drawn
    assert drawn[-2:] == ["", ""]  # the line is wiped


def test_progress_may_raise(faithful):
    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        emomc.sample(line(faithful), draws=10**9, warmup=100, progress=fail)


def test_control_c_stops_cleanly():
    code = textwrap.dedent(
        """
        import emomc, sys
        model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
                            log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
        def tell(step, *_):
            if step > 2000: print("sampling", flush=True)
        try:
            emomc.sample(model, draws=10**9, warmup=100, progress=tell)
        except emomc.Interrupted as interrupt:
            draws = interrupt.draws
            assert draws is not None and not draws.finished and draws.num_draws > 100, draws
            print("interrupted with draws")
            sys.exit(130)
        """
    )
    out, _, code_of_exit = interrupted(code, "sampling")
    assert "interrupted with draws" in out and code_of_exit == 130


def test_control_c_leaves_a_checkpoint(faithful, tmp_path):
    code = textwrap.dedent(
        """
        import emomc, sys
        model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
                            log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
        def tell(step, *_):
            if step > 2000 and "stop" in sys.argv: print("sampling", flush=True)
        draws = emomc.sample(model, draws=int(sys.argv[2]), warmup=100, progress=tell, resume=True,
                             directory=sys.argv[1])
        """
    )
    folder = str(tmp_path / "run")
    _, err, _ = interrupted(code, "sampling", folder, str(10**9), "stop")
    assert f"{folder} has a checkpoint, from which the same call with resume=True goes on" in err
    part = emomc.read_run(folder)
    assert not part.finished and 100 < part.num_draws < 10**9
    # A run of slightly more draws than exist ends by itself.
    whole = part.num_draws + 10
    subprocess.run([sys.executable, "-c", code, folder, str(whole)], check=True)
    run = emomc.read_run(folder)
    assert run.finished and run.num_draws == whole
    np.testing.assert_array_equal(run["m"][:, : part.num_draws], part["m"])
    model = emomc.Model(
        data={"x": [1.0, 2.0, 4.0]},
        parameters={"m": emomc.real()},
        log_density="normal_lpdf(x, m, 1)",
        priors={"m": emomc.normal(0, 10)},
    )
    np.testing.assert_array_equal(emomc.sample(model, draws=whole, warmup=100, progress=False)["m"], run["m"])


def test_directories_are_those_of_the_program(faithful, program, tmp_path):
    model = line(faithful)
    options = dict(seed=3, backend="reference", draws=200, warmup=300, chains=2, progress=False)
    draws = emomc.sample(model, directory=tmp_path / "run", **options)
    assert draws.directory == str(tmp_path / "run")
    np.testing.assert_array_equal(draws["a"], emomc.sample(model, **options)["a"])
    with pytest.raises(emomc.InputError, match="is not empty; allowed: another one, or to resume or overwrite"):
        emomc.sample(model, directory=tmp_path / "run", **options)
    with pytest.raises(emomc.InputError, match="the configuration has changed since: seed was 3, is 4"):
        emomc.sample(model, directory=tmp_path / "run", resume=True, **options | {"seed": 4})
    longer = emomc.sample(model, directory=tmp_path / "run", resume=True, **options | {"draws": 250})
    np.testing.assert_array_equal(longer["a"], emomc.sample(model, **options | {"draws": 250})["a"])
    said = subprocess.run([program, "summary", "run", "--json"], cwd=tmp_path, capture_output=True, check=True, text=True)
    theirs = {row["name"]: row["mean"] for row in json.loads(said.stdout)["parameters"]}
    ours = {row["name"]: row["mean"] for row in longer.summary()}
    assert theirs == ours and "ratio" in ours
    other = emomc.sample(model, directory=tmp_path / "run", overwrite=True, **options | {"seed": 4})
    assert not np.array_equal(other["a"], draws["a"])


def test_type_hints_are_complete():
    pytest.importorskip("mypy")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", str(ROOT / "python/emomc")],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_public_name_has_a_docstring_with_an_example_that_runs():
    import doctest

    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for name in emomc.__all__:
        found = [test for test in finder.find(getattr(emomc, name), name, module=False) if test.examples]
        assert found, f"emomc.{name} has no example"
        for test in found:
            runner.run(test)
    for test in finder.find(emomc, "emomc", module=False):
        runner.run(test)
    assert runner.summarize().failed == 0
