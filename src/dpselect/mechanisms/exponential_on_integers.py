"""The exponential mechanism on all integers, with scores clipped to a public envelope.

Noise:     Gumbel, on every integer; none is listed.
Reference: McSherry & Talwar 2007, for countably many outputs.
Proof:     exponential_on_integers.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, not_negative, positive, rational, whole
from dpselect.exact.randomness import Randomness
from dpselect.mechanisms.arguments import measure_or_pure, score_metric
from dpselect.mechanisms.privacy_maps import GumbelMap
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.measures import Measure
from dpselect.privacy.metrics import L1Distance, LInfDistance, RangeDistance
from dpselect.privacy.steps_domain import LARGEST_NUMBER, ScoreStep, StepsDomain
from dpselect.selection.runs import LEAST_FALL, Runs, python_integers
from dpselect.selection.runs_draw import draw_output


@dataclass(frozen=True)
class ScoreEnvelope:
    """What no score may exceed: height - slope * abs(y - centre) at the integer y."""

    height: Fraction
    centre: int
    slope: Fraction

    def reach(self, score: Fraction) -> int:
        """Give how far from the centre the envelope is still at least a score; -1 if it nowhere is."""
        return max(-1, math.floor((self.height - score) / self.slope))

    def clip(self, steps: Sequence[ScoreStep]) -> list[Runs]:
        """Give the lesser of steps and envelope, as runs: three of each step, whatever the scores.

        A step is constant where the envelope is above it, and falls with the envelope on either side.
        """
        reaches = [self.reach(score) for _, _, score in steps]
        flat: list[tuple[int, int]] = []
        above: list[tuple[int, int | None]] = []
        below: list[tuple[int, int | None]] = []
        for (first, last, _), reach in zip(steps, reaches, strict=True):
            left, right = self.centre - reach, self.centre + reach
            low = left if first is None else max(first, left)
            high = right if last is None else min(last, right)
            flat.append((low, max(0, high - low + 1)))
            start = right + 1 if first is None else max(first, right + 1)
            above.append((start, None if last is None else max(0, last - start + 1)))
            end = self.centre - max(reach, 0) - 1
            end = end if last is None else min(last, end)
            below.append((end, None if first is None else max(0, end - first + 1)))
        bottom = math.lcm(*(step.score.denominator for step in steps))
        constant = Runs(
            starts=python_integers([start for start, _ in flat]),
            counts=python_integers([count for _, count in flat]),
            scores=python_integers([int(step.score * bottom) for step in steps]),
            unit=Fraction(1, bottom),
        )
        upward = [self._falling(above[:-1], 1), self._falling(above[-1:], 1)]
        return [constant, *upward, self._falling(below[1:], -1), self._falling(below[:1], -1)]

    def _falling(self, runs: Sequence[tuple[int, int | None]], step: Literal[1, -1]) -> Runs:
        """Give runs on the envelope, away from its centre, of which none ends or all do."""
        counts = [count for _, count in runs if count is not None]
        return Runs(
            starts=python_integers([start for start, _ in runs]),
            counts=python_integers(counts) if len(counts) == len(runs) else None,
            scores=python_integers([-abs(start - self.centre) for start, _ in runs]),
            unit=self.slope,
            offset=self.height,
            falls=python_integers([1] * len(runs)),
            fall=self.slope,
            step=step,
        )


@dataclass(frozen=True)
class OutputAmongIntegers:
    """An integer, with probability proportional to exp(clipped score / scale)."""

    domain: StepsDomain
    envelope: ScoreEnvelope
    scale: Fraction

    checks_domain: ClassVar = True

    def __call__(self, arg: object, randomness: Randomness) -> int:
        """Read the steps, clip them, and draw."""
        return draw_output(self.envelope.clip(self.domain.read(arg)), self.scale, randomness)


def make_exponential_mechanism_on_integers(  # noqa: PLR0913 - the envelope is part of the law
    input_domain: StepsDomain,
    input_metric: LInfDistance | L1Distance,
    scale: Number,
    *,
    height: Number,
    centre: int,
    slope: Number,
    privacy_measure: Measure | None = None,
) -> Measurement:
    """Select one of all integers, whose scores are given as steps and clipped to a public envelope.

    No integer has a score above height - slope * abs(y - centre): one that has is taken to have that. So the
    scores fall in both directions, and the weights of all integers have a sum.

    Precondition
        steps are in the order of the integers      checked when drawn
        envelope and scale are public               claimed by the caller
        the slope is positive, the numbers of the
        envelope are of at most 2**200, the slope
        is at least 2**-200                         checked here
        neighbours' scores differ by at most d_in
        under ``input_metric``, before clipping     claimed by the caller

    Postcondition
        ``m(steps)`` is y with probability exactly exp(q_y / scale) / sum_z exp(q_z / scale), given fair
        random bits; q_y is the lesser of the score of y and the envelope there.
        ``m.map(d_in)`` bounds the divergence between the outputs in ``privacy_measure``: max-divergence,
        unless another is given. ``range_distance()`` is refused: of clipped scores the price depends on how
        far one score moves, too, and it does not say that.

    Runtime
        O(r) for r steps, wherever they begin.

    Utility
        With g the height less the best clipped score, the drawn one is within t * scale of the best but with
        probability exp(-t) * (1 + 2 * (g + t * scale) / slope + 2 / (1 - exp(-slope / scale))).

    >>> from dpselect.privacy import atom_domain, linf_distance, steps_domain
    >>> domain, votes = steps_domain(atom_domain(int)), linf_distance(monotonic=True)
    >>> m = make_exponential_mechanism_on_integers(domain, votes, scale=2, height=1000, centre=0, slope=1)
    >>> m([(None, 0), (10, 900), (15, 0)]) in range(10, 15), m.map(1)
    (True, Fraction(1, 2))
    """
    if not isinstance(input_domain, StepsDomain):
        raise InvalidParameter.must_be(
            "input_domain",
            "a domain of steps",
            got=input_domain,
            way_out="Write steps_domain(atom_domain(int)).",
        )
    metric = score_metric(input_metric)
    if isinstance(metric, RangeDistance):
        raise InvalidParameter.must_be(
            "input_metric",
            "linf_distance() or l1_distance()",
            got=metric,
            way_out="Scores are clipped, so the price depends on how far one score moves, too.",
        )
    envelope = ScoreEnvelope(
        _near(rational(height, "height"), "height"),
        whole(centre, "centre", least=-LARGEST_NUMBER, most=LARGEST_NUMBER),
        _near(positive(slope, "slope"), "slope"),
    )
    if not envelope.slope * LARGEST_NUMBER >= 1:
        raise InvalidParameter.must_be("slope", "at least 2**-200", got=slope)
    spread, measure = not_negative(scale, "scale"), measure_or_pure(privacy_measure)
    if not envelope.slope >= spread * LEAST_FALL:
        raise InvalidParameter.must_be("slope", "at least 2**-500 scales", got=slope)
    draw = OutputAmongIntegers(input_domain, envelope, spread)
    return Measurement(input_domain, metric, measure, draw, GumbelMap(metric, measure, spread, 1))


def _near(value: Fraction, name: str) -> Fraction:
    """Refuse a number that is too far from zero to be counted from."""
    if not abs(value) <= LARGEST_NUMBER:
        raise InvalidParameter.must_be(name, "at most 2**200, above zero or below", got=value)
    return value
