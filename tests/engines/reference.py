"""Bounded grouped counts and scores once more, in plain Python, sharing no code with the engines."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
SALT = bytes(range(16))
_group: list[int] = []
"""The group whose rows are being scored: choices in it are its own."""


@contextmanager
def within_group(place: int) -> Iterator[None]:
    """Score the rows of one group."""
    _group[:] = [place]
    try:
        yield
    finally:
        _group.clear()


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
        if distinct and most == 1:
            free = {keys: keys[len(inside) :] for keys in mine}
            beside = (*inside, *_group)
            result.append(min(mine, key=lambda keys: (turn(person, free[keys], beside, salt), free[keys])))
            continue
        alike = sorted(set(mine) if distinct else mine)
        turns = []
        for number, keys in enumerate(alike, start=1):
            text = ":".join([salt.hex(), str(person), *map(str, (*inside, *_group)), str(number)])
            turns.append((hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(), number, keys))
        result += [keys for _, _, keys in sorted(turns)[: len(turns) if most is None else most]]
    return result


def turn(person: Any, values: tuple[Any, ...], inside: tuple[int, ...], salt: bytes) -> int:
    """Give the priority of one row of a person, of those that agree on what is inside."""
    secrets = (
        int.from_bytes(hashlib.sha256(f"{salt.hex()}:{number}".encode()).digest()[:8]) >> 1
        for number in range(100)
    )
    first, second = 2**31 - 1, 2**31 - 19
    terms: list[int] = []
    for place, part in enumerate([person, *values, *inside, person]):
        hidden = word(part) ^ next(secrets)
        left = remainder(hidden, second if place else first)
        terms.append(left * (2**29 + next(secrets) % 2**29))
        if place == 1:
            terms = [sum(terms)]
        elif place > 1:
            mixed = ((terms[0] ^ next(secrets)) & (2**63 - 1)) % first * (2**29 + next(secrets) % 2**29)
            terms = [mixed + terms[1]]
    mixed = ((terms[0] ^ next(secrets)) & (2**63 - 1)) % first * (2**29 + next(secrets) % 2**29)
    return mixed % second


def word(value: Any) -> int:
    """Give the whole number of 64 bits that stands for a value."""
    if isinstance(value, Decimal):
        return int(value * 100)  # the tests have two digits after the point
    if isinstance(value, float):
        if abs(value) < 2.0**-130:
            return 0
        if abs(value) >= 2.0**130:
            return 1 if value > 0 else 2
        band = (math.frexp(value)[1] - 1) // 10
        return int(value * 2.0 ** (52 - 10 * band)) + band * 0x9E3779B97F4A7
    text = str(value)
    if text.lstrip("-").isdigit() and text.isascii() and str(int(text)) == text and abs(int(text)) < 2**63:
        return int(text)
    return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:-15:-1], 16)


def remainder(number: int, prime: int) -> int:
    """Give the remainder that has the sign of the number."""
    return number % prime if number >= 0 else -(-number % prime)


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


Placed = list[tuple[Row, int]]


def split_rows(rows: Sequence[Row], column: str, separator: str, names: list[str], *, fold: bool) -> Placed:
    """Give each row with the place of each different name in its cell."""
    found = []
    for row in rows:
        parts = {part.strip() for part in (row[column] or "").split(separator)}
        parts = {part.lower() for part in parts} if fold else parts
        found += [(row, place) for place, name in enumerate(names) if name in parts]
    return found


def ticked_rows(rows: Sequence[Row], columns: Sequence[str]) -> Placed:
    return [(row, place) for row in rows for place, name in enumerate(columns) if _is_ticked(row[name])]


def _is_ticked(cell: Any) -> bool:
    if isinstance(cell, str):
        text = cell.strip().lower()
        zero = text not in ("", "no", "false", "nan") and set(text.partition("e")[0]) <= set("+-0.")
        return text not in ("", "no", "false", "nan") and not zero
    return not (cell is None or cell == 0 or cell is False or (isinstance(cell, float) and math.isnan(cell)))


def placed_tally(
    placed: Callable[[], Placed], unit: str | None, places: int, *, distinct: bool, most: int | None
) -> list[int]:
    found = [
        (None if unit is None else row[unit], (place,))
        for row, place in placed()
        if unit is None or row[unit] is not None
    ]
    counts = Counter(kept(found, distinct=distinct, most=most))
    return [counts[(place,)] for place in range(places)]


def ballots(
    rows: Sequence[Row], unit: str | None, columns: Sequence[str], names: list[str], *, fold: bool
) -> list[int]:
    found = []
    for row in rows:
        cells = [row[column] for column in columns]
        cells = [cell if cell is None or not fold else cell.strip().lower() for cell in cells]
        ballot = tuple(1 + names.index(cell) if cell in names else 0 for cell in cells)
        if max(ballot) > 0 and (unit is None or row[unit] is not None):
            found.append((None if unit is None else row[unit], ballot))
    scores = [0] * len(names)
    for ballot in kept(found, distinct=True, most=1):
        for place in {*ballot} - {0}:
            scores[place - 1] += len(names) - 1 - ballot.index(place)
    return scores
