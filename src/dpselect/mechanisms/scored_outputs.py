"""Reading what a measurement to select from releases: a pair (score, candidate), compared by its score.

A float score is the binary number that it is. NaN ranks below every number, and reaches no threshold.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias

from dpselect.errors import InvalidParameter, MalformedRelease
from dpselect.exact.numbers import is_nan, is_real, score
from dpselect.exact.randomness import Randomness
from dpselect.privacy.measurement import Measurement

Rank: TypeAlias = tuple[int, Fraction | float]
"""What releases are compared by: first whether there is a number at all, then the number."""

GAVE_UP: Rank = (-2, 0)
"""The rank of a release of None: below all others."""
NOT_A_NUMBER: Rank = (-1, 0)
"""The rank of a score that is NaN: below every number."""


def may_give_up(measurement: Measurement) -> bool:
    """Say whether a measurement is one of ours that may release None: it ranks below every pair."""
    return bool(getattr(measurement.function, "may_give_up", False))


def ranked_draw(measurement: Measurement, arg: object, randomness: Randomness) -> tuple[Rank, Any]:
    """Run once; give the rank beside the release."""
    release = measurement.draw(arg, randomness)
    if release is None and may_give_up(measurement):
        return GAVE_UP, None
    if not isinstance(release, tuple) or len(release) != 2 or not is_real(release[0]):
        raise MalformedRelease
    return rank(release[0]), release


def rank(value: Any) -> Rank:
    """Read a real number for comparison, exactly."""
    if is_nan(value):
        return NOT_A_NUMBER
    exact = score(value)
    return 0, (exact if exact is not None else math.copysign(math.inf, value))


def candidates(measurement: object, priced_in: tuple[type, ...], measures: str) -> Measurement:
    """Refuse what is no measurement, or has a price from which nothing is proved."""
    if not isinstance(measurement, Measurement):
        raise InvalidParameter.must_be(
            "measurement",
            "a Measurement that releases (score, candidate)",
            got=measurement,
            way_out="Wrap a function with user_measurement.",
        )
    if not isinstance(measurement.output_measure, priced_in):
        raise InvalidParameter.must_be(
            "measurement",
            f"priced in {measures}",
            got=measurement.output_measure,
            way_out="No bound is proved for the other measures: build it for one of these.",
        )
    return measurement
