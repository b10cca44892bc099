"""The interface that estimators share with those of scikit-learn."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Self

from . import _arguments, _emomc


class Estimator:
    """Base of estimators, whose constructor stores each argument as an attribute of the same name."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the arguments of the constructor by name. `deep` has no effect."""
        names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params: Any) -> Self:
        """Sets arguments of the constructor. Raises ValueError for an unknown name."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{name} is no parameter of {type(self).__name__}; allowed: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Returns the attributes, for pickle and copy. Raises TypeError for objects of the C++ library."""
        state = dict(vars(self))
        if "_model" in state:
            raise TypeError(f"a fitted {type(self).__name__} cannot be pickled; use its methods save and load")
        if state.get("draws_") is not None:
            raise TypeError("draws cannot be pickled; write them by fit_posterior(X, directory=...), for emomc.read_run")
        return state


def not_fitted(name: str, method: str) -> Exception:
    """Returns scikit-learn's NotFittedError if scikit-learn is imported, otherwise an InputError."""
    message = f"this {name} instance is not fitted yet; call {method} first"
    if "sklearn" in sys.modules:
        from sklearn.exceptions import NotFittedError

        return NotFittedError(message)  # type: ignore[no-any-return]
    return _emomc.InputError(message)


def seed_of(random_state: Any) -> int:
    """Returns the seed of a `random_state`; None: 20260101.

    Raises InputError if it is no integer of 0 to 2^64 - 1.
    """
    if random_state is None:
        return 20260101
    try:
        return _arguments.integer("random_state", random_state, 0, _arguments.MOST_SEED)
    except (TypeError, _emomc.InputError):
        allowed = "an integer of 0 to 2^64 - 1, or None"
        raise _emomc.InputError(f"random_state: {random_state!r}; allowed: {allowed}") from None


def numbers_of(name: str, values: Any) -> list[float]:
    """Returns a list of numbers. Raises InputError if `values` is none."""
    try:
        return [_arguments.real(name, value) for value in _arguments.elements(name, values, "numbers")]
    except TypeError:
        raise _emomc.InputError(f"{name}: {values!r}; allowed: a list of numbers") from None
