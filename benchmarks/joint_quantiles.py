"""The joint exponential mechanism for quantiles, in floats: a reference to compare with, not to release from.

Reference: Gillenwater, Joseph & Kulesza 2021, Differentially private quantiles.

All quantiles are drawn at once: y_1 <= ... <= y_m with a probability proportional to the exponential of minus
the sum of their errors over the scale. An error is how far the number of people between two answers is from
what was asked for. Between neighbouring people all numbers are alike, so the law is one over n + 1 stretches.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.quantile_data import Ask, Numbers, fractions

Floats = NDArray[np.float64]
MOST_IN_ONE = 24
"""Answers in one stretch: that more of them are has a probability of about 1 / 24!."""


def joint(values: Numbers, points: int, asked: int) -> Ask:
    """Draw all quantiles at epsilon 1, people being spread over the cells of the grid anew for each draw."""
    generator, at = np.random.default_rng(), list(map(float, fractions(asked)))
    wanted = len(values) * np.diff([0.0, *at, 1.0])
    scale = 4 * (1 - min(np.diff([0.0, *at, 1.0])))

    def ask() -> Floats:
        places = np.sort(values + generator.random(len(values)))
        edges = np.concatenate([[0.0], places, [float(points)]])
        drawn: Floats = np.floor(_draw(edges, wanted, scale, generator))
        return drawn

    return ask


def _draw(edges: Floats, wanted: Floats, scale: float, generator: np.random.Generator) -> Floats:
    """Draw by going forward through the sums of weights, and backward through the choices."""
    lengths, m = np.diff(edges), len(wanted) - 1
    logs = np.log(np.maximum(lengths, 1e-300))
    within = -wanted / scale
    """The logarithm of the weight of an answer in the stretch of the one before: ``wanted`` too few."""
    entering = [-np.abs(np.arange(len(lengths)) - wanted[0]) / scale]
    """For each answer, the logarithm of the weight of all before it, if it is the first in its stretch."""
    for answer in range(1, m):
        ending = _ending(entering, answer - 1, logs, within)
        entering.append(_moved(ending, wanted[answer], scale))
    chosen: list[int] = []
    last = _ending(entering, m - 1, logs, within)
    place = _pick(last - np.abs(len(lengths) - 1 - np.arange(len(lengths)) - wanted[m]) / scale, generator)
    while len(chosen) < m:
        answer = m - 1 - len(chosen)
        inside = _of_runs(entering, answer, logs, within, place)
        chosen += [place] * (1 + _pick(inside, generator))
        if len(chosen) < m:
            answer = m - 1 - len(chosen)
            before = _ending(entering, answer, logs, within)[:place]
            place = _pick(before - np.abs(place - np.arange(place) - wanted[answer + 1]) / scale, generator)
    stretch = np.array(chosen)
    return np.sort(edges[stretch] + lengths[stretch] * generator.random(m))


def _of_runs(entering: list[Floats], answer: int, logs: Floats, within: Floats, at: int | slice) -> Floats:
    """Give the weights of 1, 2, ... answers in a stretch, of which this one is the last."""
    most = min(answer + 1, MOST_IN_ONE)
    parts, inside = [], 0.0
    for size in range(1, most + 1):
        parts.append(entering[answer - size + 1][at] + size * logs[at] - math.lgamma(size + 1) + inside)
        inside += within[answer - size + 1]
    return np.array(parts)


def _ending(entering: list[Floats], answer: int, logs: Floats, within: Floats) -> Floats:
    """Give the logarithm of the weight of all up to an answer, which is the last in its stretch."""
    parts = _of_runs(entering, answer, logs, within, slice(None))
    most: Floats = parts.max(axis=0)
    sums: Floats = most + np.log(np.exp(parts - most).sum(axis=0))
    return sums


def _moved(ending: Floats, wanted: float, scale: float) -> Floats:
    """Sum over all earlier stretches: exp(-|stretches apart - wanted| / scale) times their weights."""
    top = ending.max()
    weights = np.exp(ending - top)
    size = 1 << (2 * len(weights) - 1).bit_length()
    kernel = np.exp(-np.abs(np.arange(len(weights)) - wanted) / scale)
    kernel[0] = 0.0  # the same stretch is dealt with elsewhere
    product = np.fft.rfft(weights, size) * np.fft.rfft(kernel, size)
    summed = np.fft.irfft(product, size)[: len(weights)]
    logs: Floats = np.log(np.maximum(summed, 1e-300)) + top
    return logs


def _pick(logs: Floats, generator: np.random.Generator) -> int:
    """Pick a place with probability proportional to the exponential of its logarithm."""
    return int(np.argmax(logs + generator.gumbel(size=len(logs))))
