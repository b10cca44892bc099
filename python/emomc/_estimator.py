"""What estimators with scikit-learn's manners share."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Self

from . import _emomc


class Estimator:
    """Parameters are the arguments of the constructor, which keeps each under its name."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor."""
        names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params: Any) -> Self:
        """Sets parameters of the constructor."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{name} is no parameter of {type(self).__name__}; allowed: {', '.join(known)}")
            setattr(self, name, value)
        return self


def not_fitted(name: str, method: str) -> Exception:
    """scikit-learn's exception where it is in use, else InputError."""
    message = f"this {name} instance is not fitted yet; call {method} first"
    if "sklearn" in sys.modules:
        from sklearn.exceptions import NotFittedError

        return NotFittedError(message)  # type: ignore[no-any-return]
    return _emomc.InputError(message)
