"""How far from the best a mechanism of the lower API may draw, whatever its input.

Reference: Adam Smith's lecture on selection problems (docs/sources.md), Proposition 1.4, for other outputs.
Proof:     mechanism_accuracy.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpselect.errors import InvalidParameter
from dpselect.exact.bisection import bisect, least_whole
from dpselect.exact.enclosures import Ball, Enclosure, compare, enclose, log
from dpselect.exact.numbers import Number, rational
from dpselect.mechanisms.constant_normaliser import DiscreteLaplaceNoise, RandomizedResponse
from dpselect.mechanisms.exponential_on_integers import OutputAmongIntegers
from dpselect.mechanisms.exponential_on_runs import OutputOfRuns
from dpselect.mechanisms.functions import NoisyTopK, PeeledTopK
from dpselect.privacy import Measurement
from dpselect.privacy.measurement import unwrapped
from dpselect.selection.draw import TopKDraw
from dpselect.utility.promise import Accuracy
from dpselect.utility.worst_case import BITS, Mechanism, distance, mean_distance

WHOLE_STEP = Fraction(1)


def accuracy_of_mechanism(measurement: Measurement, beta: Fraction, best: Number | None) -> Accuracy:
    """Say how far below the best score the output of a mechanism may be, with probability 1 - beta or more.

    Of an output that is post-processed, it is said of what was drawn before.
    """
    drawn, _ = unwrapped(measurement.function)
    must_need_no_best(drawn, best)
    match drawn:
        case NoisyTopK() | PeeledTopK() | OutputOfRuns():
            listed = _of_listed(drawn)
            far = listed.scale * distance(listed.mechanism, listed.n, listed.k, beta)
            return Accuracy(far, 1 - beta, listed.mechanism, WHOLE_STEP, listed.k, listed.n)
        case OutputAmongIntegers():
            return Accuracy(_clipped(drawn, best).within(beta), 1 - beta, "gumbel", WHOLE_STEP)
        case DiscreteLaplaceNoise():
            far = Fraction(farthest_noise(drawn.scale, beta))
            return Accuracy(far, 1 - beta, "laplace", WHOLE_STEP, noise="discrete Laplace noise")
        case RandomizedResponse():
            options = len(drawn.domain.options)
            missed = compare(lambda bits: other_answer(drawn, bits), beta) > 0 if options > 1 else False
            return Accuracy(
                Fraction(missed), 1 - beta, "gumbel", WHOLE_STEP, n=options, noise="randomized response"
            )
    raise InvalidParameter(NOTHING_PROVED)


def mean_of_mechanism(measurement: Measurement, best: Number | None = None) -> Fraction:
    """Bound how far below the best score the output of a mechanism is on average."""
    drawn, _ = unwrapped(measurement.function)
    must_need_no_best(drawn, best)
    match drawn:
        case NoisyTopK() | PeeledTopK() | OutputOfRuns():
            listed = _of_listed(drawn)
            if listed.k > 1:
                raise InvalidParameter("a mean is proved for one winner. Ask for accuracy(...) instead.")
            return listed.scale * mean_distance(listed.mechanism, listed.n)
        case OutputAmongIntegers():
            return _clipped(drawn, best).mean()
        case DiscreteLaplaceNoise():
            return mean_noise(drawn.scale)
        case RandomizedResponse():
            return other_answer(drawn, BITS).high if len(drawn.domain.options) > 1 else Fraction(0)
    raise InvalidParameter(NOTHING_PROVED)


NOTHING_PROVED = (
    "a measurement must be one that make_report_noisy_top_k, make_report_noisy_max, make_permute_and_flip, "
    "make_geometric, make_randomized_response or an exponential mechanism has made: of others nothing is "
    "proved."
)


def must_need_no_best(drawn: object, best: Number | None) -> None:
    """Refuse a best score where the figure holds for every one."""
    if best is not None and not isinstance(drawn, OutputAmongIntegers):
        raise InvalidParameter("best is for make_exponential_mechanism_on_integers. Leave it out.")


@dataclass(frozen=True)
class BestOfListed:
    """The k best of n scores, with noise of one scale."""

    mechanism: Mechanism
    scale: Fraction
    n: int
    k: int


def _of_listed(drawn: NoisyTopK | PeeledTopK | OutputOfRuns) -> BestOfListed:
    """Read what the accuracy depends on."""
    if isinstance(drawn, OutputOfRuns):
        return BestOfListed("gumbel", drawn.scale, drawn.domain.size, 1)
    draw, n = drawn.draw, drawn.domain.size
    if n is None:
        raise InvalidParameter(
            "input_domain must say how many scores there are. Write vector_domain(atom_domain(int), 100)."
        )
    if isinstance(drawn, PeeledTopK) and drawn.draw.k == 1:
        return BestOfListed("exponential", drawn.draw.scale, n, 1)
    if isinstance(draw, TopKDraw):
        return BestOfListed(draw.noise, draw.scale, n, draw.k)
    raise InvalidParameter(NOTHING_PROVED)


def farthest_noise(scale: Fraction, beta: Fraction) -> int:
    """Give the least whole r that discrete Laplace noise exceeds with probability beta or less, exactly.

    >>> farthest_noise(Fraction(2), Fraction(1, 100))
    9
    """
    if not scale:
        return 0

    def rare(r: int) -> bool:
        return compare(lambda bits: _beyond(scale, r, bits), beta) <= 0

    return least_whole(rare, fails=-1, holds=math.ceil(scale * log(2 / beta).high))


def _beyond(scale: Fraction, r: int, bits: int) -> Enclosure:
    """Enclose P(|z| > r) = 2 exp(-(r + 1) / scale) / (1 + exp(-1 / scale))."""
    return enclose(
        lambda far, one: 2 * (-far).exp() / (1 + (-one).exp()), (r + 1) / scale, 1 / scale, precision=bits
    )


def mean_noise(scale: Fraction) -> Fraction:
    """Give the mean of |z|: 1 / sinh(1 / scale), rounded up."""
    return enclose(lambda one: 1 / one.sinh(), 1 / scale).high if scale else Fraction(0)


def other_answer(drawn: RandomizedResponse, bits: int) -> Enclosure:
    """Enclose the probability of an answer that is not the true one."""
    others = len(drawn.domain.options) - 1
    return enclose(lambda e: others / (e.exp() + others), drawn.epsilon, precision=bits)


@dataclass(frozen=True)
class ClippedTail:
    """Clipped scores of all integers: the drawn one is t scales below the best with probability f(t) or less.

    f(t) = exp(-t) (1 + 2 (g + t) / s + 2 / (1 - exp(-s))), with g and s the room above the best score and the
    slope of the envelope, in scales. It falls.
    """

    room: Fraction
    slope: Fraction
    scale: Fraction

    def bound(self, t: Fraction, precision: int) -> Enclosure:
        """Enclose f(t)."""

        def tail(x: Ball, g: Ball, s: Ball) -> Ball:
            return (-x).exp() * (1 + 2 * (g + x) / s - 2 / (-s).expm1())

        return enclose(tail, t, self.room, self.slope, precision=precision)

    def until(self, beta: Fraction) -> Fraction:
        """Give the least t with f(t) <= beta, rounded up."""

        def rare(t: Fraction) -> bool:
            return self.bound(t, BITS).high <= beta

        most = WHOLE_STEP
        while not rare(most):
            most *= 2
        return bisect(rare, fails=Fraction(0), holds=most, bits=BITS).holds

    def within(self, beta: Fraction) -> Fraction:
        """Bound the distance that is exceeded with probability beta or less."""
        return self.scale * self.until(beta) if self.scale else Fraction(0)

    def mean(self) -> Fraction:
        """Bound the mean: t + the integral of f from t on, where f(t) is about 1."""
        if not self.scale:
            return Fraction(0)
        start = self.until(WHOLE_STEP)
        later = self.bound(start + 1, BITS).high
        return self.scale * (start + enclose(lambda one: one.exp(), WHOLE_STEP).high * later)


def _clipped(drawn: OutputAmongIntegers, best: Number | None) -> ClippedTail:
    """Read the envelope, and how far above the best score it is at most."""
    if best is None:
        raise InvalidParameter(
            "best must be given: a public number that the best clipped score has at least. Write best=0."
        )
    envelope, least, scale = drawn.envelope, rational(best, "best"), drawn.scale
    if not least <= envelope.height:
        raise InvalidParameter.must_be("best", "at most the height of the envelope", got=best)
    if not scale:
        return ClippedTail(Fraction(0), WHOLE_STEP, scale)
    return ClippedTail((envelope.height - least) / scale, envelope.slope / scale, scale)
