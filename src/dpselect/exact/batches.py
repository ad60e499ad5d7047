"""The samplers over arrays: a float filter decides what is far from the boundary, ball arithmetic the rest.

A float never decides alone. Its verdict stands only where the distance to the boundary exceeds every error
that the float may carry; the words that fall nearer are compared exactly, and draw more bits if they must.

Proof: batches.proof.md
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.numbers import whole
from dpselect.exact.psrn import Uniform
from dpselect.exact.randomness import Randomness, checked
from dpselect.exact.samplers import falls_below

RELATIVE_SLACK = 2.0**-40
ABSOLUTE_SLACK = 2.0**-50
"""An estimate may be wrong by half of these; the other half is for the filter's own rounding."""


def uniforms_below(n: int, count: int, randomness: Randomness) -> NDArray[np.uint64]:
    """Draw ``count`` independent integers, uniform below n <= 2**64.

    Each try takes the fewest words that can hold n; tries in the incomplete last cycle are thrown away.
    """
    sides = whole(n, "n", least=1, most=2**64)
    wanted = whole(count, "count", least=0)
    source = checked(randomness)
    words_each = -(-max(1, (sides - 1).bit_length()) // source.width)
    tries = 2 ** min(64, words_each * source.width)
    last_usable = np.uint64(tries - tries % sides - 1)
    drawn: list[NDArray[np.uint64]] = []
    missing = wanted
    while missing:
        columns = source.words(missing * words_each).reshape(missing, words_each).T
        value = columns[0]
        for column in columns[1:]:
            value = (value << np.uint64(source.width)) | column
        drawn.append(value[value <= last_usable])
        missing -= len(drawn[-1])
    values = np.concatenate(drawn) if drawn else np.empty(0, dtype=np.uint64)
    return values % np.uint64(sides) if sides < 2**64 else values


def bernoulli_estimated(
    estimate: float, exactly: Callable[[int], Enclosure], randomness: Randomness, *, spare: int = 64
) -> bool:
    """Draw one coin as ``bernoullis`` draws many."""
    word = randomness.word()
    step = 2.0**-randomness.width
    at = word * step
    if at + step <= estimate * (1 - RELATIVE_SLACK) - ABSOLUTE_SLACK and estimate <= 2:
        return True
    if at >= estimate * (1 + RELATIVE_SLACK) + ABSOLUTE_SLACK:
        return False
    return falls_below(Uniform.begun(word, randomness), exactly, spare)


def bernoullis(
    estimates: NDArray[np.float64],
    exactly: Callable[[int], Callable[[int], Enclosure]],
    randomness: Randomness,
    *,
    spare: int = 64,
) -> NDArray[np.bool_]:
    """Draw a coin for each i, True with probability exactly p_i.

    Precondition
        |estimates[i] - p_i| <= estimates[i] * RELATIVE_SLACK / 2 + ABSOLUTE_SLACK / 2   claimed by the caller
        exactly(i)(precision) encloses p_i, ever more closely                            claimed by the caller

    ``spare`` is that of ``falls_below``.
    """
    if not (isinstance(estimates, np.ndarray) and estimates.dtype == np.float64 and estimates.ndim == 1):
        raise InvalidParameter.must_be("estimates", "a one-dimensional float64 array", got=estimates)
    if not callable(exactly):
        raise InvalidParameter.must_be("exactly", "a function from index to enclosures", got=exactly)
    source = checked(randomness)
    words = source.words(len(estimates))
    step = 2.0**-source.width
    at = words.astype(np.float64) * step
    accepted = (at + step <= estimates * (1 - RELATIVE_SLACK) - ABSOLUTE_SLACK) & (estimates <= 2)
    rejected = at >= estimates * (1 + RELATIVE_SLACK) + ABSOLUTE_SLACK
    for i in np.flatnonzero(~(accepted | rejected)):
        accepted[i] = falls_below(Uniform.begun(int(words[i]), source), exactly(int(i)), spare)
    return accepted
