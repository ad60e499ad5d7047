"""Whatever is refused is refused in the house's sentence, before a word is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.partial_numbers import Exponential, Gumbel, Uniform
from dpselect.exact.samplers import (
    bernoulli,
    bernoulli_enclosed,
    bernoulli_exp,
    binomial,
    discrete_laplace,
    geometric_trials,
    permutation,
    truncated_geometric,
    uniform_below,
)
from dpselect.exact.vector_samplers import bernoullis, uniforms_below
from tests.exact.sources import untouchable

Call = Callable[..., object]

NOT_NUMBERS = [
    *[math.nan, math.inf, -math.inf, None, True, np.False_, 1j, b"1", "", "one", "1/0", "1e10000000"],
    *[[1], (1,), {1: 1}, np.array(0.5), np.array([0.5]), object(), Decimal("NaN"), Decimal("1e10000000")],
]
NOT_COUNTS = [*NOT_NUMBERS, 3.0, np.float64(3), Fraction(3), "3", -1]
NEGATIVE = [-1, -0.5, "-1e-400", Fraction(-1, 3)]
NOT_PROBABILITIES = [*NOT_NUMBERS, *NEGATIVE, 2, 1.5, "1." + "0" * 300 + "1", 10**400]
NOT_SOURCES = [None, 0, "system", b"", [1, 2], object(), np.random.default_rng(0), len]
HALF = np.array([0.5])


def sharp(_: int) -> Enclosure:
    return Enclosure(Fraction(1, 2), Fraction(1, 2))


# For each parameter: its name, what is wrong for it, and a call that is right in everything else.
PARAMETERS: dict[str, tuple[str, list[object], Call]] = {
    "uniform_below": ("n", [*NOT_COUNTS, 0], uniform_below),
    "bernoulli": ("p", NOT_PROBABILITIES, bernoulli),
    "bernoulli_exp": ("x", [*NOT_NUMBERS, *NEGATIVE], bernoulli_exp),
    "bernoulli_enclosed": ("enclose", [*NOT_NUMBERS, 0.5, "1/2"], bernoulli_enclosed),
    "geometric": ("p", [*NOT_PROBABILITIES, 0, 0.0, "0/1"], geometric_trials),
    "binomial, trials": ("n", NOT_COUNTS, lambda n, source: binomial(n, "1/2", source)),
    "binomial, chance": ("p", NOT_PROBABILITIES, lambda p, source: binomial(3, p, source)),
    "permutation": ("n", NOT_COUNTS, permutation),
    "discrete_laplace": ("scale", [*NOT_NUMBERS, *NEGATIVE, 0], discrete_laplace),
    "truncated_geometric, decay": (
        "decay",
        [*NOT_NUMBERS, *NEGATIVE, 0],
        lambda decay, source: truncated_geometric(decay, 3, source),
    ),
    "truncated_geometric, count": (
        "count",
        [*(wrong for wrong in NOT_COUNTS if wrong is not None), 0],
        lambda count, source: truncated_geometric(1, count, source),
    ),
    "Gumbel": ("scale", [*NOT_NUMBERS, *NEGATIVE, 0], lambda scale, source: Gumbel(1, scale, source)),
    "Exponential": (
        "scale",
        [*NOT_NUMBERS, *NEGATIVE, 0],
        lambda scale, source: Exponential(1, scale, source),
    ),
    "uniforms_below, n": ("n", [*NOT_COUNTS, 0, 2**64 + 1], lambda n, source: uniforms_below(n, 1, source)),
    "uniforms_below, count": ("count", NOT_COUNTS, lambda count, source: uniforms_below(3, count, source)),
    "bernoullis": (
        "estimates",
        [None, 0.5, [0.5], "half", np.array(0.5), np.array([1]), HALF.astype(np.float32), HALF.reshape(1, 1)],
        lambda estimates, source: bernoullis(estimates, lambda _: sharp, source),
    ),
}

RIGHT: dict[str, Call] = {
    "uniform_below": lambda source: uniform_below(3, source),
    "bernoulli": lambda source: bernoulli("1/3", source),
    "bernoulli_exp": lambda source: bernoulli_exp("1/3", source),
    "bernoulli_enclosed": lambda source: bernoulli_enclosed(sharp, source),
    "geometric": lambda source: geometric_trials("1/3", source),
    "binomial": lambda source: binomial(3, "1/3", source),
    "permutation": lambda source: permutation(3, source),
    "discrete_laplace": lambda source: discrete_laplace("1/3", source),
    "truncated_geometric": lambda source: truncated_geometric("1/3", 3, source),
    "Gumbel": lambda source: Gumbel(1, 1, source),
    "Exponential": lambda source: Exponential(1, 1, source),
    "Uniform": Uniform,
    "uniforms_below": lambda source: uniforms_below(3, 1, source),
    "bernoullis": lambda source: bernoullis(HALF, lambda _: sharp, source),
}


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_bad_parameter_is_refused_before_a_word_is_drawn(parameter: str) -> None:
    name, bad, call = PARAMETERS[parameter]
    for value in bad:
        with pytest.raises(InvalidParameter, match=rf"^{name} must be [^;]+; got .+\.") as caught:
            call(value, untouchable())
        assert caught.value.__context__ is None


@pytest.mark.parametrize("function", RIGHT)
def test_what_is_no_source_of_words_is_refused(function: str) -> None:
    for source in NOT_SOURCES:
        with pytest.raises(InvalidParameter, match=r"^randomness must be a source of random words; got "):
            RIGHT[function](source)


@pytest.mark.parametrize(
    "function", sorted(RIGHT.keys() - {"permutation", "Gumbel", "Exponential", "Uniform"})
)
def test_what_is_right_does_ask_for_a_word(function: str) -> None:
    with pytest.raises(AssertionError, match=r"^a word too many was drawn$"):
        RIGHT[function](untouchable())


@pytest.mark.parametrize(
    "draw",
    [
        lambda: geometric_trials(1, None),  # type: ignore[arg-type]
        lambda: binomial(3, 1, None),  # type: ignore[arg-type]
        lambda: binomial(0, "1/2", None),  # type: ignore[arg-type]
        lambda: bernoulli_exp(0, None),  # type: ignore[arg-type]
    ],
)
def test_a_source_is_asked_for_even_where_no_word_is_needed(draw: Callable[[], object]) -> None:
    with pytest.raises(InvalidParameter, match=r"^randomness must be "):
        draw()
