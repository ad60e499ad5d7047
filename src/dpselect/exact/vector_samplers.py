"""The samplers over arrays: a float filter decides what is far from the boundary, ball arithmetic the rest.

A float never decides alone. Its verdict stands only where the distance to the boundary exceeds every error
that the float may carry; the words that fall nearer are compared exactly, and draw more bits if they must.

Proof: vector_samplers.proof.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.numbers import whole
from dpselect.exact.partial_numbers import Uniform
from dpselect.exact.randomness import Randomness, checked
from dpselect.exact.samplers import is_below_exactly

SLACK = 2.0**-32
"""An estimate may be wrong by half of this; the other half is for the filter's own rounding."""


def uniforms_below(n: int, count: int, randomness: Randomness) -> NDArray[np.uint64]:
    """Draw ``count`` independent integers, uniform below n <= 2**64.

    Each try takes the fewest words that can hold n; tries in the incomplete last cycle are thrown away.
    """
    sides = whole(n, "n", least=1, most=2**64)
    return draws_below(sides, whole(count, "count", least=0), checked(randomness))


def draws_below(sides: int, wanted: int, source: Randomness) -> NDArray[np.uint64]:
    """Draw as ``uniforms_below`` does, with parameters that need no check."""
    words_each = 1 if sides <= 1 << source.width else -(-(sides - 1).bit_length() // source.width)
    tries = 1 << min(64, words_each * source.width)
    last_usable = tries - tries % sides - 1
    values = source.words(wanted) if words_each == 1 else _joined(source, wanted, words_each)
    while wanted and values.item(values.argmax()) > last_usable:
        values = values[values <= np.uint64(last_usable)]
        values = np.append(values, _joined(source, wanted - len(values), words_each))
    return values % np.uint64(sides) if sides < 1 << 64 else values


def _joined(source: Randomness, count: int, words_each: int) -> NDArray[np.uint64]:
    """Draw ``count`` tries of ``words_each`` words."""
    columns = source.words(count * words_each).reshape(count, words_each).T
    value: NDArray[np.uint64] = columns[0]
    for column in columns[1:]:
        value = (value << np.uint64(source.width)) | column
    return value


def bernoulli_successes(
    estimates: Iterable[float], exactly: Callable[[int], Callable[[int], Enclosure]], randomness: Randomness
) -> list[int]:
    """Draw as ``bernoullis`` does, one by one, which is faster for few; give the indices of the successes."""
    step = 2.0**-randomness.width
    near = SLACK + step
    drawn = []
    for i, estimate in enumerate(estimates):
        word = randomness.word()
        above = estimate - word * step
        if above >= near or (
            not above <= -near and is_below_exactly(Uniform.begun(word, randomness), exactly(i))
        ):
            drawn.append(i)
    return drawn


def is_below(number: Uniform, estimate: float, exactly: Callable[[int], Enclosure]) -> bool:
    """Decide number < p by a float filter, then exactly; the number may have been compared before."""
    step = 2.0**-number.bits
    above = estimate - number.numerator / (1 << number.bits)
    return above > 0 if abs(above) >= SLACK + step else is_below_exactly(number, exactly)


def bernoullis(
    estimates: NDArray[np.float64],
    exactly: Callable[[int], Callable[[int], Enclosure]],
    randomness: Randomness,
    *,
    spare: int = 64,
) -> NDArray[np.bool_]:
    """Draw a coin for each i, True with probability exactly p_i.

    Precondition
        |estimates[i] - p_i| <= SLACK / 2, or estimates[i] is NaN    claimed by the caller
        exactly(i)(precision) encloses p_i, ever more closely        claimed by the caller

    ``spare`` is that of ``is_below_exactly``.
    """
    if not (isinstance(estimates, np.ndarray) and estimates.dtype == np.float64 and estimates.ndim == 1):
        raise InvalidParameter.must_be("estimates", "a one-dimensional float64 array", got=estimates)
    if not callable(exactly):
        raise InvalidParameter.must_be("exactly", "a function from index to enclosures", got=exactly)
    source = checked(randomness)
    words = source.words(len(estimates))
    step = 2.0**-source.width
    above = estimates - words * step
    accepted = above > 0
    far = np.abs(above)
    if len(far) and not far.item(far.argmin()) >= SLACK + step:
        for i in (~(far >= SLACK + step)).nonzero()[0].tolist():
            accepted[i] = is_below_exactly(Uniform.begun(words.item(i), source), exactly(i), spare)
    return accepted
