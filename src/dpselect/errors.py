"""One class for each thing a caller would do next. No message ever carries a score."""

from __future__ import annotations

import errno
import os
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

SHOWN_CHARACTERS = 40
"""Characters of a parameter that an error shows."""
SHORTAGES = {
    errno.EMFILE: "file descriptors for this process",
    errno.ENFILE: "file descriptors",
    errno.ENOMEM: "memory",
}
"""What a system can run out of through no fault of a file or a table, by the number of its error."""
MOST_CAUSES = 10
"""Errors behind an error: how far back the reason of a failure is looked for."""


class DpselectError(Exception):
    """Whatever dpselect refuses."""


class InvalidParameter(DpselectError, ValueError, TypeError):
    """Correct the argument and call again; nothing was read, drawn or charged.

    Wrong type or wrong value, the remedy is the same: so it is both a ValueError and a TypeError.
    ``parameter`` is the name of the argument, where it is known.
    """

    def __init__(self, sentence: str = "", *, parameter: str | None = None) -> None:
        super().__init__(sentence)
        self.parameter = parameter

    @classmethod
    def must_be(cls, name: str, what: str, *, got: object, way_out: str = "") -> Self:
        """Give the house sentence: name must be what; got value. The way out."""
        sentence = f"{name} must be {what}; got {shown(got)}.{' ' if way_out else ''}{way_out}"
        return cls(sentence, parameter=name)


class OutsideDomain(DpselectError, ValueError):
    """The input is not of the domain that the measurement was made for: fix the data or the domain."""


class IncomparableLosses(DpselectError, TypeError):
    """Two guarantees of different kinds met: convert one of them first."""


class RandomnessFailed(DpselectError, OSError):
    """The system gave no randomness: repair the system. Nothing was released."""

    def __init__(self) -> None:
        super().__init__("the system's source of randomness failed; nothing was released.")


class ReleaseFailed(DpselectError, RuntimeError):
    """The function of a measurement raised. What it said is not repeated: it may have seen data."""

    def __init__(self) -> None:
        super().__init__(
            "the function of the measurement failed; nothing was released, and what was paid stays paid. "
            "Its message is withheld, because it may hold data: try the function on made-up data."
        )


class BudgetExhausted(DpselectError):
    """The ledger cannot afford it: ask for less, or stop. Nothing was charged, nothing was read.

    ``cost``, ``remaining`` and ``budget`` are losses of one kind; what is left is rounded down. ``where``
    says of what it is left, if not of the whole budget: then ``budget`` may be the share of an account.
    """

    def __init__(self, reason: str, cost: Any, remaining: Any, budget: Any, where: str = "") -> None:
        left = remaining.readable(rounded="down")
        super().__init__(f"{shown(reason)} costs {cost}; {left} of {budget.readable()} is left{where}.")
        self.reason, self.cost, self.remaining, self.budget = reason, cost, remaining, budget
        self.where = where

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self.reason, self.cost, self.remaining, self.budget, self.where)


class AlreadyCharged(DpselectError):
    """The request was charged before: give out its stored answer, or ask anew under another id."""

    def __init__(self, request_id: str, entry: object) -> None:
        super().__init__(
            f"request {shown(request_id)} is already charged, as entry {getattr(entry, 'number', entry)}. "
            "Give out its stored answer, if there is one; a new draw needs a new request_id."
        )
        self.request_id, self.entry = request_id, entry

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self.request_id, self.entry)


class AlreadyAnswered(DpselectError):
    """The request has its answer: give out that one."""

    def __init__(self, request_id: str) -> None:
        super().__init__(f"request {shown(request_id)} has its answer already. Give out the stored one.")
        self.request_id = request_id

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self.request_id,)


class LedgerDamaged(DpselectError):
    """The ledger is not what was written: stop, keep the files, and find out. It accepts no charge.

    ``entry`` is the number of the first bad entry, 0 for the header, None where no entry can be named.
    """

    def __init__(self, what: str = "the ledger is damaged.", *, entry: int | None = None) -> None:
        super().__init__(what)
        self.entry = entry

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, {"entry": self.entry}


class LedgerUnavailable(DpselectError, OSError):
    """The ledger could not be read or written just now: repair the cause and try again; release nothing."""


class TableUnreadable(DpselectError, RuntimeError):
    """The rows of a table could not be read: repair the table. What the engine said may hold rows."""

    def __init__(self) -> None:
        super().__init__(
            "the rows of the table must be readable as its schema says; the engine failed on them. "
            "Nothing was released, and what was paid stays paid. Its message is withheld, because it may "
            "quote them: look for broken rows (a CSV row with more or fewer fields than the header, text "
            "that is not UTF-8, a file cut short), or for a lack of memory. If a CSV is in another encoding, "
            'name it: encoding="utf-16", or encoding="cp1252".'
        )


