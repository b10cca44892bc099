"""Rungs of runs with tempering, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rungs:
    """The rungs of a run with tempering: powers of the likelihood, from 1 to the prior, and what they have drawn.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> rungs = emomc.sample(model, chains=2, draws=200, warmup=200, tempering=4, progress=False).rungs
    >>> rungs.log_likelihood.shape, len(rungs.swap_rates)
    ((4, 2, 200), 3)
    """

    betas: _Floats  #: [rungs] the powers, from 1 down
    swap_rates: _Floats  #: [rungs - 1] mean probability of an exchange between neighbours
    round_trips: int  #: of points, from the cold rung to the last one and back
    acceptance: _Floats  #: [rungs] of each rung's own moves
    log_likelihood: _Floats  #: rungs x chains x draws


@dataclass(frozen=True)
class Evidence:
    """The log of the marginal likelihood, from the rungs of a run. All labellings of a mixture's components count.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> evidence = emomc.sample(model, draws=2000, tempering=8, progress=False).evidence()
    >>> abs(evidence.log_evidence - (-7.971)) < 5 * evidence.standard_error < 0.5
    True
    """

    log_evidence: float  #: by stepping stones, which have no error of discretisation
    standard_error: float  #: of log_evidence, from the chains' autocorrelation
    thermodynamic: float  #: by thermodynamic integration, for comparison
    thermodynamic_standard_error: float  #: of `thermodynamic`, but for the rule's error
    rule_error: float  #: a bound on the error of the rule by which the integral is taken
    lower: float  #: the integral is above it by any rule
    upper: float  #: and below this
    finite_share: float  #: share of the prior with a finite density, which is a factor of the evidence
    mean_log_likelihood: _Floats  #: [rungs]
    ess: _Floats  #: [rungs] effective draws of the log likelihood
    warnings: list[str]  #: what speaks against the estimates; empty: nothing
