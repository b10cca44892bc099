from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._function import RowFunction
from ._priors import PriorTuple

version: str

Predictive = tuple[list[str], list[int], int, int, NDArray[np.float64]]

class InputError(ValueError): ...
class MachineError(RuntimeError): ...
class DensityError(ArithmeticError): ...

class Posterior:
    @staticmethod
    def mixture(
        columns: list[str],
        arrays: list[Any],
        components: int,
        covariance: str,
        priors: dict[str, PriorTuple],
        standardize: bool,
        ordered: bool,
        scale_floor: float,
        precision: str,
    ) -> Posterior: ...
    @staticmethod
    def expression(
        columns: list[str],
        arrays: list[Any],
        parameters: list[tuple[str, str, int, str]],
        log_density: str,
        priors: dict[str, PriorTuple],
        where: list[tuple[str, str]],
        prepare: list[tuple[str, str]],
        derived: list[tuple[str, str]],
        rows: list[tuple[str, str]],
        simulate: list[tuple[str, str]],
        linear: list[tuple[str, str, list[str], str, str]],
        constants: list[tuple[str, list[int], list[float]]],
        weights: str,
        precision: str,
        function: RowFunction | None,
    ) -> Posterior: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def num_parameters(self) -> int: ...
    @property
    def num_unconstrained(self) -> int: ...
    def log_posterior(self, theta: NDArray[np.float64]) -> float: ...
    def log_density(self, u: NDArray[np.float64]) -> float: ...
    def log_density_and_gradient(self, u: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]: ...
    def check_gradient(self, u: NDArray[np.float64]) -> tuple[int, int, float, float, float]: ...
    def constrain(self, u: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def unconstrain(self, theta: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def initial(self, seed: int) -> NDArray[np.float64]: ...
    def sample(
        self,
        *,
        chains: int,
        draws: int | None,
        max_draws: int,
        warmup: int | None,
        thin: int,
        seed: int,
        init: str,
        proposal: str,
        shape: str,
        target_acceptance: float,
        until_ess: float,
        until_seconds: float,
        superchains: int,
        rungs: int,
        ladder: list[float],
        every: int,
        backend: str,
        threads: int,
        directory: str,
        existing: str,
        checkpoint_seconds: float,
        progress: Callable[[int, int, int, float, float], Any] | None,
    ) -> Draws: ...
    def posterior_predictive(self, draws: Draws, most: int | None) -> Predictive: ...
    def prior_predictive(self, draws: Draws, most: int | None) -> tuple[Draws, Predictive]: ...
    @property
    def observed(self) -> list[str]: ...
    @property
    def columns(self) -> list[str]: ...
    def function_kernels(self, major: int, minor: int) -> list[tuple[int, int]]: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def gpu(self) -> int | None: ...
    @property
    def data(self) -> NDArray[np.float64]: ...
    def row_log_likelihoods(self, draws: Draws, most: int) -> NDArray[np.float64]: ...
    def leave_one_out(
        self, draws: Draws, groups: list[int], most: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], int]: ...
    def stack(
        self, draws: Draws, clusters: list[int], groups: list[int], draws_per_chain: int
    ) -> dict[str, Any]: ...
    def fit(
        self, *, restarts: int, max_rounds: int, tolerance: float, seed: int, threads: int
    ) -> tuple[NDArray[np.float64], float, int, bool, str]: ...

class Draws:
    @property
    def interrupted(self) -> bool: ...
    @property
    def finished(self) -> bool: ...
    @property
    def ended_by(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def backend(self) -> str: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def status(self) -> str: ...
    @property
    def directory(self) -> str: ...
    @property
    def labels(self) -> list[str]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def num_chains(self) -> int: ...
    @property
    def num_draws(self) -> int: ...
    @property
    def num_log_densities(self) -> int: ...
    @property
    def first_label_free(self) -> int: ...
    @property
    def seconds(self) -> tuple[float | None, float | None]: ...
    @property
    def values(self) -> NDArray[np.float64]: ...
    @property
    def arrays(self) -> list[tuple[str, list[int], list[int], int, list[int]]]: ...
    @property
    def statistics(self) -> dict[str, NDArray[np.float64]]: ...
    def chain(
        self, index: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
    @property
    def rungs(
        self,
    ) -> (
        tuple[NDArray[np.float64], NDArray[np.float64], int, NDArray[np.float64], NDArray[np.float64]] | None
    ): ...
    def evidence(self) -> dict[str, Any]: ...
    def stacked_rows(self, chain_weights: list[float], patterns: list[str]) -> list[dict[str, Any]]: ...
    def summary_text(self, patterns: list[str], most_rows: int) -> str: ...
    def summary_rows(self, patterns: list[str]) -> list[dict[str, Any]]: ...
    def findings(self) -> list[tuple[str, str, str, str]]: ...

horseshoe_warmup: int
ridge_warmup: int
softmax_draws: int

class SoftmaxOptions:
    @staticmethod
    def of(
        *,
        functionals: str,
        class_prior: str,
        prior: str,
        prior_sds: list[float],
        relevant_share: float,
        slab_scale: float,
        temperature: float,
        temper: float | None,
        chains: int,
        warmup: int,
        draws: int,
        seed: int,
        threads: int,
        classes: list[str],
    ) -> SoftmaxOptions: ...

class SoftmaxModel:
    @property
    def classes(self) -> list[str]: ...
    @property
    def functionals(self) -> str: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def sample_rate(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def prior(self) -> str: ...
    @property
    def prior_sd_weights(self) -> dict[float, float]: ...
    @property
    def temper(self) -> float: ...
    @property
    def speakers(self) -> list[str]: ...
    def rows(self, recordings: list[Any], names: list[str], threads: int) -> tuple[NDArray[np.float64], list[int]]: ...
    def of_speaker(
        self, rows: NDArray[np.float64], frames: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def by_enrolment(
        self, rows: NDArray[np.float64], frames: list[int], others: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def save(self, directory: str) -> None: ...
    @staticmethod
    def load(directory: str) -> SoftmaxModel: ...

def evaluate_softmax(
    *,
    recordings: list[Any],
    names: list[str],
    emotions: list[str],
    speakers: list[str],
    refuse: bool,
    folds: str,
    count: int,
    tests: list[str],
    folds_file: str,
    folds_column: str,
    by_columns: list[str],
    by_file: str,
    options: SoftmaxOptions,
    progress: Callable[[str, int, int], Any] | None,
) -> tuple[str, list[str], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], list[str]]: ...
def train_softmax(
    *,
    recordings: list[Any],
    names: list[str],
    emotions: list[str],
    speakers: list[str],
    refuse: bool,
    options: SoftmaxOptions,
    progress: Callable[[str, int, int], Any] | None,
) -> tuple[SoftmaxModel, float, float, list[str]]: ...

class RegressionModel:
    @property
    def dimensions(self) -> list[str]: ...
    @property
    def prior_sds(self) -> list[float]: ...
    @property
    def noise_sds(self) -> list[float]: ...
    @property
    def sd_factors(self) -> list[float]: ...
    @property
    def functionals(self) -> str: ...
    @property
    def sample_rate(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def speakers(self) -> list[str]: ...
    def rows(self, recordings: list[Any], names: list[str], threads: int) -> tuple[NDArray[np.float64], list[int]]: ...
    def of_speaker(
        self, rows: NDArray[np.float64], frames: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]: ...
    def by_enrolment(
        self, rows: NDArray[np.float64], frames: list[int], others: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]: ...
    def save(self, directory: str) -> None: ...
    @staticmethod
    def load(directory: str) -> RegressionModel: ...

def regression_options(
    *,
    functionals: str,
    prior_sds: list[float],
    sd_factor: float | None,
    seed: int,
    threads: int,
    dimensions: list[str],
) -> SoftmaxOptions: ...
def train_regression(
    *,
    recordings: list[Any],
    names: list[str],
    speakers: list[str],
    numbers: NDArray[np.float64],
    refuse: bool,
    options: SoftmaxOptions,
    progress: Callable[[str, int, int], Any] | None,
) -> tuple[RegressionModel, list[str]]: ...
def evaluate_regression(
    *,
    recordings: list[Any],
    names: list[str],
    speakers: list[str],
    numbers: NDArray[np.float64],
    refuse: bool,
    folds: str,
    count: int,
    tests: list[str],
    folds_file: str,
    folds_column: str,
    by_columns: list[str],
    by_file: str,
    options: SoftmaxOptions,
    progress: Callable[[str, int, int], Any] | None,
) -> tuple[str, list[str], tuple[NDArray[np.float64], ...], list[str]]: ...
def predictive_intervals(
    mean: NDArray[np.float64], scale: NDArray[np.float64], freedom: float, level: float
) -> NDArray[np.float64]: ...
def list_corpus(kind: str, path: str) -> tuple[list[tuple[str, str, str, str]], list[str]]: ...
def read_run(directory: str) -> Draws: ...
def predicted_columns(draws: Draws, posterior: Posterior | None) -> tuple[list[str], list[str]]: ...
def predict(
    draws: Draws,
    posterior: Posterior | None,
    columns: list[str],
    arrays: list[Any],
    most: int,
    quantiles: list[float],
) -> tuple[
    list[str],
    int,
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    tuple[NDArray[np.int32], float, bool, int, int, str] | None,
]: ...
def match_features(
    features: NDArray[np.float64], draws: int, components: int, count: int
) -> tuple[NDArray[np.int32], bool]: ...
def functions() -> list[str]: ...
def proposals() -> list[str]: ...
def prior_arguments(family: str) -> list[str]: ...
