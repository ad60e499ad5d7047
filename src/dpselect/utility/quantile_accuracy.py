"""How far several quantiles drawn at once may be off, in ranks: on every data set, and typically.

Proof: quantile_accuracy.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from dpselect.accounting.calibrate import calibrate
from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import log
from dpselect.exact.numbers import Number, not_negative, whole
from dpselect.mechanisms.recursive_quantiles import make_recursive_quantiles
from dpselect.privacy import ZCDP, Measurement, PureDP, atom_domain, l1_distance, runs_domain
from dpselect.privacy.measures import Measure, measure_of
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.scoring import MOST_PEOPLE
from dpselect.selection.cells import SHARES
from dpselect.utility.promise import Accuracy


@dataclass(frozen=True)
class RankErrors:
    """Of each quantile: a bound on its error in ranks, and its root mean square where people are spread."""

    within: tuple[Fraction, ...]
    typical: tuple[Fraction, ...]


def rank_errors(
    at: tuple[Fraction, ...], points: int, scale: Fraction, beta: Fraction, people: int | None
) -> RankErrors:
    """Bound the errors of all quantiles together, with probability 1 - beta.

    Precondition
        there are at most ``people`` people, or MOST_PEOPLE    claimed by the caller
        the quantiles lie between the bounds of the grid       claimed by the caller
    """
    most = MOST_PEOPLE if people is None else people
    zero = Fraction(0)
    within, variances = [zero] * len(at), [zero] * len(at)
    # Start, stop; fractions and errors on either side; the variance left, both sides' covariance, and right.
    waiting = [(0, len(at), (zero, Fraction(1)), (zero, zero), (zero, zero, zero))]
    while waiting:
        start, stop, (low, high), (left, right), (before, both, behind) = waiting.pop()
        if start == stop or points == 1:
            continue
        middle = (start + stop) // 2
        inner = (at[middle] - low) / (high - low)
        spread = 2 * max(inner, 1 - inner) * scale
        within[middle] = own_error(points, spread, beta / len(at), most) + (1 - inner) * left + inner * right
        with_left, with_right = (1 - inner) * before + inner * both, (1 - inner) * both + inner * behind
        variances[middle] = 2 * spread**2 + (1 - inner) * with_left + inner * with_right
        found, own = within[middle], variances[middle]
        waiting.append((start, middle, (low, at[middle]), (left, found), (before, with_left, own)))
        waiting.append((middle + 1, stop, (at[middle], high), (found, right), (own, with_right, behind)))
    return RankErrors(tuple(within), tuple(map(root_above, variances)))


def own_error(points: int, scale: Fraction, beta: Fraction, people: int) -> Fraction:
    """Bound how far the rank of one draw is from the rank that it was to have."""
    if not scale:
        return Fraction(people, SHARES)
    inverse_mass = Fraction(SHARES + 1, SHARES) * (1 + people / scale)
    return scale * max(Fraction(0), log(points * inverse_mass / beta).high) + Fraction(people, SHARES)


def root_above(square: Fraction) -> Fraction:
    """Give a square root, rounded up to a multiple of 2**-32."""
    scaled = square * 2**64
    return Fraction(isqrt(-(-scaled.numerator // scaled.denominator)) + 1, 2**32) if square else Fraction(0)


def mechanism_of_quantiles(problem: Any, measure: Measure, scale: Fraction) -> Measurement:
    """Give the draw of a problem's quantiles at a scale, with its price."""
    domain = runs_domain(atom_domain(int), problem.count)
    return make_recursive_quantiles(domain, l1_distance(), problem.at, scale, privacy_measure=measure)


def scale_of_quantiles(
    problem: Any, neighbours: Neighbours, epsilon: Number | None, rho: Number | None, scale: Number | None
) -> Fraction:
    """Give the scale that the budget pays for, or the one that is given."""
    given = [each for each in (epsilon, rho, scale) if each is not None]
    if len(given) != 1:
        raise InvalidParameter(f"exactly one of epsilon, rho and scale must be given; got {len(given)}.")
    if scale is not None:
        return not_negative(scale, "scale")
    budget = PureDP(epsilon) if epsilon is not None else ZCDP(rho)  # type: ignore[arg-type]  # one is given
    return calibrate(
        lambda points: mechanism_of_quantiles(problem, measure_of(budget), points),
        budget,
        problem.d_range(neighbours),
    )


def accuracy_of_quantiles(problem: Any, scale: Fraction, beta: Fraction, people: int | None) -> Accuracy:
    """Say how far the ranks of all answers may be from those asked for."""
    most = MOST_PEOPLE if people is None else whole(people, "people", least=0, most=MOST_PEOPLE)
    errors = rank_errors(problem.at, problem.count, scale, beta, most)
    return Accuracy(
        min(max(errors.within), Fraction(most)),
        1 - beta,
        "gumbel",
        problem.unit,
        len(problem.at),
        problem.count,
        None,
        problem.measured_in,
        problem.at,
        most,
        min(max(errors.typical), Fraction(most)),
    )


def must_be_several_quantiles(problem: Any, k: int, mechanism: str | None) -> None:
    """Refuse what is asked of one winner alone."""
    if k != 1:
        raise InvalidParameter.must_be("k", "1: each quantile has one answer", got=k)
    if mechanism not in (None, "gumbel"):
        raise InvalidParameter(f"{problem.name} are drawn with Gumbel noise. Leave the noise out.")
