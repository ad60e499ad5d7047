"""Special cases of the exponential mechanism whose normaliser is the same for all data: half its price.

The geometric mechanism (discrete Laplace noise on a whole number) and randomized response.

Reference: Adam Smith's lecture on selection problems (docs/sources.md), table in section 1.4.
Proof:     constant_normaliser.proof.md
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpselect.accounting.closed_forms import (
    FINE,
    RandomizedResponseProfile,
    RandomizedResponseRenyi,
    randomized_response_rho,
)
from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.numbers import Number, not_negative, positive
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import bernoulli_enclosed, discrete_laplace, draw_below
from dpselect.mechanisms.arguments import measure_or_pure
from dpselect.mechanisms.privacy_maps import no_bound
from dpselect.privacy.curves import Formula, RenyiCurve
from dpselect.privacy.domains import AtomDomain
from dpselect.privacy.losses import ApproxZCDP
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.measures import (
    Approximate,
    ApproximateConcentrated,
    Distance,
    MaxDivergence,
    Measure,
    RangeDivergence,
    RenyiDivergence,
    ZeroConcentratedDivergence,
)
from dpselect.privacy.metrics import AbsoluteDistance, change_one_distance
from dpselect.privacy.options_domain import OptionsDomain, options_domain
from dpselect.privacy.profiles import PrivacyProfile

NOT_WHOLE = "the number must be whole: an int, or an integer of NumPy."


@dataclass(frozen=True)
class PureMap(ABC):
    """The map of a mechanism whose losses lie between -epsilon and epsilon, in every measure."""

    measure: Measure

    @abstractmethod
    def epsilon(self, d_in: Fraction) -> Fraction | None:
        """Bound the losses of neighbours; None if there is no bound."""

    def renyi(self, epsilon: Fraction) -> Formula:
        """Bound the Rényi divergence for each order: by the worst of all, randomized response of two."""
        return RandomizedResponseRenyi(epsilon)

    def profile(self, epsilon: Fraction) -> Formula:
        """Bound delta for each epsilon, likewise."""
        return RandomizedResponseProfile(epsilon)

    def __call__(self, d_in: Fraction) -> Distance:
        """Bound the output distance of neighbours at a distance of d_in."""
        epsilon = self.epsilon(d_in)
        match self.measure:
            case MaxDivergence():
                return math.inf if epsilon is None else epsilon
            case RangeDivergence():
                return math.inf if epsilon is None else 2 * epsilon
            case ZeroConcentratedDivergence():
                return math.inf if epsilon is None else randomized_response_rho(epsilon)
            case ApproximateConcentrated():
                return ApproxZCDP(math.inf if epsilon is None else randomized_response_rho(epsilon), 0)
            case RenyiDivergence():
                return RenyiCurve(no_bound if epsilon is None else self.renyi(epsilon))
            case Approximate():
                return PrivacyProfile(no_bound if epsilon is None else self.profile(epsilon))


@dataclass(frozen=True)
class GeometricMap(PureMap):
    """Epsilon is the distance over the scale."""

    scale: Fraction

    def epsilon(self, d_in: Fraction) -> Fraction | None:
        """Divide, if there is noise."""
        if not d_in:
            return Fraction(0)
        return d_in / self.scale if self.scale else None


@dataclass(frozen=True)
class DiscreteLaplaceNoise:
    """The number plus z, with probability proportional to exp(-|z| / scale)."""

    domain: AtomDomain
    scale: Fraction

    checks_domain: ClassVar = True

    def __call__(self, arg: Any, randomness: Randomness) -> int:
        """Read the number, and add noise."""
        if self.domain.refusal([arg]):
            del arg
            raise OutsideDomain(NOT_WHOLE)
        return int(arg) + (discrete_laplace(self.scale, randomness) if self.scale else 0)


def make_geometric(
    input_domain: AtomDomain,
    input_metric: AbsoluteDistance,
    scale: Number,
    *,
    privacy_measure: Measure | None = None,
) -> Measurement:
    """Add discrete Laplace noise to a whole number: the geometric mechanism.

    Precondition
        the number is whole                         checked when drawn
        scale is finite and not negative            checked here
        neighbours' numbers differ by at most d_in  claimed by the caller

    Postcondition
        ``m(x)`` is y with probability exactly proportional to exp(-|y - x| / scale), given fair random bits.
        ``m.map(d_in)`` is d_in / scale in max-divergence: half of what the exponential mechanism with the
        score -|y - x| would be charged, as its normaliser is the same for every x.

    Runtime
        O(1) expected.

    Utility
        P(|m(x) - x| > r) = 2 exp(-(r + 1) / scale) / (1 + exp(-1 / scale)) for whole r >= 0, exactly.

    >>> from dpselect.privacy import absolute_distance, atom_domain
    >>> make_geometric(atom_domain(int), absolute_distance(), 2).map(1)
    Fraction(1, 2)
    """
    if not isinstance(input_domain, AtomDomain) or input_domain.kind is not int or input_domain.nullable:
        raise InvalidParameter.must_be(
            "input_domain",
            "atom_domain(int)",
            got=input_domain,
            way_out="Of other numbers the normaliser is not the same, and the price would be wrong.",
        )
    if not isinstance(input_metric, AbsoluteDistance):
        raise InvalidParameter.must_be("input_metric", "absolute_distance()", got=input_metric)
    spread, measure = not_negative(scale, "scale"), measure_or_pure(privacy_measure)
    draw = DiscreteLaplaceNoise(input_domain, spread)
    return Measurement(input_domain, input_metric, measure, draw, GeometricMap(measure, spread))


@dataclass(frozen=True)
class ResponseRenyi:
    """The Rényi divergence of randomized response with k options."""

    epsilon: Fraction
    k: int

    def __call__(self, alpha: Fraction) -> Fraction:
        """Bound the divergence of order alpha: ln(p^a r^(1-a) + r^a p^(1-a) + (k - 2) r) / (a - 1)."""

        def divergence(e: Ball, a: Ball) -> Ball:
            # With p = r exp(e), all over r exp(a e), which may be large.
            rest = ((1 - 2 * a) * e).exp() + (self.k - 2) * (-a * e).exp()
            return (a * e + (1 + rest).log() - (e.exp() + self.k - 1).log()) / (a - 1)

        return min(self.epsilon, enclose(divergence, self.epsilon, alpha).high)


@dataclass(frozen=True)
class ResponseProfile:
    """The privacy profile of randomized response with k options: p - exp(e) r."""

    pure: Fraction
    k: int

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Bound delta."""
        if epsilon >= self.pure:
            return Fraction(0)
        return enclose(
            lambda p, e: (1 - (e - p).exp()) / (1 + (self.k - 1) * (-p).exp()),
            self.pure,
            epsilon,
            precision=FINE,
        ).high


