"""Worst cases: how far below the best a winner's score may lie, over all scores, in units of the scale.

n candidates, k winners. A winner fails at distance t if its score lies more than t below the k-th best score.

Reference: McKenna & Sheldon 2020 (permute-and-flip); Durfee & Rogers 2019 (top-k); "lecture": Adam Smith's
           (docs/sources.md), Proposition 1.4 and Theorem 2.3, after McSherry & Talwar 2007.
Proof:     worst_case.proof.md
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

from dpselect.exact.bisection import Bracket, bisect
from dpselect.exact.enclosures import Ball, Enclosure, compare, enclose, exp, log

Noise: TypeAlias = Literal["exponential", "gumbel"]
Mechanism: TypeAlias = Literal["exponential", "gumbel", "laplace", "lecture"]

BITS = 64
"""Figures are at most a relative 2**-BITS above the bound that they state."""

FAR = 4096
"""Beyond 4096 scales the failure, below e**-4000, is bounded instead of computed."""

MOST_HEAVY, MOST_SURE = 64, Fraction(9, 10)
"""With Laplace noise the failure of one winner is computed where rivals * e**-t is at most 64: it is above
9/10 beyond."""


def failure(noise: Noise, t: Fraction, n: int, k: int = 1, *, precision: int = BITS) -> Enclosure:
    """Enclose the largest probability, over all scores, that some of the k winners fails at distance t.

    >>> failure("gumbel", Fraction(0), 4).high
    Fraction(3, 4)
    """
    rivals = n - k
    if rivals == 0:
        return Enclosure(Fraction(0), Fraction(0))
    if t > FAR:
        return Enclosure(Fraction(0), min(Fraction(1), k * rivals * exp(-t).high))
    if noise == "gumbel":
        return enclose(lambda x: _gumbel(rivals * (-x).exp(), k), t, precision=precision)
    if t == 0:
        return enclose(lambda: 1 - 1 / Ball(n).bin(k), precision=precision)
    if k == 1:
        return enclose(lambda x: _exponential((-x).exp(), n), t, precision=precision)
    return enclose(lambda x: _one_shot((-x).exp(), k, rivals), t, precision=precision)


def _gumbel(weight: Ball, k: int) -> Ball:
    """Give 1 - the product of j / (j + weight) over j = 1..k; the weight is that of all rivals."""
    return 1 - Ball(k + 1).gamma() / (1 + weight).rising(k)


def _exponential(p: Ball, n: int) -> Ball:
    """Give 1 - the integral of (1 - p v)**(n-1) over v = 0..1."""
    return 1 + (n * (-p).log1p()).expm1() / (n * p)


def _one_shot(p: Ball, k: int, rivals: int) -> Ball:
    """Give 1 - the integral of k v**(k-1) (1 - p v)**rivals over v = 0..1."""
    return 1 - k * p.beta_lower(k, rivals + 1) / p**k


@lru_cache(maxsize=1024)
def distance(mechanism: Mechanism, n: int, k: int, beta: Fraction) -> Fraction:
    """Bound from above the distance at which the winners fail with probability at most beta.

    For k = 1 this is the least such distance, rounded up (with Laplace noise, if beta is at most 9/10); for
    k > 1 and for "lecture" a closed bound on it.

    >>> from dpselect.exact.rounding import rounded_up
    >>> doubt = Fraction(1, 100)
    >>> [rounded_up(4 * distance(m, 100, 1, doubt), 2) for m in ("exponential", "gumbel", "lecture")]
    ['34.01', '36.77', '36.85']
    """
    rivals = n - k
    if rivals == 0:
        return Fraction(0)
    if mechanism == "lecture":
        return log(n * k / beta).high
    if mechanism == "gumbel":
        return max(Fraction(0), log(rivals * (k - beta) / beta).high)
    if mechanism == "laplace":
        return _laplace_distance(rivals, beta) if k == 1 else laplace_distance(rivals, k, beta)
    return log(rivals / beta).high if k > 1 else _exponential_distance(n, beta)


def _exponential_distance(n: int, beta: Fraction) -> Fraction:
    """Give the least distance for exponential noise and a single winner, rounded up."""
    rivals = n - 1
    if beta >= Fraction(rivals, n):
        return Fraction(0)
    return _threshold(
        lambda t: compare(lambda precision: failure("exponential", t, n, precision=precision), beta) < 0,
        log(rivals / beta).high,
    ).holds


def _laplace_distance(rivals: int, beta: Fraction) -> Fraction:
    """Give the least distance for Laplace noise and a single winner, rounded up; a bound if beta is large."""
    if beta >= Fraction(rivals, rivals + 1):
        return Fraction(0)
    bound = laplace_distance(rivals, 1, beta)
    if beta > MOST_SURE:
        return bound

    def is_rare(t: Fraction) -> bool:
        return not _is_heavy(t, rivals) and compare(lambda bits: _failure_of_one(t, rivals, bits), beta) < 0

    return _threshold(is_rare, bound).holds


def _is_heavy(t: Fraction, rivals: int) -> bool:
    """Say whether rivals at a distance have so much weight that one winner fails more often than 9 in 10."""
    return rivals > MOST_HEAVY and t < log(Fraction(rivals, MOST_HEAVY)).low


def _failure_of_one(t: Fraction, rivals: int, precision: int) -> Enclosure:
    """Enclose the probability that one of the rivals' Laplace numbers exceeds another number by t."""
    return enclose(lambda x: _laplace(x, rivals), t, precision=precision)


