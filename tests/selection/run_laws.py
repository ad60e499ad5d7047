"""The law over runs, point by point and in enclosures: the reference that the draws are compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from dpselect.exact.enclosures import Enclosure, enclose
from dpselect.selection.runs import Runs

PRECISION = 200
ENDLESS = 400
"""Points of an infinite run that are listed; the rest is summed by the series."""


def law(groups: Sequence[Runs], scale: Fraction) -> dict[int, Enclosure]:
    """Enclose the probability of each output: weight * exp(score / scale), divided by the sum."""
    weights: defaultdict[int, list[Enclosure]] = defaultdict(list)
    rest = []
    best = max(runs.score(i) for runs in groups for i in range(len(runs.scores)) if runs.count(i) != 0)
    for runs in groups:
        for i in range(len(runs.scores)):
            count, drop = runs.count(i), runs.drop(i)
            for k in range(ENDLESS if count is None else count):
                gap = (runs.score(i) - drop * k - best) / scale
                weights[runs.output(i, k)].append(_times(runs.weight, gap, Fraction(0)))
            if count is None:
                rest.append(
                    _times(runs.weight, (runs.score(i) - drop * ENDLESS - best) / scale, drop / scale)
                )
    all_of_it = _plus([one for those in weights.values() for one in those] + rest)
    of_outputs = {output: _plus(those) for output, those in weights.items()}
    return {
        output: Enclosure(low / all_of_it.high, high / all_of_it.low)
        for output, (low, high) in of_outputs.items()
    }


def _plus(those: Sequence[Enclosure]) -> Enclosure:
    zero = Fraction(0)
    return Enclosure(sum((one.low for one in those), zero), sum((one.high for one in those), zero))


def _times(weight: Fraction, log_weight: Fraction, decay: Fraction) -> Enclosure:
    """Enclose weight * exp(log_weight), or that of all points from one on, which fall by ``decay``."""
    low, high = enclose(
        lambda g, d: g.exp() / (1 if d == 0 else 1 - (-d).exp()), log_weight, decay, precision=PRECISION
    )
    return Enclosure(weight * low, weight * high)
