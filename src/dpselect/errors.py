"""One class for each thing a caller would do next. No message ever carries a score."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Self

SHOWN_CHARACTERS = 40


class DpselectError(Exception):
    """Whatever dpselect refuses."""


class InvalidParameter(DpselectError, ValueError, TypeError):
    """Correct the argument and call again; nothing was read, drawn or charged.

    Wrong type or wrong value, the remedy is the same: so it is both a ValueError and a TypeError.
    """

    @classmethod
    def must_be(cls, name: str, what: str, *, got: object, way_out: str = "") -> Self:
        """Give the house sentence: name must be what; got value. The way out."""
        return cls(f"{name} must be {what}; got {shown(got)}.{' ' if way_out else ''}{way_out}")


class OutsideDomain(DpselectError, ValueError):
    """The input is not of the domain that the measurement was made for: fix the data or the domain."""


class IncomparableLosses(DpselectError, TypeError):
    """Two guarantees of different kinds met: convert one of them first."""


class RandomnessFailed(DpselectError, OSError):
    """The system gave no randomness: repair the system. Nothing was released."""

    def __init__(self) -> None:
        """Say the one constant sentence."""
        super().__init__("the system's source of randomness failed; nothing was released.")


class ReleaseFailed(DpselectError, RuntimeError):
    """The function of a measurement raised. What it said is not repeated: it may have seen data."""

    def __init__(self) -> None:
        """Say the one constant sentence."""
        super().__init__(
            "the function of the measurement failed; nothing was released, and what was paid stays paid. "
            "Its message is withheld, because it may hold data: try the function on made-up data."
        )


class MalformedRelease(ReleaseFailed):
    """A measurement to select from released something else than a pair with a score: mend its function."""

    def __init__(self) -> None:
        """Say the one constant sentence."""
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