def _laplace(t: Ball, rivals: int) -> Ball:
    """Give 1 - the integral of F(z + t)**rivals over the law of z: up to -t, from there to 0, and on."""
    p = (-t).exp()
    least, most = Ball(1) / 2, 1 - p / 2
    first = p * least ** (rivals + 1) / (rivals + 1)
    second = (most**rivals - p * least**rivals) / 2 - rivals * p / 4 * _between(t, p, rivals)
    third = (1 - most ** (rivals + 1)) / ((rivals + 1) * p)
    return 1 - first - second - third


def _between(t: Ball, p: Ball, n: int) -> Ball:
    """Give the integral of (1 - w/2)**(n-1) / w over w = p..1: t minus that of the rest of 1/w."""
    half = Ball(1) / 2
    to_one = Ball(n).digamma() + Ball.const_euler() - Ball(2).log()
    to_one += half**n / n * half.hypgeom_2f1(Ball(n), Ball(1), Ball(n + 1))
    to_p = (n - 1) * p / 2 * (p / 2).hypgeom([Ball(1), Ball(1), Ball(2 - n)], [Ball(2), Ball(2)])
    return t - to_one + to_p


def laplace_distance(above: int, below: int, beta: Fraction) -> Fraction:
    """Bound the distance that, with probability 1 - beta, no noise lies above another, each of some numbers.

    ``above`` Laplace numbers are compared with ``below`` others: by all pairs together, or by how far the
    former reach up and the latter down; the smaller bound is given.
    """
    by_pairs = laplace_pairs_distance(above * below, beta)
    if not by_pairs:
        return by_pairs
    reaches = log(above / beta).high, log(below / beta).high
    return min(by_pairs, reaches[0] + reaches[1]) if min(reaches) >= 0 else by_pairs


def laplace_pairs_distance(pairs: int, beta: Fraction) -> Fraction:
    """Bound the distance that no pair of Laplace numbers is apart, the first above, but with chance beta."""
    if 2 * beta >= pairs:
        return Fraction(0)
    return _threshold(
        lambda t: compare(lambda precision: _pairs_apart(t, pairs, precision), beta) < 0,
        2 * log(pairs / beta).high + 4,
    ).holds


