"""Samples posteriors, and shows the progress."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _arguments
from ._arguments import MOST_INT, MOST_SEED
from ._draws import Draws, DrawsWarning, Interrupted
from ._emomc import InputError
from ._model import _Density
from ._progress import Line, Progress, is_interactive

if TYPE_CHECKING:
    from . import _emomc


def sample(
    model: _Density,
    *,
    chains: int = 4,
    draws: int | None = None,
    max_draws: int = 20_000,
    warmup: int | None = None,
    thin: int = 1,
    seed: int = 20260101,
    init: str = "",
    proposal: str = "",
    shape: str = "",
    target_acceptance: float = 0.0,
    until: Mapping[str, float] | None = None,
    superchains: int = 0,
    tempering: int | Mapping[str, Any] | None = None,
    backend: str = "auto",
    threads: int = 0,
    directory: str | os.PathLike[str] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    checkpoint_seconds: float = 60.0,
    progress: bool | Progress | None = None,
) -> Draws:
    """Samples a posterior by Markov chains.

    The draws are a function of the model, the options and the backend. They equal the draws of `emomc run` with the
    same configuration and data.

    Parameters
    ----------
    model
        A `Model`, or `GaussianMixture(...).posterior(X)`.
    chains
        Number of chains.
    draws
        Number of draws of each chain. None: sample until the chains have converged or have `max_draws` draws.
    max_draws
        Maximum number of draws of each chain if `draws` is None.
    warmup
        Number of steps before the first draw. None: 1000 steps, doubled as long as the chains have not settled.
    thin
        Number of steps per kept draw.
    seed
        Seed of the random numbers.
    init
        Starts of the chains: "prior" or the path of a parameter file (.json); for mixtures also "kmeans", "em" and
        "clusters". "": the default of the model.
    proposal
        Name of the proposal, one of `emomc.proposals()`, such as "nuts", "hmc" and "mala", which use gradients. "":
        chosen by the model.
    shape
        Shape of the proposal's increments or of the metric: "isotropic", "diagonal" or "dense". "": the
        default of the proposal.
    target_acceptance
        Acceptance rate to which the proposal adapts, above 0 and below 1; 0: the proposal's default.
    until
        Conditions that end the run early, each above 0: {"ess": 1000}, if all quantities have this effective sample
        size; {"seconds": 60}, after this time.
    superchains
        Number of superchains, sets of chains with a common starting point, for nested R-hat; 0: none.
    tempering
        Rungs of each chain, for posteriors with several modes and for `Draws.evidence`: the number of rungs, such as
        12, or {"rungs": 12, "ladder": "adaptive", "every": "auto"}. "ladder" can also be a list of powers of the
        likelihood from 1 downwards, and "every" the number of steps between exchanges. The time of a run is
        proportional to the number of rungs.
    backend
        Engine that evaluates the likelihood: "auto", "reference", "cpu" or "cuda".
    threads
        Number of CPU threads; 0: all.
    directory
        Run directory, which receives draws and checkpoints during the run; `emomc summary`, `diagnose`, `report`,
        `export` and `emomc.read_run` read it. None: draws are in memory only.
    resume
        Whether to continue the run in the directory from its checkpoint; the draws are those of an uninterrupted run.
        Without a checkpoint the run starts from the beginning. A larger `draws` extends a finished run.
    overwrite
        Whether to replace the run in the directory.
    checkpoint_seconds
        Time between checkpoints in seconds.
    progress
        None: a line on a terminal or in a notebook. True: a line in all cases; False: no line. A function is called
        with the step, the number of steps, the step at which warm-up ends, the mean acceptance rate, and the seconds.

    Raises
    ------
    InputError
        if an option is not allowed, or no draw from the prior, of a hundred, has a finite density to start from.
    DensityError
        if the density is not a number too often during the run, the density or its gradient is not finite at a start
        that is not a draw from the prior, or a log density that is a function raises an exception.
    Interrupted
        if Ctrl-C ends the run (a KeyboardInterrupt). The attribute `draws` has the draws so far, and a directory has a
        checkpoint.
    MachineError
        if memory is insufficient, or the disk, the compiler or the GPU fails.
    ValueError
        if arguments contradict each other, or `until` or `tempering` has an unknown key.
    TypeError
        if an argument has another type.

    Warns
    -----
    DrawsWarning
        if `diagnose` finds a problem in the draws.

    The GIL is released while the chains run, so that several threads can sample at once.

    >>> import emomc
    >>> model = emomc.Model(data={"x": [1.0, 2.0, 4.0]}, parameters={"m": emomc.real()},
    ...                     log_density="normal_lpdf(x, m, 1)", priors={"m": emomc.normal(0, 10)})
    >>> draws = emomc.sample(model, chains=2, draws=500, seed=1, progress=False)
    >>> draws
    emomc.Draws(2 chains, 500 draws each: m)
    """
    if not isinstance(model, _Density):
        hint = ", such as its posterior(X)" if hasattr(model, "posterior") else ""
        raise TypeError(f"model: a value of type {type(model).__name__}; allowed: a Model, or the posterior of a mixture{hint}")
    options: dict[str, Any] = {
        "chains": _arguments.integer("chains", chains, 1, MOST_INT),
        "draws": None if draws is None else _arguments.integer("draws", draws, 1),
        "max_draws": _arguments.integer("max_draws", max_draws, 1),
        "warmup": None if warmup is None else _arguments.integer("warmup", warmup),
        "thin": _arguments.integer("thin", thin, 1),
        "seed": _arguments.integer("seed", seed, 0, MOST_SEED),
        "init": _arguments.text("init", os.fspath(init) if isinstance(init, os.PathLike) else init),
        "proposal": _arguments.text("proposal", proposal),
        "shape": _arguments.text("shape", shape),
        "target_acceptance": _arguments.real("target_acceptance", target_acceptance),
        "superchains": _arguments.integer("superchains", superchains, 0, MOST_INT),
        "backend": _arguments.text("backend", backend),
        "threads": _arguments.integer("threads", threads, 0, MOST_INT),
        "checkpoint_seconds": _arguments.real("checkpoint_seconds", checkpoint_seconds),
    }
    if _arguments.flag("resume", resume) and _arguments.flag("overwrite", overwrite):
        raise ValueError("resume, overwrite: both are True; allowed: one of them")
    _arguments.flag("overwrite", overwrite)
    _arguments.progress(progress)
    if directory is None and (resume or overwrite):
        raise ValueError("resume, overwrite: allowed with a directory only")
    where = "" if directory is None else _arguments.path("directory", directory)
    ess, seconds = _until(until)
    rungs, ladder, every = _tempering(tempering)
    line = Line() if progress is True or (progress is None and is_interactive()) else None
    show: Progress | None = line.show if line else progress if callable(progress) else None
    try:
        with model._watched() as watch:
            _warn_of_gradient(model, options["seed"])
            sampled: _emomc.Draws = model._posterior.sample(
                **options,
                until_ess=ess,
                until_seconds=seconds,
                rungs=rungs,
                ladder=ladder,
                every=every,
                directory=where,
                existing="resume" if resume else "overwrite" if overwrite else "refuse",
                progress=watch.progress(show),
            )
    finally:
        if line:
            line.end()
    if sampled.interrupted:
        raise Interrupted(Draws(sampled, model) if sampled.num_draws > 0 else None, where)
    result = Draws(sampled, model)
    problems = [finding for finding in result.diagnose() if finding.severity == "problem"]
    if problems:
        message = f"these draws should not be trusted as they are: {problems[0].text} (advice: draws.diagnose())"
        _arguments.warn(message, DrawsWarning)
    return result


def _warn_of_gradient(model: _Density, seed: int) -> None:
    """Warns if a gradient that is a function of the user disagrees with differences of the log density."""
    function = getattr(model, "_function", None)
    if function is None or function.gradient_by != "function":
        return
    try:
        check = model.check_gradient(model.initial(seed))
    except InputError:  # The density is not finite there; sampling reports this if it matters.
        return
    if not check.agrees:
        _arguments.warn(
            f"gradient: at a draw from the prior, element {check.worst} of the derivatives with respect to u is "
            f"{check.derivative:.6g}, and differences of log_density give {check.difference:.6g}; the draws follow "
            "log_density whatever the gradient is, but a wrong one makes them slow"
        )


def _until(until: Mapping[str, float] | None) -> tuple[float, float]:
    """Returns the effective sample size and the seconds that end a run; 0: this condition is not given."""
    given = _arguments.mapping("until", until, "ess and seconds")
    if unknown := set(given) - {"ess", "seconds"}:
        raise ValueError(f"until: {', '.join(sorted(unknown))} is unknown; allowed: ess, seconds")
    for name in given:
        given[name] = _arguments.real(f"until.{name}", given[name])
        if not given[name] > 0:
            raise InputError(f"until.{name}: {given[name]:g} is out of range; allowed: above 0")
    return given.get("ess", 0.0), given.get("seconds", 0.0)


def _tempering(tempering: int | Mapping[str, Any] | None) -> tuple[int, list[float], int]:
    """Returns the number of rungs, their powers (empty: adaptive), and the steps between exchanges (0: chosen)."""
    if tempering is None:
        return 1, [], 0
    if not isinstance(tempering, Mapping):
        return _arguments.integer("tempering.rungs", tempering, 1, MOST_INT), [], 0
    if unknown := set(tempering) - {"rungs", "ladder", "every"}:
        raise ValueError(f"tempering: {', '.join(sorted(map(str, unknown)))} is unknown; allowed: rungs, ladder, every")
    ladder, every = tempering.get("ladder", "adaptive"), tempering.get("every", "auto")
    if isinstance(ladder, str):
        if ladder != "adaptive":
            raise ValueError(f'tempering: a ladder of {ladder!r}; allowed: "adaptive", or a list of powers')
        ladder = []
    powers = [_arguments.real("tempering.ladder", power) for power in _arguments.elements("tempering.ladder", ladder, "powers")]
    if isinstance(every, str) and every == "auto":
        every = 0
    elif (every := _arguments.integer("tempering.every", every)) < 1:
        raise ValueError(f'tempering: exchanges every {every} steps; allowed: "auto", or 1 or more')
    if "rungs" not in tempering and not powers:
        raise ValueError("tempering: it has no rungs; allowed: their number, or a ladder of powers")
    return _arguments.integer("tempering.rungs", tempering.get("rungs", len(powers)), 1, MOST_INT), powers, every
