"""Tests mixtures with the interface of scikit-learn."""

import importlib
import json
import pickle
import subprocess
import sys
import textwrap
import warnings

import emomc
import numpy as np
import pytest

from conftest import ROOT, interrupted


def matrix(faithful):
    return np.column_stack([faithful["duration"], faithful["waiting"]])


def test_the_posterior_is_the_programs(faithful, program, tmp_path):
    mixture = emomc.GaussianMixture(2, covariance_type="full").fit_posterior(
        faithful, seed=1, chains=4, until={"ess": 2000}, backend="cpu", progress=False
    )
    (tmp_path / "run.yaml").write_text(
        f"data: {{file: {ROOT}/tests/apps/data/faithful.csv}}\n"
        "likelihood: {components: 2, covariance: full}\nsampler: {seed: 1, until: {ess: 2000}}\nbackend: cpu\n"
    )
    subprocess.run([program, "run", "run.yaml", "-q", "--output", "run"], cwd=tmp_path, check=True)
    run = emomc.read_run(tmp_path / "run")
    for c in range(4):
        np.testing.assert_array_equal(mixture.draws_.chain(c)["theta"], run.chain(c)["theta"])
    np.testing.assert_array_equal(mixture.draws_["means"], run["means"])
    assert mixture.draws_.trusted
    assert max(row["rhat"] for row in mixture.draws_.summary()) <= 1.01
    np.testing.assert_allclose(mixture.means_, mixture.draws_["means"].mean(axis=(0, 1)))


def test_peers_have_the_same_posterior(faithful):
    """The means of label-free quantities differ by at most 5 combined MCSE (false alarms: 4e-6 for each peer)."""
    peers = json.loads((ROOT / "tests/python/data/peers.json").read_text())
    assert {"numpyro", "pymc"} <= set(peers)
    X = matrix(faithful)
    priors = {
        "weights": emomc.dirichlet(20),
        "means": emomc.normal(0, 0.1),
        "scales": emomc.half_normal(0.05),
        "correlations": emomc.lkj(60),
    }
    mixture = emomc.GaussianMixture(2, covariance_type="full", standardize=False, priors=priors)
    mixture.fit_posterior((X - X.mean(axis=0)) / X.std(axis=0), seed=1, until={"ess": 5000}, progress=False)
    ours = {row["name"]: row for row in mixture.draws_.summary()}
    for peer, found in peers.items():
        assert len(found["quantities"]) == 6
        for name, theirs in found["quantities"].items():
            assert theirs["rhat"] <= 1.01 and theirs["ess"] >= 1000, (peer, name)
            z = (ours[name]["mean"] - theirs["mean"]) / np.hypot(ours[name]["mcse_mean"], theirs["mcse"])
            assert abs(z) <= 5, (peer, name, z)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_fit_is_scikit_learns(faithful, covariance_type):
    sklearn = pytest.importorskip("sklearn.mixture")
    X = matrix(faithful)
    X[:, 1] /= 10  # spherical components do not suit columns of different scales
    ours = emomc.GaussianMixture(2, covariance_type=covariance_type, tol=1e-12).fit(X)
    peer = sklearn.GaussianMixture(
        2, covariance_type=covariance_type, tol=1e-12, reg_covar=0, n_init=5, max_iter=10_000, random_state=1
    ).fit(X)
    # Spherical components refer to standardised columns.
    if covariance_type != "spherical":
        assert ours.score(X) == pytest.approx(peer.score(X), abs=1e-7)
        order = np.argsort(ours.means_[:, 0]), np.argsort(peer.means_[:, 0])
        np.testing.assert_allclose(ours.means_[order[0]], peer.means_[order[1]], atol=1e-4)
        np.testing.assert_allclose(
            ours.predict_proba(X)[:, order[0]], peer.predict_proba(X)[:, order[1]], atol=1e-3
        )
    assert ours.converged_
    assert ours.log_likelihood_ == pytest.approx(ours.score_samples(X).sum(), rel=1e-6)


def test_scores_are_means_over_draws(faithful):
    X = matrix(faithful)
    mixture = emomc.GaussianMixture(2, covariance_type="diag").fit_posterior(
        X, draws=100, warmup=500, chains=2, progress=False
    )
    draws = mixture.draws_
    weights = draws["weights"].reshape(-1, 2)
    means, scales = draws["means"].reshape(-1, 2, 2), draws["scales"].reshape(-1, 2, 2)
    z = (X[:, None, None] - means) / scales
    parts = weights * np.prod(np.exp(-0.5 * z**2) / (scales * np.sqrt(2 * np.pi)), axis=-1)
    np.testing.assert_allclose(np.exp(mixture.score_samples(X)), parts.sum(axis=-1).mean(axis=1), rtol=1e-9)
    np.testing.assert_allclose(
        mixture.predict_proba(X), (parts / parts.sum(axis=-1, keepdims=True)).mean(axis=1), rtol=1e-9
    )
    np.testing.assert_allclose(mixture.predict_proba(X).sum(axis=1), 1)
    assert set(mixture.predict(X)) == {0, 1}


