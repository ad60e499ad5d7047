"""Scores of the caller's own, with a sensitivity that is claimed; and problems without data, for planning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

from dpselect.errors import InvalidParameter, ReleaseFailed, shown
from dpselect.exact.numbers import Number, positive, whole
from dpselect.privacy.vectors import Values, as_vector
from dpselect.problems.candidates import Grid, listed, named_order
from dpselect.problems.problem import Problem
from dpselect.silence import holds_data, run_or_none, takes_data

SHOWN_CANDIDATES = 20
"""Candidates that a refusal lists."""


@holds_data
@dataclass(frozen=True, eq=False)
class Scores:
    """Private scores, in the order of the candidates or by their names; or a function that computes them.

    A dict goes by its keys, a pandas Series by its index, unless that only counts 0, 1, 2, ... Everything
    else is in the order in which the candidates were given, that of ``problem.outputs``. A function is called
    once, after the charge; it may give all of these, or an iterator of arrays (Arrow's too) for more scores
    than can be held.

    >>> Scores([31, 17]), Scores({"tea": 31, "soup": 17})
    (<2 private scores>, <2 private scores>)
    """

    source: Any = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse what is neither scores nor a function."""
        if not callable(self.source) and _vector(self.source) is None:
            raise InvalidParameter(
                "scores must be an array, a list, a dict or a function that gives one; "
                f"got a {type(self.source).__name__}."
            )

    def __repr__(self) -> str:
        return "<private scores>" if callable(self.source) else f"<{len(self.source)} private scores>"

    def __reduce__(self) -> str:
        raise TypeError("private scores are not pickled.")

    @takes_data
    def must_fit(self, outputs: Sequence[object]) -> None:
        """Refuse, before any charge, other names than those of the candidates, or another number of scores.

        Which name does not fit is not said: names may have been taken from the data.
        """
        if callable(self.source):
            return
        names = _names(self.source)
        if names is None:
            if len(self.source) != len(outputs):
                raise InvalidParameter(f"scores must be {len(outputs)} in number, one for each candidate.")
        elif named_order(outputs, names) is None:
            more = ["…"] if len(outputs) > SHOWN_CANDIDATES else []
            first = ", ".join([*map(shown, outputs[:SHOWN_CANDIDATES]), *more])
            raise InvalidParameter(
                "scores with names must name each candidate once, and nothing else; "
                f"the candidates are: {first}."
            )

    def ordered(self, outputs: Sequence[object]) -> Any:
        """Give the scores in the order of the candidates: at once, or of a function in chunks."""
        return self.chunks(outputs) if callable(self.source) else _ordered(self.source, outputs)

    def chunks(self, outputs: Sequence[object]) -> Iterator[Any]:
        """Give the scores, one array after another; what a function raises, it raises here."""
        source: Any = self.source() if isinstance(self.source, Callable) else self.source  # type: ignore[arg-type]  # callable
        if _vector(source) is not None:
            yield _ordered(source, outputs)
            return
        for batch in source:
            yield from _columns(batch)


def _vector(source: object) -> Values | None:
    # A mapping of the caller's own may fail, with data in its words.
    values = run_or_none(lambda: list(source.values())) if isinstance(source, Mapping) else source
    return as_vector(values)


def _names(source: object) -> list[object] | None:
    """Give the names that scores go by; None if they go by their order."""
    if isinstance(source, Mapping):
        return list(source)
    if not any(kind.__name__ == "Series" and _home(kind) == "pandas" for kind in type(source).__mro__):
        return None
    index = cast("Any", source).index
    counts = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    return None if counts else list(index)


def _home(kind: type) -> str:
    return kind.__module__.split(".")[0]


def _ordered(source: Any, outputs: Sequence[object]) -> Any:
    """Put scores with names into the order of the candidates; leave others as they are."""
    names = _names(source)
    if names is None:
        return source
    order = named_order(outputs, names)
    if order is None:
        raise ReleaseFailed
    if isinstance(source, Mapping):
        values = list(source.values())
        return [values[place] for place in order]
    return source.iloc[order]


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
        ranges, constant = (spread, spread), None
    else:
        change = positive(sensitivity or 0, "sensitivity")
        ranges = constant = (change if monotonic else 2 * change, 2 * change)
    return Problem("custom", names, Fraction(1), ranges, None, None, (), beside_a_constant=constant)


def counting(n: int, *, sensitivity: Number = 1, l1: Number | None = None) -> Problem:
    """Plan a choice among n candidates whose scores are counts: there is no data behind it.

    ``l1`` is how much one person more or fewer can change all scores together (1 in a plurality); None says
    that a person may change any number of them.

    >>> counting(1000).d_range("add_remove")
    Fraction(1, 1)
    """
    count = whole(n, "n", least=1)
    change = positive(sensitivity, "sensitivity")
    candidates = Grid(Fraction(0), Fraction(1), count)
    ranges, together = (change, 2 * change), None if l1 is None else positive(l1, "l1")
    if together is not None and together < change:
        raise InvalidParameter.must_be("l1", "at least the sensitivity of one score", got=l1)
    totals = None if together is None else (together, 2 * together)
    return Problem("counting", candidates, Fraction(1), ranges, None, None, (), totals=totals)
