"""The law of k winners on PUBLIC scores, best first, enclosed between fractions: for a few candidates.

With exponential noise, exp(-(score + noise)) is uniform between 0 and exp(-score): the k winners are the k
smallest of independent uniform numbers, and their law is an integral of piecewise polynomials.

Proof: enclosed_laws.proof.md
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from flint import arb_poly

from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.numbers import Number, whole
from dpselect.utility.public_scores import exact_gaps, labels, spread_of
from dpselect.utility.selection_law import SelectionLaw
from dpselect.utility.worst_case import Noise

Order: TypeAlias = tuple[int, ...]

MOST_OUTCOMES = 5040
"""Ordered outcomes that are enclosed one by one: 7! of them, all orders of 7 candidates."""

MOST_CANDIDATES = 200
"""Eligible candidates of an enclosed law."""


def enclosed_law(public_scores: object, *, noise: Noise, scale: Number, k: int = 1) -> dict[Order, Enclosure]:
    """Enclose the probability of every k winners in order, to a relative 2**-64. Public scores only.

    >>> low, high = enclosed_law([0, -1, -2], noise="exponential", scale=1, k=2)[0, 1]
    >>> round(float(low), 5) == round(float(high), 5) == 0.64042
    True
    """
    behind, spread = exact_gaps(public_scores), spread_of(scale)
    eligible = [i for i, gap in enumerate(behind) if gap is not None]
    winners = whole(k, "k", least=1, most=len(eligible))
    if len(eligible) > MOST_CANDIDATES or math.perm(len(eligible), winners) > MOST_OUTCOMES:
        raise InvalidParameter(
            f"public_scores must have at most {MOST_OUTCOMES} ordered outcomes and {MOST_CANDIDATES} "
            "candidates to be enclosed. Take fewer, or gumbel_law or exponential_law for a single winner."
        )
    if noise not in ("exponential", "gumbel"):
        raise InvalidParameter.must_be("noise", '"exponential" or "gumbel"', got=noise)
    in_scales = {i: gap / spread for i, gap in enumerate(behind) if gap is not None}
    probability = _peeled if noise == "gumbel" else _one_shot
    return {order: probability(in_scales, order) for order in itertools.permutations(eligible, winners)}


def top_k_law(
    public_scores: object, *, noise: Noise, scale: Number, k: int, outputs: Sequence[object] | None = None
) -> SelectionLaw:
    """Give the law of k winners in order as a table, for a few candidates. Public scores only.

    >>> top_k_law([0, -1, -2], noise="gumbel", scale=1, k=2, outputs=["tea", "coffee", "cocoa"])
    Gumbel noise, 2 winners, scale 1; public scores
    output         behind  probability
    tea, coffee         0     0.486330
    coffee, tea         0     0.215556
    tea, cocoa          1     0.178911
    cocoa, tea          1     0.065818
    coffee, cocoa       1     0.029172
    cocoa, coffee       1     0.024213
    """
    enclosed = enclosed_law(public_scores, noise=noise, scale=scale, k=k)
    behind = exact_gaps(public_scores)
    named = labels(outputs, len(behind))
    threshold = sorted(gap for gap in behind if gap is not None)[k - 1]

    def shortfall(order: Order) -> float:
        below = [gap - threshold for i in order if (gap := behind[i]) is not None]
        return float(max([*below, Fraction(0)]))

    name = "Gumbel noise" if noise == "gumbel" else "exponential noise"
    return SelectionLaw(
        f"{name}, {k} winners",
        spread_of(scale),
        tuple(tuple(named[i] for i in order) for order in enclosed),
        tuple(map(shortfall, enclosed)),
        tuple(float((low + high) / 2) for low, high in enclosed.values()),
    )


def _peeled(gaps: dict[int, Fraction], order: Order) -> Enclosure:
    """Multiply the probabilities of k rounds of the exponential mechanism."""

    def formula() -> Ball:
        weights = {i: (-_ball(gap)).exp() for i, gap in gaps.items()}
        result = Ball(1)
        for winner in order:
            result *= weights[winner] / sum(weights.values(), start=Ball(0))
            del weights[winner]
        return result

    return enclose(formula)


def _one_shot(gaps: dict[int, Fraction], order: Order) -> Enclosure:
    """Integrate over the last winner's number: the others of the order are below it, all losers above."""
    steps = sorted(set(gaps.values()))
    level = {i: 1 + steps.index(gap) for i, gap in gaps.items()}

    def formula() -> Ball:
        ends = [Ball(0), *(_ball(step).exp() for step in steps)]
        chain = [arb_poly([1]) for _ in steps]
        for i in order[:-1]:
            chain = _below(chain, ends, level[i])
        *_, last = order
        losers = [i for i in gaps if i not in order]
        losers_above = arb_poly([1])
        for i in losers:
            losers_above *= arb_poly([1, -1 / ends[level[i]]])
        reach = min(level[i] for i in (last, *losers))
        total = sum(
            (_integral(chain[s] * losers_above, ends[s], ends[s + 1]) for s in range(reach)), start=Ball(0)
        )
        return total / ends[level[last]]

    return enclose(formula)


def _below(chain: list[arb_poly], ends: list[Ball], level: int) -> list[arb_poly]:
    """Add one to a chain: the probability that the chain is in order and below v, on each piece of v."""
    pieces, so_far = [], Ball(0)
    for s, piece in enumerate(chain):
        if s < level:
            rising = piece.integral()
            pieces.append((rising - rising(ends[s]) + so_far) * (1 / ends[level]))
            so_far += rising(ends[s + 1]) - rising(ends[s])
        else:
            pieces.append(arb_poly([so_far / ends[level]]))
    return pieces


def _integral(piece: arb_poly, start: Ball, end: Ball) -> Ball:
    rising = piece.integral()
    return rising(end) - rising(start)


def _ball(x: Fraction) -> Ball:
    return Ball(x.numerator) / x.denominator
