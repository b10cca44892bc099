"""Tests that wrong arguments are refused by their names, before the extension module converts them."""

import pathlib
import warnings

import emomc
import numpy as np
import pytest

from conftest import line

DATA = {"y": [0.1, 0.9, 2.1, 2.9], "x": [0.0, 1, 2, 3]}


def model(**more):
    return emomc.Model(
        data=DATA,
        **{
            "parameters": {"m": emomc.real()},
            "log_density": "normal_lpdf(y, m, 1)",
            "priors": {"m": emomc.normal(0, 10)},
        }
        | more,
    )


@pytest.fixture(scope="module")
def draws():
    return emomc.sample(model(), draws=200, progress=False)


@pytest.mark.parametrize(
    "options, kind, message",
    [
        ({"seed": -1}, ValueError, "seed: -1 is out of range; allowed: 0 to 18446744073709551615"),
        ({"seed": 2**64}, ValueError, "seed: 18446744073709551616 is out of range"),
        ({"seed": "a"}, TypeError, "seed: 'a'; allowed: an integer"),
        ({"seed": True}, TypeError, "seed: True; allowed: an integer"),
        ({"chains": 2.0}, TypeError, r"chains: 2\.0; allowed: an integer"),
        ({"chains": 2**40}, ValueError, "chains: 1099511627776 is out of range"),
        ({"draws": "many"}, TypeError, "draws: 'many'; allowed: an integer"),
        ({"draws": 0}, ValueError, "draws: 0 is out of range; allowed: 1 or more"),
        ({"warmup": -1}, ValueError, "warmup: -1 is out of range"),
        ({"thin": 1.5}, TypeError, r"thin: 1\.5; allowed: an integer"),
        ({"init": 3}, TypeError, "init: 3; allowed: a text"),
        ({"proposal": None}, TypeError, "proposal: None; allowed: a text"),
        ({"target_acceptance": "high"}, TypeError, "target_acceptance: 'high'; allowed: a number"),
        ({"until": {"seconds": 0}}, ValueError, "until.seconds: 0 is out of range; allowed: above 0"),
        ({"until": {"ess": -5}}, ValueError, "until.ess: -5 is out of range; allowed: above 0"),
        ({"until": {"ess": float("nan")}}, ValueError, "until.ess: nan is out of range"),
        ({"until": 60}, TypeError, "until: 60; allowed: a dict of ess and seconds"),
        ({"tempering": "many"}, TypeError, "tempering.rungs: 'many'; allowed: an integer"),
        ({"tempering": {"ladder": [1, "a"]}}, TypeError, "tempering.ladder: 'a'; allowed: a number"),
        ({"backend": 1}, TypeError, "backend: 1; allowed: a text"),
        ({"threads": -1}, ValueError, "threads: -1 is out of range"),
        ({"directory": 3}, TypeError, "directory: 3; allowed: a path"),
        ({"resume": 1, "directory": "x"}, TypeError, "resume: 1; allowed: True, False"),
        ({"progress": "yes"}, TypeError, "progress: 'yes'; allowed: None, True, False, or a function"),
    ],
)
def test_options_of_sample(options, kind, message):
    with pytest.raises(kind, match=message) as caught:
        emomc.sample(model(), **options)
    assert "\n" not in str(caught.value) and "std::" not in str(caught.value)