def whole_laplace_distance(above: int, below: int, beta: Fraction) -> Fraction:
    """Bound the same distance for discrete Laplace noise on whole scores, where coins decide ties.

    >>> whole_laplace_distance(97, 3, Fraction(1, 100)) == laplace_distance(97, 3, Fraction(1, 100))
    True
    """
    if not above:
        return Fraction(0)
    return min(laplace_pairs_distance(above * below, beta), whole_laplace_reach(above, below, beta))


def whole_laplace_reach(above: int, below: int, beta: Fraction) -> Fraction:
    """Bound the same distance where ties are counted as lost: by how far the numbers reach up and down."""
    return log(2 * above / beta).high + log(2 * below / beta).high


def laplace_failure(t: Fraction, n: int, k: int) -> Fraction:
    """Bound from above the probability that some of the k winners fails at distance t, with Laplace noise.

    For k = 1 it is the largest such probability, rounded up, if that is at most 9/10.

    >>> float(laplace_failure(Fraction(20), 1000, 10)) < 0.01
    True
    """
    rivals = n - k
    if k == 1 <= rivals and t <= FAR and not _is_heavy(t, rivals):
        return _failure_of_one(t, rivals, BITS).high if t else Fraction(rivals, n)
    by_pairs = _pairs_apart(t, rivals * k, BITS).high
    ratio = log(Fraction(rivals, k)) if rivals else Enclosure(t, t)
    if t < max(ratio.high, -ratio.low):
        return min(Fraction(1), by_pairs)
    by_reach = enclose(lambda x: Ball(rivals * k).sqrt() * (-x / 2).exp(), t).high
    return min(Fraction(1), by_pairs, by_reach)


def _pairs_apart(t: Fraction, pairs: int, precision: int) -> Enclosure:
    """Enclose the sum over pairs of the probability that one Laplace number exceeds the other by t."""
    return enclose(lambda x: pairs * (2 + x) * (-x).exp() / 4, t, precision=precision)


@lru_cache(maxsize=1024)
def mean_distance(mechanism: Mechanism, n: int) -> Fraction:
    """Bound from above the expected distance of a single winner from the best score.

    For "gumbel" and "exponential" this is the largest one over all scores, rounded up.

    >>> from dpselect.exact.rounding import rounded_up
    >>> [rounded_up(mean_distance(m, 100), 4) for m in ("exponential", "gumbel", "lecture")]
    ['2.4280', '2.6287', '5.6052']
    """
    if n == 1:
        return Fraction(0)
    if mechanism == "lecture":
        return enclose(lambda candidates: candidates.log() + 1, Fraction(n)).high
    if mechanism == "gumbel":
        return enclose(lambda rivals: (rivals / Ball(1).exp()).lambertw(), Fraction(n - 1)).high
    if mechanism == "laplace":
        start = laplace_distance(n - 1, 1, Fraction(1))
        return start + enclose(lambda x: (n - 1) * (3 + x) * (-x).exp() / 4, start).high
    beyond = Fraction(3)  # never halved to 1, where two candidates would be undecidable: an exact maximum
    while not _falls(beyond, n):
        beyond *= 2
    peak = _threshold(lambda t: _falls(t, n), beyond)
    return peak.holds * failure("exponential", peak.fails, n, precision=2 * BITS).high


def _falls(t: Fraction, n: int) -> bool:
    """Say whether t times the failure at t is falling there."""

    def elasticity(precision: int) -> Enclosure:
        return enclose(lambda x: _elasticity((-x).exp(), n), t, precision=precision)

    return compare(elasticity, 1 / t) > 0


def _elasticity(p: Ball, n: int) -> Ball:
    return -((n - 1) * (-p).log1p()).expm1() / _exponential(p, n) - 1


def _threshold(condition: Callable[[Fraction], bool], holds: Fraction) -> Bracket:
    """Find where a condition begins to hold: it holds at ``holds``, and fails near zero."""
    return bisect(condition, fails=Fraction(0), holds=holds, bits=BITS + 8)
