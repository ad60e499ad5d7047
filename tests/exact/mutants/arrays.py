"""Wrong samplers over arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.partial_numbers import Uniform
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import is_below_exactly
from tests.exact.laws import Curve

Estimates: TypeAlias = NDArray[np.float64]
Exactly: TypeAlias = Callable[[int], Curve]


def all_words_modulo(n: int, count: int, source: Randomness) -> NDArray[np.uint64]:
    """Modulo bias."""
    return source.words(count) % np.uint64(n)


def one_word_too_many(n: int, count: int, source: Randomness) -> NDArray[np.uint64]:
    """The last cycle is taken to be one word longer than it is."""
    values: list[int] = []
    while len(values) < count:
        word = source.word()
        if word <= 2**source.width - 2**source.width % n:
            values.append(word % n)
    return np.array(values, dtype=np.uint64)


def without_a_fallback(estimates: Estimates, _: Exactly, source: Randomness) -> NDArray[np.bool_]:
    """The float decides."""
    return source.words(len(estimates)) * 2.0**-source.width < estimates


def filter_with(slack: float) -> Callable[[Estimates, Exactly, Randomness], NDArray[np.bool_]]:
    """Build a float filter with this slack: right, or too small."""

    def sampler(estimates: Estimates, exactly: Exactly, source: Randomness) -> NDArray[np.bool_]:
        words = source.words(len(estimates))
        step = 2.0**-source.width
        at = words * step
        accepted = at + step <= estimates - slack
        rejected = at >= estimates + slack
        for i in np.flatnonzero(~(accepted | rejected)):
            accepted[i] = is_below_exactly(Uniform.begun(int(words[i]), source), exactly(int(i)))
        return accepted

    return sampler


def with_a_fallback_that_begins_anew(
    estimates: Estimates, exactly: Exactly, source: Randomness
) -> NDArray[np.bool_]:
    """The fallback forgets the word that brought it there."""
    words = source.words(len(estimates))
    step = 2.0**-source.width
    accepted = (words + 1) * step <= estimates - 2.0**-20
    rejected = words * step >= estimates + 2.0**-20
    for i in np.flatnonzero(~(accepted | rejected)):
        number = Uniform(source)
        number.refine()
        accepted[i] = is_below_exactly(number, exactly(int(i)))
    return accepted


def with_one_number_for_all(estimates: Estimates, exactly: Exactly, source: Randomness) -> NDArray[np.bool_]:
    """Each coin is fair by itself, but they fall alike."""
    number = Uniform(source)
    return np.array([is_below_exactly(number, exactly(i)) for i in range(len(estimates))])
