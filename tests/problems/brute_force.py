"""All small data sets: the true range distance of a score, found by trying every pair of neighbours."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

Person = Any
Scores = Sequence[Fraction]


def spread(before: Scores, after: Scores) -> Fraction:
    changes = [later - earlier for earlier, later in zip(before, after, strict=True)]
    return max(changes) - min(changes)


def total(before: Scores, after: Scores) -> Fraction:
    return sum((abs(later - earlier) for earlier, later in zip(before, after, strict=True)), Fraction(0))


def ranges(
    people: Iterable[Person],
    score: Callable[[Sequence[Person]], Scores],
    size: int,
    distance: Callable[[Scores, Scores], Fraction] = spread,
) -> tuple[Fraction, Fraction]:
    """Give the largest distance by adding one and by changing one, over all multisets up to a size."""
    kinds = list(people)
    added = changed = Fraction(0)
    for count in range(size):
        for others in combinations_with_replacement(kinds, count):
            alone = score(others)
            joined = [score([*others, person]) for person in kinds]
            added = max(added, *(distance(alone, one) for one in joined))
            changed = max(changed, *(distance(one, another) for one in joined for another in joined))
    return added, changed
