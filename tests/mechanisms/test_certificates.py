"""Neighbours: every pair of score vectors over {0, 1, 2}**3, and the exact laws of the outputs on them.

Laws are walked to within a known remainder, so a ratio is known to lie between two numbers. The lower one
may never be above e**price; the upper one, in its logarithm, never by more than a thousandth; and for some
pair the lower one must reach 0.999 of the price: the price is neither too low nor too high.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache

import pytest

from dpselect.audit import enumerate_law
from dpselect.audit.rounds import enumerate_rounds
from dpselect.exact.enclosures import Enclosure
from tests.mechanisms.makers import exponential_max, gumbel_max

Vector = tuple[int, ...]
EIGHTH = Fraction(1, 8)
GRID = list(itertools.product(range(3), repeat=3))


@cache
def exponential_law(scores: Vector) -> Mapping[int, Enclosure]:
    law = enumerate_law(lambda source: int(exponential_max().draw(scores, source)), 24)
    return {i: Enclosure(low, low + law.unresolved) for i, low in law.lower.items()}


@cache
def gumbel_law(scores: Vector) -> Mapping[int, Enclosure]:
    return enumerate_rounds(lambda source: int(gumbel_max(EIGHTH).draw(scores, source)), 50)


def by_symmetry(law: Callable[[Vector], Mapping[int, Enclosure]], scores: Vector) -> list[Enclosure]:
    """Walk sorted vectors that begin with 0 only: others have the same law (tested below)."""
    order = sorted(range(3), key=scores.__getitem__)
    walked = law(tuple(scores[i] - min(scores) for i in order))
    return [walked[order.index(i)] for i in range(3)]


@pytest.mark.parametrize(
    ("law", "scale", "distance"),
    [(exponential_law, Fraction(1), 1), (exponential_law, Fraction(1), 2), (gumbel_law, EIGHTH, 1)],
    ids=["exponential-1", "exponential-2", "gumbel-1"],
)
def test_no_neighbours_are_told_apart_beyond_the_price_and_some_just_reach_it(
    law: Callable[[Vector], Mapping[int, Enclosure]], scale: Fraction, distance: int
) -> None:
    maker = exponential_max if law is exponential_law else gumbel_max
    assert maker(scale).map(distance) == distance / scale
    price = float(distance / scale)
    reached = 0.0
    for ours, theirs in itertools.product(GRID, repeat=2):
        moves = [b - a for a, b in zip(ours, theirs, strict=True)]
        if max(moves) - min(moves) > distance:
            continue
        for p, q in zip(by_symmetry(law, ours), by_symmetry(law, theirs), strict=True):
            least, most = math.log(p.low / q.high), math.log(p.high / q.low)
            assert least <= price
            assert most <= 1.001 * price
            reached = max(reached, least)
    assert reached >= 0.999 * price


@pytest.mark.parametrize("scores", [(2, 0, 1), (1, 2, 2), (2, 1, 1)], ids=str)
def test_the_laws_of_permuted_and_shifted_scores_are_the_permuted_laws(scores: Vector) -> None:
    for law in (exponential_law, gumbel_law):
        directly = law(scores)
        for i, (low, high) in enumerate(by_symmetry(law, scores)):
            assert directly[i].low <= high
            assert low <= directly[i].high


def test_a_price_one_percent_too_low_would_be_seen() -> None:
    """The certificate bites: what is reached is above 0.99 of the price."""
    ours, theirs = by_symmetry(exponential_law, (0, 0, 0)), by_symmetry(exponential_law, (1, 0, 0))
    assert max(math.log(p.low / q.high) for p, q in zip(ours, theirs, strict=True)) > 0
    ours, theirs = by_symmetry(gumbel_law, (2, 1, 0)), by_symmetry(gumbel_law, (2, 0, 0))
    assert max(math.log(p.low / q.high) for p, q in zip(ours, theirs, strict=True)) > 0.99 * 8
