"""Running what holds data, and keeping of its failure nothing but the fact.

The words of an engine quote rows, and the frames of its error hold them. So the error is let go of here, and
the caller raises a fresh one from a frame that holds no data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from dpselect.errors import DpselectError, ReleaseFailed, shortage_of

P = ParamSpec("P")
Result = TypeVar("Result")
Class = TypeVar("Class", bound=type)

REFUSING = ("__init__", "__setattr__", "__delattr__", "__reduce__")
"""The methods by which an object that holds data may refuse something."""


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


def let_go(function: Callable[P, Result]) -> Callable[P, Result]:
    """Let a function that takes data refuse from a frame that no longer holds what it was given."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> Result:
        held: list[Any] = [(args, kwargs)]
        del args, kwargs
        result, refusal = _attempted(function, held)
        if refusal is not None:
            raise refusal
        return cast("Result", result)

    return called


def _attempted(function: Callable[..., Any], held: list[Any]) -> tuple[Any, BaseException | None]:
    """Give the result, or the refusal without the frames and errors behind it, which hold the data."""
    args, kwargs = held.pop()
    try:
        return function(*args, **kwargs), None
    except Exception as error:  # noqa: BLE001 - raised again
        error.__cause__ = error.__context__ = None
        return None, error.with_traceback(None)
    except BaseException as error:  # noqa: BLE001 - Ctrl-C passes, without what it holds
        kind = type(error)
    try:
        return None, kind()
    except Exception:  # noqa: BLE001 - an exception that cannot be made anew cannot be made clean
        return None, ReleaseFailed()


def holds_data(kind: Class) -> Class:
    """Let the objects of a class refuse without what they hold: a dataclass's own methods would keep it."""
    for name in REFUSING:
        if name in vars(kind):
            setattr(kind, name, let_go(vars(kind)[name]))
    return kind
