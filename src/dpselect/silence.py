"""Run what holds data; if it fails, drop its error with all frames, and raise a fresh one.

An error remembers more than it says: its frames hold the scores or rows it failed on, and so do the errors
behind it; an engine's words quote rows. The only place where a failure near data becomes a refusal is here.

The frame that calls ``run`` stays in the traceback. A caller that was given data hands it on in a list and
deletes its own name for it:

>>> def counted(rows):
...     held = [rows]
...     del rows
...     return run(lambda: len(held.pop()) // 0, lambda error: DpselectError("the rows cannot be counted."))
>>> counted(["tea", "pie"])
Traceback (most recent call last):
dpselect.errors.DpselectError: the rows cannot be counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from dpselect.errors import DpselectError, ReleaseFailed, shortage_of

P = ParamSpec("P")
Result = TypeVar("Result")
Class = TypeVar("Class", bound=type)

REFUSING = ("__init__", "__setattr__", "__delattr__", "__reduce__")
"""The methods by which an object that holds data may refuse something."""


def run(action: Callable[[], Result], refusal: Callable[[Exception], BaseException]) -> Result:
    """Give what an action gives; if it fails, raise what ``refusal`` makes of the error, and nothing else.

    ``refusal`` may hand the error back where its words are known to hold no data; it loses its frames and the
    errors behind it. Ctrl-C and the like pass as new exceptions of their own class.
    """
    try:
        return action()
    except Exception as error:  # noqa: BLE001 - its type, text and frames may hold data
        fresh = refusal(error)
    except BaseException as error:  # noqa: BLE001 - Ctrl-C and the end of a tape pass, without what they hold
        fresh = _anew(error)
    del action, refusal
    fresh.__cause__ = fresh.__context__ = None
    raise fresh.with_traceback(None)


def run_or_none(action: Callable[[], Result]) -> Result | None:
    """Give what an action gives; None if it fails."""
    try:
        return action()
    except Exception:  # noqa: BLE001 - its type, text and frames may hold data
        return None


def shortage_or(refusal: Callable[[], DpselectError]) -> Callable[[Exception], DpselectError]:
    """Refuse by what the system ran short of, if that is why an action failed; otherwise by ``refusal``.

    Only before the charge: afterwards, whether memory and files are enough depends on the data.
    """
    return lambda error: shortage_of(error) or refusal()


def takes_data(function: Callable[P, Result]) -> Callable[P, Result]:
    """Let a function that is given data raise its own errors without the frames that hold them."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> Result:
        held = [partial(function, *args, **kwargs)]
        del args, kwargs
        return run(held.pop(), _itself)

    return called


def holds_data(kind: Class) -> Class:
    """Let the objects of a class refuse without what they hold: a dataclass's own methods would keep it."""
    for name in REFUSING:
        if name in vars(kind):
            setattr(kind, name, takes_data(vars(kind)[name]))
    return kind


def _itself(error: Exception) -> Exception:
    return error


def _anew(error: BaseException) -> BaseException:
    """Make an exception of the same class, which knows nothing; one that cannot be made so is not kept."""
    kind: Any = type(error)
    return run_or_none(kind) or ReleaseFailed()
