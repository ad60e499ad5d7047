"""NumPy without warnings of floating-point errors: where floats overflow, exact arithmetic decides."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

_P = ParamSpec("_P")
_R = TypeVar("_R")

_IGNORING = Context()
_IGNORING.run(np.seterr, all="ignore")


def ignore_float_errors(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a function ignore floating-point errors, whatever the caller has set.

    As ``np.errstate`` does, but the settings are made once: entering ``np.errstate`` would slow small draws
    down.
    """

    @wraps(function)
    def ignoring_float_errors(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        return _IGNORING.copy().run(function, *args, **kwargs)

    return ignoring_float_errors