def test_parameters_are_scikit_learns(faithful):
    mixture = emomc.GaussianMixture(3, tol=1e-6)
    assert mixture.get_params()["tol"] == 1e-6
    assert mixture.set_params(n_components=2).n_components == 2
    with pytest.raises(ValueError, match="n_component is no parameter"):
        mixture.set_params(n_component=2)
    with pytest.raises(ValueError, match="call fit or fit_posterior first"):
        mixture.predict(matrix(faithful))
    with pytest.raises(ValueError, match="covariance_type: round is unknown"):
        emomc.GaussianMixture(2, covariance_type="round").fit(matrix(faithful))
    with pytest.raises(ValueError, match="X has 1 features, but GaussianMixture is expecting 2 features"):
        mixture.fit(matrix(faithful)).score(matrix(faithful)[:, :1])
    density = mixture.posterior(faithful)
    assert mixture.posterior(matrix(faithful)[:, :1]).num_parameters < density.num_parameters
    assert mixture.n_features_in_ == 2  # posterior() does not change the fit
    value, gradient = density.log_density_and_gradient(density.initial(1))
    assert np.isfinite(value) and gradient.shape == (density.num_unconstrained,)


def test_priors_of_priors_and_fixed_values(faithful):
    mixture = emomc.GaussianMixture(
        2,
        covariance_type="diag",
        priors={"means": emomc.normal(emomc.normal(0, 1), 2), "weights": emomc.fixed([0.4, 0.6])},
    ).fit_posterior(faithful, draws=50, warmup=200, chains=2, progress=False)
    assert mixture.draws_["means.mean"].shape == (2, 50, 2)
    np.testing.assert_array_equal(np.unique(mixture.draws_["weights"]), [0.4, 0.6])


#: Checks of scikit-learn that GaussianMixture is expected to fail, each with a reason: none.
EXPECTED_FAILURES: dict[str, str] = {}


def test_scikit_learns_estimator_checks():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    if not hasattr(importlib.import_module("sklearn.utils"), "Tags"):
        pytest.skip("scikit-learn before 1.6 has no tags of estimators")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits of a few rows are degenerate
        results = checks.check_estimator(
            emomc.GaussianMixture(n_threads=1), on_fail=None, expected_failed_checks=EXPECTED_FAILURES
        )
    assert len(results) > 30
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert failed == {}


def test_pipelines_and_clones(faithful):
    base = pytest.importorskip("sklearn.base")
    pipeline = pytest.importorskip("sklearn.pipeline")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    X = matrix(faithful)
    whole = pipeline.make_pipeline(preprocessing.StandardScaler(), emomc.GaussianMixture(2, random_state=1)).fit(X)
    direct = emomc.GaussianMixture(2, random_state=1).fit(X)
    # The density of scaled rows is that of the rows times the product of the sds.
    np.testing.assert_allclose(whole.score(X), direct.score(X) + np.log(X.std(axis=0)).sum(), atol=1e-6)
    copy = base.clone(direct)
    assert copy.get_params() == direct.get_params() and not hasattr(copy, "weights_")
    assert pickle.loads(pickle.dumps(direct)).score(X) == direct.score(X)


def test_fit_warns_of_columns_with_few_values(faithful):
    X = np.column_stack([faithful["waiting"], np.arange(272) % 2])
    with pytest.warns(UserWarning, match="c1 has 2 values only: no mixture of Gaussians describes such a column"):
        emomc.GaussianMixture(2, covariance_type="diag").fit(X)
    three = {"waiting": faithful["waiting"], "kind": np.arange(272) % 3}
    with pytest.warns(UserWarning, match="kind has 3 values only"):
        emomc.GaussianMixture(3, covariance_type="diag").fit(three)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        emomc.GaussianMixture(2).fit(faithful)
        emomc.GaussianMixture(1).fit([[1.0], [2.0]])  # a few rows have few values


def test_a_covariance_without_a_factor_is_one_clear_error(faithful, monkeypatch):
    mixture = emomc.GaussianMixture(2).fit(faithful)
    before = mixture.means_

    def singular(self, arrays, leading):
        return np.stack([np.eye(2), np.ones((2, 2))])[None]

    monkeypatch.setattr(emomc.GaussianMixture, "_matrices", singular)
    with pytest.raises(emomc.InputError, match="X: the covariance of component 1 is not positive definite, as where"):
        mixture.fit(faithful)
    assert mixture.means_ is before  # a failed fit leaves the mixture as it was


def test_a_column_that_is_a_function_of_another_is_no_linear_algebra_error(faithful):
    X = np.column_stack([faithful["waiting"], 2 * faithful["waiting"] + 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            emomc.GaussianMixture(2).fit(X).score(X)
        except emomc.InputError as error:
            assert "not positive definite" in str(error) or "degenerate" in str(error)


def test_control_c_ends_a_fit():
    """The fit would take long: it has many rows and starts, and ends only where the log likelihood does not rise."""
    code = textwrap.dedent(
        """
        import sys, emomc, numpy as np
        X = np.random.default_rng(1).normal(size=(50_000, 3))
        mixture = emomc.GaussianMixture(12, n_init=1000, max_iter=10**9, tol=0, n_threads=1)
        print("fitting", flush=True)
        try:
            mixture.fit(X)
        except KeyboardInterrupt:
            print("interrupted", hasattr(mixture, "weights_"), flush=True)
            sys.exit(130)
        """
    )
    out, _, code_of_exit = interrupted(code, "fitting", seconds=3)
    assert out == "interrupted False\n" and code_of_exit == 130
