"""Privacy measures: the currency of a guarantee. Each reads a distance, turns it into a loss and compares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.privacy.amounts import Amount, amount
from dpselect.privacy.curves import RenyiCurve
from dpselect.privacy.losses import ZCDP, ApproxDP, ApproxZCDP, PureDP, RenyiDP, WritableLoss
from dpselect.privacy.profiles import PrivacyProfile

Distance: TypeAlias = Amount | RenyiCurve | PrivacyProfile | ApproxZCDP
Loss: TypeAlias = WritableLoss | PrivacyProfile


@dataclass(frozen=True)
class MaxDivergence:
    """Pure differential privacy: epsilon."""

    def distance(self, value: Any) -> Amount:
        """Read an epsilon."""
        return amount(value.epsilon if isinstance(value, PureDP) else _no_loss(value, PureDP), "epsilon")

    def loss(self, distance: Any) -> PureDP:
        """Turn a distance into a loss."""
        return PureDP(distance)


@dataclass(frozen=True)
class ZeroConcentratedDivergence:
    """Zero-concentrated differential privacy: rho."""

    def distance(self, value: Any) -> Amount:
        """Read a rho."""
        return amount(value.rho if isinstance(value, ZCDP) else _no_loss(value, ZCDP), "rho")

    def loss(self, distance: Any) -> ZCDP:
        """Turn a distance into a loss."""
        return ZCDP(distance)


@dataclass(frozen=True)
class RangeDivergence:
    """Bounded range: the privacy loss lies in a window of length eta."""

    def distance(self, value: Any) -> Amount:
        """Read an eta."""
        return amount(_no_loss(value, None), "eta")

    def loss(self, distance: Any) -> Loss:
        """Refuse: windows move with earlier answers, so their lengths do not add."""
        del distance
        raise InvalidParameter(
            "range divergence has no price, because it does not add; "
            "build the measurement for max_divergence() or zero_concentrated_divergence()."
        )


@dataclass(frozen=True)
class RenyiDivergence:
    """Rényi differential privacy: a bound for each order."""

    def distance(self, value: Any) -> RenyiCurve:
        """Read a curve, or what makes one."""
        return RenyiDP(value.curve if isinstance(value, RenyiDP) else _no_loss(value, RenyiDP)).curve

    def loss(self, distance: Any) -> RenyiDP:
        """Turn a curve into a loss."""
        return RenyiDP(distance)


@dataclass(frozen=True)
class Approximate:
    """Approximate differential privacy: a delta for each epsilon."""

    measure: MaxDivergence

    def distance(self, value: Any) -> PrivacyProfile:
        """Read a profile, or what makes one: a function, a table, or a single pair."""
        if isinstance(value, PrivacyProfile):
            return value
        if isinstance(value, tuple) and len(value) == 2:
            value = ApproxDP(*value)
        if isinstance(value, ApproxDP):
            return PrivacyProfile({value.epsilon: value.delta} if value.epsilon < math.inf else {})
        return PrivacyProfile(_no_loss(value, ApproxDP))

    def loss(self, distance: Any) -> PrivacyProfile:
        """Give the profile itself."""
        return self.distance(distance)


@dataclass(frozen=True)
class ApproximateConcentrated:
    """Approximate zero-concentrated differential privacy: a rho and a delta."""

    def distance(self, value: Any) -> ApproxZCDP:
        """Read a pair of rho and delta."""
        if isinstance(value, tuple) and len(value) == 2:
            return ApproxZCDP(*value)
        if isinstance(value, ApproxZCDP):
            return value
        raise InvalidParameter.must_be(
            "a distance", "a pair of rho and delta", got=_no_loss(value, ApproxZCDP), way_out="Write (1, 0)."
        )

    def loss(self, distance: Any) -> ApproxZCDP:
        """Give the pair itself."""
        return self.distance(distance)


Measure: TypeAlias = (
    MaxDivergence
    | ZeroConcentratedDivergence
    | RangeDivergence
    | RenyiDivergence
    | Approximate
    | ApproximateConcentrated
)


def _no_loss(value: Any, wanted: type | None) -> Any:
    """Let a bare distance through; a loss of another kind is not one."""
    if isinstance(value, Loss) or (isinstance(value, RenyiCurve) and wanted is not RenyiDP):
        kind = f"only with {wanted.__name__}" if wanted else "with no loss"
        raise IncomparableLosses(f"this measure compares {kind}; got {type(value).__name__}.")
    return value


def max_divergence() -> MaxDivergence:
    """Give the measure of pure differential privacy."""
    return MaxDivergence()


def zero_concentrated_divergence() -> ZeroConcentratedDivergence:
    """Give the measure of zero-concentrated differential privacy."""
    return ZeroConcentratedDivergence()


def renyi_divergence() -> RenyiDivergence:
    """Give the measure of Rényi differential privacy."""
    return RenyiDivergence()


def range_divergence() -> RangeDivergence:
    """Give the measure of bounded range."""
    return RangeDivergence()


@overload
def approximate(measure: MaxDivergence) -> Approximate: ...
@overload
def approximate(measure: ZeroConcentratedDivergence) -> ApproximateConcentrated: ...
def approximate(
    measure: MaxDivergence | ZeroConcentratedDivergence,
) -> Approximate | ApproximateConcentrated:
    """Give the measure that allows the guarantee of ``measure`` to fail with probability delta."""
    if isinstance(measure, ZeroConcentratedDivergence):
        return ApproximateConcentrated()
    if not isinstance(measure, MaxDivergence):
        wanted = "max_divergence() or zero_concentrated_divergence()"
        raise InvalidParameter.must_be("measure", wanted, got=measure)
    return Approximate(measure)


_MEASURES: Mapping[str, Measure] = {
    "max_divergence": max_divergence(),
    "zero_concentrated_divergence": zero_concentrated_divergence(),
    "renyi_divergence": renyi_divergence(),
    "approximate(max_divergence)": approximate(max_divergence()),
    "approximate(zero_concentrated_divergence)": approximate(zero_concentrated_divergence()),
}


def measure_of(loss: WritableLoss) -> Measure:
    """Give the measure that a loss is stated in: the one that ``loss.measure`` names.

    >>> measure_of(PureDP(1)), measure_of(ZCDP("1/8"))
    (MaxDivergence(), ZeroConcentratedDivergence())
    """
    return _MEASURES[loss.measure]
