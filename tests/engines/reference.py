"""Bounded grouped counts and scores once more, in plain Python, sharing no code with the engines."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
SALT = bytes(range(16))


def kept(
    rows: Iterable[tuple[Any, tuple[Any, ...]]],
    *,
    distinct: bool,
    most: int | None,
    within: Callable[[tuple[Any, ...]], tuple[int, ...]] = lambda _: (),
    salt: bytes = SALT,
) -> list[tuple[Any, ...]]:
    """Keep ``most`` rows of each person, in the order of the hash; None is a person of their own."""
    groups: dict[tuple[Any, tuple[int, ...]], list[tuple[Any, ...]]] = defaultdict(list)
    result = []
    for person, keys in rows:
        if person is None:
            result.append(keys)
        else:
            groups[person, within(keys)].append(keys)
    for (person, inside), mine in groups.items():
        alike = sorted(set(mine) if distinct else mine)
        turns = []
        for number, keys in enumerate(alike, start=1):
            text = ":".join([salt.hex(), str(person), *map(str, inside), str(number)])
            turns.append((hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(), number, keys))
        result += [keys for _, _, keys in sorted(turns)[: len(turns) if most is None else most]]
    return result


def people(
    rows: Sequence[Row], unit: str | None, columns: Sequence[str]
) -> list[tuple[Any, tuple[Any, ...]]]:
    """Give each row as (person, keys), without those that miss something."""
    found = []
    for row in rows:
        keys = tuple(row[column] for column in columns)
        absent = any(key is None or (isinstance(key, float) and math.isnan(key)) for key in keys)
        if not absent and (unit is None or row[unit] is not None):
            found.append((None if unit is None else row[unit], keys))
    return found


def value(given: Any) -> Fraction:
    """Read a number exactly; an infinite one as one beyond everything."""
    if isinstance(given, float | Decimal) and math.isinf(given):
        return Fraction(10**500 if given > 0 else -(10**500))
    return Fraction(given)


def tally(  # noqa: PLR0913 - what a tally depends on
    rows: Sequence[Row],
    unit: str | None,
    column: str,
    outputs: Sequence[Any],
    *,
    distinct: bool,
    most: int | None,
) -> list[int]:
    places = {candidate: place for place, candidate in enumerate(outputs)}
    listed = [(person, (places[key],)) for person, (key,) in people(rows, unit, [column]) if key in places]
    counts = Counter(kept(listed, distinct=distinct, most=most))
    return [counts[(place,)] for place in range(len(outputs))]


def borda(
    rows: Sequence[Row], unit: str | None, columns: tuple[str, str], outputs: Sequence[Any]
) -> list[int]:
    places = {candidate: place for place, candidate in enumerate(outputs)}
    size = len(outputs)
    ranked = [
        (person, (places[name], int(rank) - 1))
        for person, (name, rank) in people(rows, unit, columns)
        if name in places and rank in range(1, size + 1)
    ]
    scores = [0] * size
    for place, rank in kept(ranked, distinct=True, most=1, within=lambda keys: keys[:1]):
        scores[place] += size - 1 - rank
    return scores


def amounts(rows: Sequence[Row], unit: str | None, column: str) -> list[Fraction]:
    found = kept(people(rows, unit, [column]), distinct=True, most=1)
    return [value(amount) for (amount,) in found]


def revenue(amounts: list[Fraction], prices: Sequence[Fraction]) -> list[Fraction]:
    return [price * sum(amount >= price for amount in amounts) for price in prices]


def closeness(amounts: list[Fraction], at: Fraction, numbers: Sequence[Fraction]) -> list[Fraction]:
    """Give minus the people between the ranks of each number and the rank that is asked for."""
    rank = at * len(amounts)
    below = [sum(x < number for x in amounts) for number in numbers]
    up_to = [sum(x <= number for x in amounts) for number in numbers]
    return [
        rank - low if rank < low else high - rank if rank > high else Fraction(0)
        for low, high in zip(below, up_to, strict=True)
    ]


def clamped_sums(
    rows: Sequence[Row],
    unit: str | None,
    columns: tuple[str, str],
    outputs: Sequence[Any],
    bounds: tuple[Fraction, Fraction],
) -> list[Fraction]:
    places = {candidate: place for place, candidate in enumerate(outputs)}
    rated = [
        (person, (places[name], rating))
        for person, (name, rating) in people(rows, unit, columns)
        if name in places
    ]
    scores = [Fraction(0)] * len(outputs)
    for place, rating in kept(rated, distinct=True, most=1, within=lambda keys: keys[:1]):
        scores[place] += min(max(value(rating), bounds[0]), bounds[1])
    return scores
