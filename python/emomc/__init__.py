"""Samples the posteriors of mixtures and of your own likelihoods by Markov chains, and recognises emotions of speech.

>>> import emomc
>>> model = emomc.Model(data={"x": [4.9, 5.2, 5.5, 4.7, 5.1]}, parameters={"m": emomc.real(), "s": emomc.positive()},
...                     log_density="normal_lpdf(x, m, s)",
...                     priors={"m": emomc.normal(0, 10), "s": emomc.half_normal(5)})
>>> draws = emomc.sample(model, seed=1, progress=False)
>>> draws["m"].shape[0]
4

docs/python.md describes the package, with further examples.
"""

from ._classifier import Classifier
from ._compare import Comparison, compare
from ._corpus import Corpus, list_corpus
from ._draws import Draws, DrawsWarning, Finding, Interrupted, Summary, diagnose, read_run, summary
from ._emomc import DensityError, InputError, MachineError, functions, proposals
from ._emomc import version as __version__
from ._evaluate import Evaluation, NumberEvaluation, evaluate
from ._mixture import GaussianMixture
from ._model import (
    GradientCheck,
    Linear,
    Model,
    Parameter,
    angle,
    positive,
    real,
    simplex,
    unit,
)
from ._predict import Partition, Prediction, Predictions
from ._priors import (
    Prior,
    beta,
    cauchy,
    dirichlet,
    exponential,
    fixed,
    gamma,
    half_normal,
    inverse_gamma,
    lkj,
    lognormal,
    normal,
    student_t,
    uniform,
    von_mises,
)
from ._regressor import PredictedNumbers, Regressor
from ._relabel import relabel
from ._rungs import Evidence, Rungs
from ._sample import sample
from ._stacking import Stacking, stack

__all__ = [
    "Classifier",
    "Comparison",
    "Corpus",
    "DensityError",
    "Draws",
    "DrawsWarning",
    "Evidence",
    "Evaluation",
    "Finding",
    "GaussianMixture",
    "GradientCheck",
    "InputError",
    "Interrupted",
    "Linear",
    "MachineError",
    "Model",
    "NumberEvaluation",
    "Parameter",
    "Partition",
    "PredictedNumbers",
    "Prediction",
    "Predictions",
    "Prior",
    "Regressor",
    "Rungs",
    "Stacking",
    "Summary",
    "angle",
    "beta",
    "cauchy",
    "compare",
    "diagnose",
    "dirichlet",
    "evaluate",
    "exponential",
    "fixed",
    "functions",
    "gamma",
    "half_normal",
    "inverse_gamma",
    "list_corpus",
    "lkj",
    "lognormal",
    "normal",
    "positive",
    "proposals",
    "read_run",
    "real",
    "relabel",
    "sample",
    "simplex",
    "stack",
    "student_t",
    "summary",
    "uniform",
    "unit",
    "von_mises",
]
