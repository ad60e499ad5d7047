"""Scores of the caller's own, with a sensitivity that is claimed; and problems without data, for planning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, positive, whole
from dpselect.privacy.vectors import as_vector
from dpselect.problems.candidates import Grid, listed
from dpselect.problems.problem import Problem
from dpselect.silence import holds_data


@holds_data
@dataclass(frozen=True, eq=False)
class Scores:
    """Private scores, in the order of the problem's outputs; or a function that computes them when asked.

    The function is called once, after the charge. It may give an array, or an iterator of arrays (Arrow's
    too) for more scores than can be held. The order is that of ``problem.outputs``.

    >>> Scores([31, 17])
    <2 private scores>
    """

    source: Any = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse what is neither scores nor a function."""
        if not callable(self.source) and as_vector(self.source) is None:
            raise InvalidParameter(
                "scores must be an array, a list or a function that gives one; "
                f"got a {type(self.source).__name__}."
            )

    def __repr__(self) -> str:
        return "<private scores>" if callable(self.source) else f"<{len(self.source)} private scores>"

    def __reduce__(self) -> str:
        raise TypeError("private scores are not pickled.")

    def chunks(self) -> Iterator[Any]:
        """Give the scores, one array after another; what a function raises, it raises here."""
        source: Any = self.source() if isinstance(self.source, Callable) else self.source  # type: ignore[arg-type]  # callable
        if as_vector(source) is not None:
            yield source
            return
        for batch in source:
            yield from _columns(batch)


def _columns(batch: Any) -> Iterable[Any]:
    """See a batch of Arrow as its one column."""
    columns = getattr(batch, "columns", None)
    return [batch] if columns is None else [column.to_numpy(zero_copy_only=False) for column in columns]


def custom(
    *,
    candidates: object = None,
    sensitivity: Number | None = None,
    monotonic: bool = False,
    range_sensitivity: Number | None = None,
) -> Problem:
    """Ask which candidate has the highest score of your own: ``select(problem, Scores(...))``.

    ``sensitivity``: how much one person can change any one score, under the relation that you select with.
    ``monotonic``: who is added lowers no score; that halves the range for add_remove, not for change_one,
    where one person goes and another comes. ``range_sensitivity``: max change - min change, directly.
    All of it is your claim; nothing here can check it.

    >>> custom(candidates=["a", "b"], sensitivity=1, monotonic=True).d_range("add_remove")
    Fraction(1, 1)
    """
    names = listed(candidates)
    if not isinstance(monotonic, bool):
        raise InvalidParameter.must_be("monotonic", "True or False", got=monotonic)
    if (sensitivity is None) == (range_sensitivity is None):
        raise InvalidParameter("custom takes sensitivity= or range_sensitivity=; give exactly one of them.")
    if range_sensitivity is not None:
        if monotonic:
            raise InvalidParameter(
                "monotonic belongs to sensitivity=; range_sensitivity= needs no such word."
            )
        spread = positive(range_sensitivity, "range_sensitivity")
        ranges = (spread, spread)
    else:
        change = positive(sensitivity or 0, "sensitivity")
        ranges = (change if monotonic else 2 * change, 2 * change)
    return Problem("custom", names, Fraction(1), ranges, None, None, ())


def counting(n: int, *, sensitivity: Number = 1) -> Problem:
    """Plan a choice among n candidates whose scores are counts: there is no data behind it.

    >>> counting(1000).d_range("add_remove")
    Fraction(1, 1)
    """
    count = whole(n, "n", least=1)
    change = positive(sensitivity, "sensitivity")
    candidates = Grid(Fraction(0), Fraction(1), count)
    return Problem("counting", candidates, Fraction(1), (change, 2 * change), None, None, ())
