"""Results of runs with tempering: the rungs and the evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rungs:
    """The rungs of a run with tempering: powers of the likelihood, from 1 to the prior, and statistics of their draws.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> rungs = emomc.sample(model, chains=2, draws=200, warmup=200, tempering=4, progress=False).rungs
    >>> rungs.log_likelihood.shape, len(rungs.swap_rates)
    ((4, 2, 200), 3)
    """

    betas: _Floats  #: [rungs] powers of the likelihood, from 1 downwards
    swap_rates: _Floats  #: [rungs - 1] mean probability of an exchange between neighbouring rungs
    round_trips: int  #: number of round trips of points, from the cold rung to the last rung and back
    acceptance: _Floats  #: [rungs] acceptance rate of each rung's moves, without exchanges
    log_likelihood: _Floats  #: [rungs x chains x draws] log likelihoods


@dataclass(frozen=True)
class Evidence:
    """The log of the marginal likelihood, estimated from the rungs of a run; `Draws.evidence` returns it.

    The marginal likelihood of a mixture includes all labellings of the components. docs/tempering.md has the formulas.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> evidence = emomc.sample(model, draws=2000, tempering=8, progress=False).evidence()
    >>> abs(evidence.log_evidence - (-7.971)) < 5 * evidence.standard_error < 0.5
    True
    """

    log_evidence: float  #: estimate by stepping stones, which has no discretisation error
    standard_error: float  #: standard error of log_evidence, from the autocorrelation of the chains
    thermodynamic: float  #: estimate by thermodynamic integration, for comparison
    thermodynamic_standard_error: float  #: standard error of `thermodynamic`, without the error of the rule
    rule_error: float  #: possible error of the trapezoidal rule by which the integral is computed
    lower: float  #: lower bound of the integral, whatever the rule
    upper: float  #: upper bound of the integral, whatever the rule
    finite_share: float  #: share of the prior's draws with a finite density, a factor of the evidence
    mean_log_likelihood: _Floats  #: [rungs] mean of the log likelihood
    ess: _Floats  #: [rungs] effective sample size of the log likelihood
    warnings: list[str]  #: reasons to doubt the estimates, a sentence each; empty: there are none
