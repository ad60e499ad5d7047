"""Running what holds data, and keeping of its failure nothing but the fact.

The words of an engine quote rows, and the frames of its error hold them. So the error is let go of here, and
the caller raises a fresh one from a frame that holds no data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dpselect.errors import DpselectError, shortage_of

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


def opening(
    action: Callable[[], Result], refusal: Callable[[], DpselectError]
) -> tuple[Result, None] | tuple[None, BaseException]:
    """Run an action before the charge, as ``quietly`` does; but a system that ran short is told as that.

    After the charge it would not do: how much memory and how many files are needed depends on the data.
    """
    try:
        return action(), None
    except KeyboardInterrupt:
        return None, KeyboardInterrupt()
    except Exception as error:  # noqa: BLE001 - its type, text and frames may hold data
        return None, shortage_of(error) or refusal()
