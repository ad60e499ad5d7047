"""Running what holds data, and keeping of its failure nothing but the fact.

The words of an engine quote rows, and the frames of its error hold them. So the error is let go of here, and
the caller raises a fresh one from a frame that holds no data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dpselect.errors import DpselectError

Result = TypeVar("Result")


def quietly(
    action: Callable[[], Result], refusal: Callable[[], DpselectError]
) -> tuple[Result, None] | tuple[None, BaseException]:
    """Run an action; give its result, or the fresh error that the caller is to raise.

    >>> quietly(lambda: 1 // 0, lambda: DpselectError("it failed."))
    (None, DpselectError('it failed.'))
    """
    try:
        return action(), None
    except KeyboardInterrupt:
        return None, KeyboardInterrupt()
    except Exception:  # noqa: BLE001 - its type, text and frames may hold data
        return None, refusal()