class ScoresUnreadable(TableUnreadable):
    """The scores of a file could not be read: repair the file. Nothing that was read is told."""

    def __init__(self) -> None:
        RuntimeError.__init__(
            self,
            "the file of scores must hold one number for each candidate, under the columns that were named, "
            "if any were; it does not, or it could not be read. Nothing was released, and what was paid "
            "stays paid. What is wrong is withheld, because it would tell what the file holds.",
        )


class Shortage(DpselectError, OSError):
    """The system ran out of something before anything was charged: free some of it and call again."""

    def __init__(self, number: int = errno.ENOMEM) -> None:
        super().__init__(
            f"the system must have {SHORTAGES[number]} left; it has not. Nothing was charged, nothing was "
            "released. Close other programs, or raise the limit (ulimit), and try again."
        )
        self.errno = number

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.errno,)


class MissingExtra(DpselectError, ImportError):
    """An optional package is needed that is not installed: install it and call again."""

    @classmethod
    def needed(cls, what: str, *, extra: str) -> Self:
        """Give the one sentence, with the command."""
        return cls(f"{what} needs a package that is not installed. Run: pip install 'dpselect[{extra}]'")


class RequestChanged(DpselectError, ValueError):
    """The request id belongs to another question: ask that question again, or choose a new id."""

    def __init__(self, request_id: str) -> None:
        super().__init__(
            f"request {shown(request_id)} was made for another question or price, and is paid for. "
            "Ask the same question again to get its answer, or choose a new request_id."
        )
        self.request_id = request_id

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self.request_id,)


class AnswerLost(DpselectError):
    """The request was paid for and has no answer: it failed, or is not finished. Ask under a new id."""

    def __init__(self, request_id: str) -> None:
        super().__init__(
            f"request {shown(request_id)} is paid for, but has no answer: it failed, or is not finished. "
            "What is paid stays paid; a new draw needs a new request_id."
        )
        self.request_id = request_id

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self.request_id,)


class UnmeteredRelease(UserWarning):
    """A release was charged to no ledger: what has been released is not added up."""


class DoubtfulDecimals(UserWarning):
    """Numbers are read with a decimal point, in a file that looks as if they had a comma: say which."""


class MalformedRelease(ReleaseFailed):
    """A measurement to select from released something else than a pair with a score: correct its function."""

    def __init__(self) -> None:
        RuntimeError.__init__(
            self,
            "the measurement must release a tuple (score, candidate) whose score is a real number; "
            "nothing was released, and what was paid stays paid. "
            "What it did release is withheld: try its function on made-up data.",
        )


class MayNeverEnd(UserWarning, RuntimeWarning):
    """What was built runs until it succeeds, and nothing promises that it ever does."""


def shown(value: object) -> str:
    """Show a parameter in an error: a plain scalar in at most 40 characters, anything else by its type.

    >>> shown("0,5"), shown(10**100), shown([31337])
    ("'0,5'", 'an integer of 333 bits', 'a list')
    """
    if isinstance(value, bool | type(None)):
        return repr(value)
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, Fraction) and (abs(value.numerator) | value.denominator).bit_length() > 128:
        return "a long fraction"
    for kind in (int, float, str, Decimal, Fraction):
        if isinstance(value, kind):
            if isinstance(value, str):
                value = str(value)[: SHOWN_CHARACTERS + 1]
            text = kind.__repr__(value) if kind in (int, float, str) else str(value)
            return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
    name = type(value).__name__[:SHOWN_CHARACTERS]
    return f"{'an' if name[:1].lower() in tuple('aeiou') else 'a'} {name}"


def visible(text: str) -> str:
    r"""Write text so that no screen obeys it: control, escape and bidirectional characters by their numbers.

    >>> visible("a\x1b[31m\u202eb é\n")
    'a\\x1b[31m\\u202eb é\\n'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def shortage_of(error: BaseException) -> Shortage | None:
    """Say afresh what the system ran out of, if that is why something failed; None if it is not.

    Only before the charge: afterwards, whether memory is enough depends on the data.
    """
    seen: BaseException | None = error
    for _ in range(MOST_CAUSES):
        if seen is None:
            break
        number = _lacking(seen)
        if number is not None:
            return Shortage(number)
        seen = seen.__cause__ or seen.__context__
    return None


def _lacking(error: BaseException) -> int | None:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":  # DuckDB's
        return errno.ENOMEM
    if isinstance(error, OSError) and error.errno in SHORTAGES:
        return error.errno
    # A shared library that cannot be loaded, and a file that DuckDB cannot open, say why in words alone.
    if isinstance(error, ImportError) or type(error).__name__ == "IOException":
        said = str(error)
        words = {**{os.strerror(each): each for each in SHORTAGES}, "failed to map segment": errno.ENOMEM}
        return next((number for word, number in words.items() if word in said), None)
    return None
