"""Conversions: what a guarantee of one kind implies in another kind. Every figure is an upper bound.

    PureDP, BoundedRange, LaplaceDominated  ->  PureDP, ZCDP, ApproxZCDP, RenyiDP, PrivacyProfile
    ZCDP                                    ->  ApproxZCDP, RenyiDP, PrivacyProfile
    ApproxDP                                ->  ApproxZCDP, PrivacyProfile
    RenyiDP, ApproxZCDP                     ->  PrivacyProfile
    whatever has a profile                  ->  ApproxDP, at one delta or at one epsilon
    RenyiDP, PrivacyProfile                 ->  ApproxZCDP, at one delta

Proof: convert.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from dpselect.accounting.closed_forms import (
    BoundedRangeProfile,
    BoundedRangeRenyi,
    LaplaceProfile,
    LaplaceRenyi,
    RandomizedResponseProfile,
    RandomizedResponseRenyi,
    bounded_range_rho,
    laplace_rho,
    randomized_response_rho,
)
from dpselect.accounting.guarantees import BoundedRange, Guarantee, LaplaceDominated
from dpselect.accounting.renyi_orders import ORDERS, ConcentratedRenyi, RenyiProfile, profile_of
from dpselect.accounting.shifted import Shifted
from dpselect.errors import InvalidParameter, shown
from dpselect.exact.numbers import Number
from dpselect.privacy.amounts import Amount
from dpselect.privacy.curves import Formula
from dpselect.privacy.losses import ZCDP, ApproxDP, ApproxZCDP, PureDP, RenyiDP
from dpselect.privacy.measures import Loss
from dpselect.privacy.profiles import PrivacyProfile

__all__ = [
    "ORDERS",
    "BoundedRangeProfile",
    "BoundedRangeRenyi",
    "LaplaceProfile",
    "LaplaceRenyi",
    "RenyiProfile",
    "convert",
    "laplace_rho",
]

Conversion: TypeAlias = Callable[[Any], Any]
L = TypeVar("L", bound=Loss)


def _conversions_of(
    price: Callable[[Any], Amount],
    rho: Callable[[Fraction], Fraction],
    renyi: Callable[[Fraction], Formula],
    profile: Callable[[Fraction], Formula],
) -> Mapping[type, Conversion]:
    """List the conversions from a guarantee of one number, which is its pure price too."""

    def form(make: Callable[[Fraction], Any], loss: object, *, unbounded: object) -> Any:
        number = price(loss)
        return make(Fraction(number)) if number < math.inf else unbounded

    return {
        PureDP: lambda loss: PureDP(price(loss)),
        ZCDP: lambda loss: ZCDP(form(rho, loss, unbounded=math.inf)),
        ApproxZCDP: lambda loss: ApproxZCDP(form(rho, loss, unbounded=math.inf), 0),
        RenyiDP: lambda loss: RenyiDP(form(renyi, loss, unbounded={})),
        PrivacyProfile: lambda loss: PrivacyProfile(form(profile, loss, unbounded={})),
    }


def _curve_of(loss: ZCDP) -> RenyiDP:
    return RenyiDP(ConcentratedRenyi(loss.rho) if isinstance(loss.rho, Fraction) else {})


def _profile_of(loss: RenyiDP) -> PrivacyProfile:
    return PrivacyProfile(profile_of(loss.curve))


def _profile_of_pair(loss: ApproxDP) -> PrivacyProfile:
    if not isinstance(loss.epsilon, Fraction):
        return PrivacyProfile({})
    return PrivacyProfile(RandomizedResponseProfile(loss.epsilon, loss.delta))


def _concentrated(loss: ApproxDP) -> ApproxZCDP:
    rho = randomized_response_rho(loss.epsilon) if isinstance(loss.epsilon, Fraction) else math.inf
    return ApproxZCDP(rho, loss.delta)


def _profile_beside_delta(loss: ApproxZCDP) -> PrivacyProfile:
    profile = _profile_of(_curve_of(ZCDP(loss.rho)))
    return PrivacyProfile(Shifted(profile, ApproxDP(0, loss.delta))) if loss.delta else profile


_CONVERSIONS: Mapping[type, Mapping[type, Conversion]] = MappingProxyType(
    {
        PureDP: _conversions_of(
            lambda loss: loss.epsilon,
            randomized_response_rho,
            RandomizedResponseRenyi,
            RandomizedResponseProfile,
        ),
        BoundedRange: _conversions_of(
            lambda loss: loss.eta, bounded_range_rho, BoundedRangeRenyi, BoundedRangeProfile
        ),
        LaplaceDominated: _conversions_of(lambda loss: loss.shift, laplace_rho, LaplaceRenyi, LaplaceProfile),
        ZCDP: {
            ApproxZCDP: lambda loss: ApproxZCDP(loss.rho, 0),
            RenyiDP: _curve_of,
            PrivacyProfile: lambda loss: _profile_of(_curve_of(loss)),
        },
        RenyiDP: {PrivacyProfile: _profile_of},
        ApproxDP: {ApproxZCDP: _concentrated, PrivacyProfile: _profile_of_pair},
        ApproxZCDP: {PrivacyProfile: _profile_beside_delta},
        PrivacyProfile: {},
    }
)
KINDS = (PureDP, ZCDP, RenyiDP, PrivacyProfile, ApproxDP, ApproxZCDP)


def convert(
    loss: Loss | Guarantee, to: type[L], *, delta: Number | None = None, epsilon: Number | None = None
) -> L:
    """Convert a guarantee to another kind: an upper bound, rounded outward.

    A kind that nothing is proved about is refused. ``ApproxDP`` is asked for at one delta or at one epsilon;
    pure privacy is (epsilon, 0) unless you ask for less. ``ApproxZCDP`` is asked for at one delta where the
    guarantee is a curve or a profile.

    Precondition
        every two neighbours, in both orders, are within ``loss``      claimed by the caller

    Postcondition
        they are within the result too, also if the release was made adaptively, among others

    >>> convert(PureDP("1/10"), ZCDP).rho < PureDP("1/10").epsilon ** 2 / 2
    True
    >>> print(convert(ZCDP("1/8"), ApproxDP, delta="1e-6"))
    epsilon 2.42 (rounded up) with delta 0.000001
    """
    kind_of(loss)
    wanted = target(to)
    if wanted is ApproxDP:
        return _at_one_point(loss, delta, epsilon)  # type: ignore[return-value] # L is ApproxDP here
    if wanted is ApproxZCDP and isinstance(loss, RenyiDP | PrivacyProfile):
        return _concentrated(_at_one_point(loss, delta, epsilon))  # type: ignore[return-value] # as above
    if delta is not None or epsilon is not None:
        raise InvalidParameter(
            f"delta and epsilon must be left out for {wanted.__name__}; got one. "
            "ApproxDP needs one; ApproxZCDP needs one of a curve or a profile."
        )
    if isinstance(loss, wanted):
        return loss
    conversions = _CONVERSIONS[kind_of(loss)]
    if wanted not in conversions:
        known = [kind.__name__ for kind in (*conversions, ApproxDP)]
        raise InvalidParameter(
            f"{shown(loss)} must be converted to {' or '.join(known)}; got {wanted.__name__}. "
            "Nothing is proved of any other."
        )
    return conversions[wanted](loss)  # type: ignore[no-any-return] # the table says so


def kind_of(loss: object) -> type:
    """Give the kind of a guarantee; refuse what is none."""
    if type(loss) not in _CONVERSIONS:
        raise InvalidParameter.must_be(
            "loss", "a privacy loss, a BoundedRange or a LaplaceDominated", got=loss, way_out="See m.price()."
        )
    return type(loss)


def target(to: type[L]) -> type[L]:
    """Read the kind that is asked for."""
    if not any(to is kind for kind in KINDS):
        names = " or ".join(kind.__name__ for kind in KINDS)
        raise InvalidParameter.must_be("to", names, got=getattr(to, "__name__", to))
    return to


def _at_one_point(loss: Loss | Guarantee, delta: Number | None, epsilon: Number | None) -> ApproxDP:
    """Read a profile where it is asked for."""
    if delta is not None and epsilon is not None:
        raise InvalidParameter("ApproxDP must be asked for at one delta or at one epsilon; got both.")
    if delta is None and epsilon is None:
        if isinstance(loss, ApproxDP):
            return loss
        if isinstance(loss, PureDP):
            return ApproxDP(loss.epsilon, 0)
        raise InvalidParameter(
            'ApproxDP must be asked for at one delta or at one epsilon; got neither. Say delta="1e-6".'
        )
    profile = convert(loss, PrivacyProfile)
    if delta is not None:
        return ApproxDP(profile.epsilon(delta), delta)
    return ApproxDP(epsilon, profile.delta(epsilon))  # type: ignore[arg-type] # one of the two is given
