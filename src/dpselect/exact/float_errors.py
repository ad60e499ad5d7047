"""NumPy without warnings: where floats overflow or mean nothing, exact arithmetic decides."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

_QUIET = Context()
_QUIET.run(np.seterr, all="ignore")


def quiet(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function ignore floating-point errors, whatever the caller has set.

    As ``np.errstate`` does, but the settings are made once; a small draw notices the difference.
    """

    @wraps(function)
    def quietly(*args: P.args, **kwargs: P.kwargs) -> R:
        return _QUIET.copy().run(function, *args, **kwargs)

    return quietly