def test_integers_of_numpy_are_integers():
    options = {"chains": np.int64(2), "draws": np.int32(50), "seed": np.uint64(2**63), "warmup": np.int8(100)}
    one = emomc.sample(model(), progress=False, **options)
    other = emomc.sample(model(), progress=False, **{name: int(value) for name, value in options.items()})
    np.testing.assert_array_equal(one["m"], other["m"])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda d: emomc.sample(3), "model: a value of type int; allowed: a Model"),
        (lambda d: emomc.sample(emomc.GaussianMixture()), r"the posterior of a mixture, such as its posterior\(X\)"),
        (lambda d: emomc.diagnose(3), "draws: a value of type int; allowed: Draws"),
        (lambda d: emomc.summary("x"), "draws: a value of type str; allowed: Draws"),
        (lambda d: emomc.summary(d, 3), "patterns: 3; allowed: a list of texts"),
        (lambda d: d.summary([1]), "patterns: 1; allowed: a text"),
        (lambda d: d.chain(0.5), r"index: 0\.5; allowed: an integer"),
        (lambda d: d.log_likelihoods("all"), "most_draws: 'all'; allowed: an integer"),
        (lambda d: emomc.compare(d), "runs: .*; allowed: a dict of draws by name"),
        (lambda d: emomc.compare({"a": "b"}), r"runs\['a'\]: a value of type str; allowed: Draws"),
        (lambda d: emomc.compare({"a": d}, draws=1.5), r"draws: 1\.5; allowed: an integer"),
        (lambda d: emomc.stack(np.zeros(3)), "draws: a value of type ndarray; allowed: Draws"),
        (lambda d: emomc.stack(d, clusters=[0.5, 0, 0, 0]), r"clusters: 0\.5; allowed: an integer"),
        (lambda d: emomc.relabel(3), "draws: a value of type int; allowed: an InferenceData"),
        (lambda d: emomc.read_run(3), "directory: 3; allowed: a path"),
        (lambda d: emomc.read_run("x", 3), "model: a value of type int; allowed: a Model"),
        (lambda d: emomc.list_corpus(1, "x"), "kind: 1; allowed: a text"),
        (lambda d: emomc.real(2.5), r"length: 2\.5; allowed: an integer"),
        (lambda d: emomc.Linear(columns="xy", coefficients="b"), "columns: 'xy'; allowed: a list of names of columns"),
        (lambda d: emomc.Linear(columns=["x"], coefficients=1), "coefficients: 1; allowed: a text"),
        (lambda d: model(constants={"k": "one"}), r"constants\['k'\]: values of type <U3; allowed: a number or a list"),
        (lambda d: model(where=["z"]), "where: .*; allowed: a dict of expressions by name"),
        (lambda d: model(derived={"z": 3}), r"derived\['z'\]: 3; allowed: a text"),
        (lambda d: model(linear={"eta": "a + b"}), r"linear\['eta'\] is no linear predictor"),
        (lambda d: model(priors=emomc.normal(0, 1)), "priors: .*; allowed: a dict of priors"),
        (lambda d: model(priors={"m": emomc.normal("zero", 1)}), r"priors\['m'\]: mean is 'zero'; allowed: a number"),
        (lambda d: model().initial("a"), "seed: 'a'; allowed: an integer"),
        (lambda d: emomc.evaluate(3, [], [], []), "estimator: a value of type int; allowed: a Classifier, or a Regressor"),
        (lambda d: emomc.GaussianMixture(2.0).fit([[1.0], [2]]), r"n_components: 2\.0; allowed: an integer"),
        (lambda d: emomc.GaussianMixture(tol="a").fit([[1.0], [2]]), "tol: 'a'; allowed: a number"),
    ],
)
def test_other_types_are_refused_by_name(draws, call, message):
    with pytest.raises(TypeError, match=message) as caught:
        call(draws)
    assert "\n" not in str(caught.value) and "std::" not in str(caught.value)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: model(constants={"k": float("nan")}), r"constants\['k'\]: nan is not finite; allowed: finite numbers"),
        (lambda: model(constants={"k": [1, np.inf]}), r"constants\['k'\]: inf is not finite"),
        (lambda: model(constants={"k": []}), r"constants\['k'\]: the list is empty; allowed: one or more numbers"),
        (lambda: model(simulate={"yy": "normal_rng(m, 1)"}), "simulate: yy is no column of the data, .*did you mean y?"),
        (lambda: model(priors={"m": emomc.normal(float("nan"), 1)}), r"priors\['m'\]: mean is NaN"),
        (lambda: emomc.Model(data={1: [1.0], "1": [2.0]}, log_density="", priors={}), "data: '1' names 2 columns"),
        (lambda: emomc.GaussianMixture(random_state=1.0).fit([[1.0], [2]]), r"random_state: 1\.0; allowed: an integer"),
        (lambda: emomc.GaussianMixture(random_state=np.array(1.5)).fit([[1.0], [2]]), "random_state: array"),
        (lambda: emomc.GaussianMixture(n_init=0).fit([[1.0], [2]]), "n_init: 0 is out of range; allowed: 1 to"),
        (lambda: emomc.Classifier(classes=[])._options(), r"classes: \[\]; allowed: one or more different names"),
        (lambda: emomc.Classifier(classes=["a", "a"])._options(), "classes: .*; allowed: one or more different names"),
    ],
)
def test_values_that_mean_nothing_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_names_of_classes_can_be_an_array():
    emomc.Classifier(classes=np.array(["calm", "rough"]))._options()


def test_a_simulated_name_may_serve_another(faithful):
    assert line(faithful, simulate={"late": "bernoulli_rng(0.5)", "waiting": "normal_rng(a + b * late, s)"})


def test_warnings_point_at_the_callers_line(faithful):
    def lines(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        return [(pathlib.Path(one.filename).name, one.lineno) for one in caught if issubclass(one.category, emomc.DrawsWarning)]

    def directly():
        emomc.sample(line(faithful), draws=20, progress=False)

    def by_an_estimator():
        emomc.GaussianMixture(2).fit_posterior(faithful, draws=10, warmup=20, progress=False)

    for call in (directly, by_an_estimator):
        assert lines(call) == [("test_arguments.py", call.__code__.co_firstlineno + 1)]


def test_draws_are_a_mapping_of_parameters(faithful):
    draws = emomc.sample(line(faithful), draws=50, warmup=50, chains=2, progress=False)
    assert list(draws) == list(draws.keys()) == list(draws.parameters)
    assert dict(draws)["ratio"].shape == (2, 50)
    with pytest.raises(KeyError, match="nothing; there are: .*ratio"):
        draws.summary()["nothing"]


def test_messages_have_the_words_of_python(faithful, tmp_path):
    """Advice names arguments of sample, not keys of configurations or options of the program."""
    rng = np.random.default_rng(1)
    two_modes = emomc.Model(
        data={"x": rng.normal(2, 1, 100)},
        parameters={"m": emomc.real()},
        log_density="normal_lpdf(x, abs(m), 1)",
        priors={"m": emomc.normal(0, 10)},
    )
    runs = [
        emomc.sample(two_modes, chains=6, draws=300, init="prior", seed=3, proposal="random_walk", progress=False),
        emomc.sample(line(faithful), draws=20, warmup=0, directory=tmp_path / "run", progress=False),
        emomc.GaussianMixture(2).fit_posterior(faithful, draws=50, warmup=50, chains=1, progress=False).draws_,
    ]
    said = [text for run in runs for finding in run.diagnose() for text in (finding.text, finding.advice)]
    assert any("tempering=12 lets chains pass between modes" in text for text in said)
    with pytest.raises(emomc.InputError) as caught:
        emomc.sample(line(faithful), draws=20, warmup=0, seed=5, directory=tmp_path / "run", resume=True, progress=False)
    said.append(str(caught.value))
    with pytest.raises(emomc.InputError, match="patterns: no quantity has such a name") as caught:
        runs[0].summary("nothing")
    said.append(str(caught.value))
    said += [str(run.summary()) for run in runs]
    for text in said:
        for word in ("sampler.", "--", "emomc run", "emomc diagnose", "prior.order", "ExistingRun"):
            assert word not in text, text