@dataclass(frozen=True)
class ResponseMap(PureMap):
    """Epsilon, unless nothing changes or there is one option."""

    pure: Fraction
    k: int

    def epsilon(self, d_in: Fraction) -> Fraction:
        """Give the price of another answer, whatever it is."""
        return self.pure if d_in and self.k > 1 else Fraction(0)

    def renyi(self, epsilon: Fraction) -> Formula:
        """Give the curve itself."""
        return ResponseRenyi(epsilon, self.k) if epsilon else RandomizedResponseRenyi(epsilon)

    def profile(self, epsilon: Fraction) -> Formula:
        """Give the profile itself."""
        return ResponseProfile(epsilon, self.k) if epsilon else RandomizedResponseProfile(epsilon)


@dataclass(frozen=True)
class RandomizedResponse:
    """The answer itself, or with probability k / (exp(epsilon) + k - 1) any of the k options."""

    domain: OptionsDomain
    epsilon: Fraction

    checks_domain: ClassVar = True

    def __call__(self, arg: object, randomness: Randomness) -> Any:
        """Find the answer among the options, and respond; both draws are made, whatever is given."""
        place, options = self.domain.place(arg), self.domain.options
        blind = bernoulli_enclosed(self._blind, randomness)
        other = draw_below(len(options), randomness)
        return options[other if blind else place]

    def _blind(self, precision: int) -> Enclosure:
        k = len(self.domain.options)
        return enclose(lambda e: k / (e.exp() + k - 1), self.epsilon, precision=precision)


def make_randomized_response(
    options: object, epsilon: Number, *, privacy_measure: Measure | None = None
) -> Measurement:
    """Answer truly with probability exp(epsilon) / (exp(epsilon) + k - 1), else one of the k - 1 others.

    Precondition
        options are public, each once             checked here
        the answer is one of them                 checked when drawn

    Postcondition
        Each other option has probability exactly 1 / (exp(epsilon) + k - 1), given fair random bits.
        ``m.map(1)``, one person with another answer, is epsilon in max-divergence: half of what the
        exponential mechanism with the number of agreements as its score would be charged.

    Runtime
        O(k) for k options.

    Utility
        The answer is the true one with probability exp(epsilon) / (exp(epsilon) + k - 1).

    >>> m = make_randomized_response(["yes", "no"], 1)
    >>> m("yes") in ("yes", "no"), m.map(1)
    (True, Fraction(1, 1))
    """
    domain, pure, measure = (
        options_domain(options),
        positive(epsilon, "epsilon"),
        measure_or_pure(privacy_measure),
    )
    draw = RandomizedResponse(domain, pure)
    return Measurement(
        domain, change_one_distance(), measure, draw, ResponseMap(measure, pure, len(domain.options))
    )
