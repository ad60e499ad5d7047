"""The laws of the mechanisms in closed form, and what an enumerated program of rounds must pass."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import mpmath  # type: ignore[import-untyped] # it comes without types

from dpselect.exact.enclosures import Enclosure
from tests.exact.laws import Rejected, permute_and_flip, product, softmax

Score: TypeAlias = float | Fraction
Order: TypeAlias = tuple[int, ...]
Single: TypeAlias = Callable[[Sequence[Score], Fraction], list[Enclosure]]


def check_rounds(found: Mapping[int, Enclosure], expected: Sequence[Enclosure], within: Fraction) -> None:
    """Accept only if every probability is enclosed, and closely."""
    for i, probability in enumerate(expected):
        low, high = found.get(i, Enclosure(Fraction(0), within))
        if not low <= probability.low <= probability.high <= high:
            raise Rejected(f"the probability of {i} is wrong")
        if not high - low <= within:
            raise Rejected(f"2**{math.log2(high - low):.1f} stays open")


def peeled(single: Single, scores: Sequence[Score], k: int, scale: Fraction) -> dict[Order, Enclosure]:
    """Draw one, remove it, draw again."""
    return {
        order: product(
            single([scores[i] for i in left], scale)[left.index(chosen)]
            for place, chosen in enumerate(order)
            for left in [[i for i in range(len(scores)) if i not in order[:place]]]
        )
        for order in itertools.permutations(range(len(scores)), k)
    }


def gumbel_top_k(scores: Sequence[Score], k: int, scale: Fraction) -> dict[Order, Enclosure]:
    """Peeled softmax (Durfee and Rogers 2019, Lemma 4.2)."""
    return peeled(softmax, scores, k, scale)


def peeled_permute_and_flip(scores: Sequence[Score], k: int, scale: Fraction) -> dict[Order, Enclosure]:
    return peeled(permute_and_flip, scores, k, scale)


def exponential_top_k(scores: Sequence[Score], k: int, scale: Fraction) -> dict[Order, Enclosure]:
    """The ordered k best of score + scale * Exp(1), by integrals over v = exp(-height).

    A candidate s is below v with probability max(0, 1 - v exp(s)). Between the points exp(-s) every integrand
    is a polynomial, and so is its integral: there is no error but that of 30 digits.
    """
    with mpmath.workdps(30):
        tops = [mpmath.exp(_mp(Fraction(score) / scale)) for score in scores]
        return {
            order: _around(_ordered(tops, order)) for order in itertools.permutations(range(len(scores)), k)
        }


def laplace_top_k(scores: Sequence[Score], k: int, scale: Fraction) -> dict[Order, Enclosure]:
    """The ordered k best, k <= 3, of score + scale * Laplace, by quadrature between the scores."""
    with mpmath.workdps(25):
        places = [_mp(Fraction(score) / scale) for score in scores]
        return {
            order: _around(_laplace_ordered(places, order))
            for order in itertools.permutations(range(len(scores)), k)
        }


def _laplace_ordered(places: Sequence[mpmath.mpf], order: Order) -> mpmath.mpf:
    """Integrate over the height of the last of the order; the earlier ones are above it, in their order."""
    ends = [-mpmath.inf, *sorted(set(places)), mpmath.inf]

    def density(i: int, y: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(-abs(y - places[i])) / 2

    def below(i: int, y: mpmath.mpf) -> mpmath.mpf:
        return density(i, y) if y < places[i] else 1 - density(i, y)

    def above(chain: Sequence[int], y: mpmath.mpf) -> mpmath.mpf:
        *before, lowest = chain
        if not before:
            return 1 - below(lowest, y)
        inside = [y, *(end for end in ends if end > y)]
        return mpmath.quad(lambda x: density(lowest, x) * above(before, x), inside)

    *earlier, last = order
    others = [i for i in range(len(places)) if i not in order]
    return mpmath.quad(
        lambda y: (
            density(last, y)
            * (above(earlier, y) if earlier else 1)
            * mpmath.fprod(below(i, y) for i in others)
        ),
        ends,
    )


def _mp(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def _ordered(tops: Sequence[mpmath.mpf], order: Order) -> mpmath.mpf:
    """Integrate over the height of the last of the order; the earlier ones are above it, in their order."""
    ends = [mpmath.mpf(0), *sorted({1 / top for top in tops})]
    pieces = [[mpmath.mpf(1)] for _ in ends[1:]]
    for i in order[:-1]:
        pieces = _integral(pieces, ends, tops[i])
    for top in (top for i, top in enumerate(tops) if i not in order):
        pieces = [_times(piece, top, end) for piece, end in zip(pieces, ends[1:], strict=True)]
    return _value(_integral(pieces, ends, tops[order[-1]])[-1], ends[-1])


def _integral(
    pieces: Sequence[Sequence[mpmath.mpf]], ends: Sequence[mpmath.mpf], top: mpmath.mpf
) -> list[list[mpmath.mpf]]:
    """Give top times the integral from 0 to min(v, 1 / top) as polynomials of v, piece by piece."""
    integral, so_far = [], mpmath.mpf(0)
    for (low, high), piece in zip(itertools.pairwise(ends), pieces, strict=True):
        found = [so_far]
        if high <= 1 / top:
            risen = [mpmath.mpf(0), *(top * factor / power for power, factor in enumerate(piece, start=1))]
            found = [so_far - _value(risen, low), *risen[1:]]
        so_far = _value(found, high)
        integral.append(found)
    return integral


def _times(piece: Sequence[mpmath.mpf], top: mpmath.mpf, end: mpmath.mpf) -> list[mpmath.mpf]:
    """Multiply by max(0, 1 - v * top), on a piece that ends there or earlier, or begins there or later."""
    if end > 1 / top:
        return [mpmath.mpf(0)]
    return [a - top * b for a, b in zip([*piece, 0], [0, *piece], strict=True)]


def _value(polynomial: Sequence[mpmath.mpf], v: mpmath.mpf) -> mpmath.mpf:
    value = mpmath.mpf(0)
    for factor in reversed(polynomial):
        value = value * v + factor
    return value


def _around(x: mpmath.mpf) -> Enclosure:
    exact, room = Fraction(*map(int, x.as_integer_ratio())), Fraction(1, 10**18)
    return Enclosure(max(Fraction(0), exact - room), exact + room)
