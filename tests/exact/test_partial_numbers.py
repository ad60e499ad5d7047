"""Partially sampled numbers: the largest of several follows the law of the mechanism, exactly.

The closed forms are in ``laws.py``. An enumeration ends sooner when the best score comes first.
"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact import enclosures
from dpselect.exact.partial_numbers import Exponential, Gumbel, Known, Laplace, PartialNumber, Uniform
from dpselect.exact.randomness import Randomness, system
from tests.exact import laws
from tests.exact.laws import Walk
from tests.exact.sources import Given, untouchable

OPEN_OF_TWO, OPEN_OF_FOUR = Fraction(1, 2**8), Fraction(1, 2**4)
ALL_ONES = 2**64 - 1
KINDS: dict[str, Callable[[Randomness], PartialNumber]] = {
    "Uniform": Uniform,
    "Gumbel": lambda source: Gumbel(Fraction(1, 3), 2, source),
    "Exponential": lambda source: Exponential(Fraction(1, 3), 2, source),
    "Laplace": lambda source: Laplace(Fraction(1, 3), 2, source),
}

Scores = Sequence[float | Fraction]

TWO: list[tuple[Scores, str, int]] = [
    ((1, 0), "1", 18),
    ((0, 0), "1", 20),
    ((0.1, 0.3), "1/5", 18),
    ((1e308, -1e308), "1e-300", 18),
]
FOUR: list[tuple[Scores, str, int]] = [
    ((Fraction(8, 3), Fraction(2, 3), 0, 0), "1/2", 15),
    ((0.2, -0.3, -0.4, -0.4), "1/10", 14),
    ((1e308, 0, -1e308, -1e308), "1e-300", 14),
]


# The law of the largest.


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(("scores", "scale", "depth"), TWO, ids=str)
def test_the_largest_of_two_gumbel_numbers_follows_softmax(scores: Scores, scale: str, depth: int) -> None:
    laws.check_argmax(Gumbel, scores, Walk(depth, OPEN_OF_TWO), scale=Fraction(scale), law="softmax")


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(("scores", "scale", "depth"), TWO, ids=str)
def test_the_largest_of_two_exponential_numbers_follows_permute_and_flip(
    scores: Scores, scale: str, depth: int
) -> None:
    laws.check_argmax(
        Exponential, scores, Walk(depth, OPEN_OF_TWO), scale=Fraction(scale), law="permute_and_flip"
    )


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(("scores", "scale", "depth"), FOUR, ids=str)
def test_the_largest_of_four_gumbel_numbers_follows_softmax(scores: Scores, scale: str, depth: int) -> None:
    laws.check_argmax(Gumbel, scores, Walk(depth, OPEN_OF_FOUR), scale=Fraction(scale), law="softmax")


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(("scores", "scale", "depth"), FOUR, ids=str)
def test_the_largest_of_four_exponential_numbers_follows_permute_and_flip(
    scores: Scores, scale: str, depth: int
) -> None:
    laws.check_argmax(
        Exponential, scores, Walk(depth, OPEN_OF_FOUR), scale=Fraction(scale), law="permute_and_flip"
    )


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(("scores", "scale", "depth"), TWO, ids=str)
def test_the_larger_of_two_laplace_numbers_is_the_difference_of_two_laplace_laws(
    scores: Scores, scale: str, depth: int
) -> None:
    """P(the worse is larger) = exp(-gap) (2 + gap) / 4."""
    gap = abs(Fraction(scores[0]) - Fraction(scores[1])) / Fraction(scale)
    if gap > 2**20:
        worse = laws.NEVER
    else:
        worse = enclosures.enclose(lambda x: (2 + x) * (-x).exp() / 4, gap, precision=laws.PRECISION)
    better = enclosures.Enclosure(1 - worse.high, 1 - worse.low)
    expected = [better, worse] if scores[0] >= scores[1] else [worse, better]
    laws.check(
        lambda source: laws.argmax(Laplace, scores, Fraction(scale), source),
        expected.__getitem__,
        range(2),
        Walk(depth - 5, OPEN_OF_TWO * 12),
    )


def test_a_known_number_draws_nothing_and_is_compared_with_those_that_do() -> None:
    for word, above in ((2**62, False), (3 * 2**62, True)):
        number, known = Laplace(3, 1, Given([word])), Known(Fraction(3))
        known.refine()
        assert number.greater_than(known) is above
        assert known.greater_than(Laplace(3, 1, Given([word]))) is not above
        assert known.bits == 0


@pytest.mark.parametrize("width", [2, 3])
def test_the_law_does_not_depend_on_the_width_of_the_words(width: int) -> None:
    walk = Walk(12, Fraction(1, 2**4), width)
    laws.check_argmax(Gumbel, (2, 0), walk, law="softmax")
    laws.check_argmax(Exponential, (2, 0), walk, law="permute_and_flip")


def test_a_uniform_number_keeps_to_a_bound_exactly_if_its_ends_do() -> None:
    bounds = [Fraction(top, bottom) for bottom in range(1, 13) for top in range(-1, 2 * bottom)]
    for words in [(), (0,), (5,), (7,), (0, 3), (7, 7)]:
        number = Uniform(Given(list(words), width=3))
        for _ in words:
            number.refine()
        assert [number.is_at_most(bound) for bound in bounds] == [number.upper() <= b for b in bounds]
        assert [number.is_at_least(bound) for bound in bounds] == [number.lower() >= b for b in bounds]


def test_each_of_two_uniform_numbers_is_the_larger_half_of_the_time() -> None:
    laws.check(
        lambda source: Uniform(source).greater_than(Uniform(source)),
        laws.of_a_coin(laws.exactly(Fraction(1, 2))),
        [False, True],
        Walk(18, Fraction(1, 2**8)),
    )


@pytest.mark.usefixtures("unmeasured")
def test_a_uniform_number_and_an_exponential_one_compare_as_integrals_say() -> None:
    """P(E > U) is the integral of exp(-u) over 0 < u < 1: 1 - 1/e."""
    laws.check(
        lambda source: Exponential(0, 1, source).greater_than(Uniform(source)),
        laws.of_a_coin(laws.complement(enclosures.exp(-1, laws.PRECISION))),
        [False, True],
        Walk(16, Fraction(1, 2**6)),
    )


# Comparison.


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_is_not_greater_than_itself_and_draws_nothing_to_say_so(kind: str) -> None:
    number = KINDS[kind](untouchable())
    assert not number.greater_than(number)


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_consistent(kind: str) -> None:
    """Asked both ways, in any order, and again: the numbers behind the answers do not change."""
    numbers = [KINDS[kind](system()) for _ in range(12)]
    order = sorted(range(12), key=lambda i: sum(numbers[i].greater_than(other) for other in numbers))
    for rank, i in enumerate(order):
        for j in order[:rank]:
            assert numbers[i].greater_than(numbers[j])
            assert not numbers[j].greater_than(numbers[i])


@pytest.mark.parametrize("kind", KINDS)
def test_equal_words_are_told_apart_by_the_first_that_differs(kind: str) -> None:
    shared = [2**63 + 12345] * 3
    for word, other, verdict in ((7, 9, False), (9, 7, True)):
        left, right = KINDS[kind](Given([*shared, word])), KINDS[kind](Given([*shared, other]))
        assert left.greater_than(right) is verdict
        assert left.bits == right.bits == 4 * 64


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("end", [0, ALL_ONES], ids=["zeros", "ones"])
def test_numbers_at_the_far_ends_are_told_apart(kind: str, end: int) -> None:
    left, right = KINDS[kind](Given([end, end, 5])), KINDS[kind](Given([end, end, 9]))
    assert right.greater_than(left)


@pytest.mark.parametrize(
    "other", [None, 0, 0.5, Fraction(1, 2), "1/2", Uniform, [Uniform(system())]], ids=str
)
def test_only_partially_sampled_numbers_are_compared(other: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^other must be a partially sampled number; got "):
        Uniform(untouchable()).greater_than(cast("PartialNumber", other))


class Dart(PartialNumber):
    """A number of another make, without memory: its digits are given."""

    def __init__(self, digits: str) -> None:
        self.digits = digits
        self.bits = 0

    def refine(self) -> None:
        self.bits += 1

    def lower(self, precision: int) -> Fraction:
        assert precision > self.bits
        return Fraction(int("0" + self.digits[: self.bits], 2), 2**self.bits)

    def upper(self, precision: int) -> Fraction:
        return self.lower(precision) + Fraction(1, 2**self.bits)


def test_numbers_of_any_make_are_compared() -> None:
    assert Dart("0101").greater_than(Dart("0100"))
    assert not Dart("0100").greater_than(Dart("0101"))
    assert Dart("1111").greater_than(Uniform(Given([0])))
    assert Exponential(1, 1, untouchable()).greater_than(Dart("1111"))


# Bounds.


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("kind", KINDS)
@given(words=st.lists(st.integers(0, 7), min_size=1, max_size=30), precision=st.integers(1, 200))
def test_bounds_nest_as_words_are_drawn(kind: str, words: list[int], precision: int) -> None:
    number = KINDS[kind](Given(words, width=3))
    low, high = number.lower(precision), number.upper(precision)
    finest = 400
    for drawn in range(1, len(words) + 1):
        within = number.lower(finest), number.upper(finest)
        number.refine()
        assert number.bits == 3 * drawn
        assert within[0] <= number.lower(finest) + Fraction(1, 2**300)
        low, high = number.lower(precision), number.upper(precision)
        assert low <= number.lower(finest)
        assert number.upper(finest) <= high
        assert low <= high


QUANTILES: dict[str, Callable[[Fraction], enclosures.Enclosure]] = {
    "Gumbel": lambda u: enclosures.enclose(lambda x: -((-x.log()).log()), u, precision=500),
    "Exponential": lambda u: enclosures.enclose(lambda x: -(1 - x).log(), u, precision=500),
    "Laplace": lambda u: (
        enclosures.enclose(lambda x: (2 * x).log(), u, precision=500)
        if u <= Fraction(1, 2)
        else enclosures.enclose(lambda x: -(2 - 2 * x).log(), u, precision=500)
    ),
}


@pytest.mark.parametrize("kind", QUANTILES)
@pytest.mark.parametrize("words", [[1], [5], [14], [0, 1], [15, 14], [7, 0], [3, 15]], ids=str)
def test_bounds_are_the_quantiles_at_the_ends_of_what_is_known(kind: str, words: list[int]) -> None:
    shift, scale = Fraction(1, 3), 2
    number = KINDS[kind](Given(words, width=4))
    for _ in words:
        number.refine()
    known = sum(word * 16 ** (len(words) - 1 - place) for place, word in enumerate(words))
    unit = 16 ** len(words)
    low, high = (shift + scale * QUANTILES[kind](Fraction(end, unit)).low for end in (known, known + 1))
    for precision in (10, 64, 300):
        slack = Fraction(20, 2**precision)
        assert low - slack <= number.lower(precision) <= low
        assert high <= number.upper(precision) <= high + slack


def test_bounds_are_infinite_where_the_noise_is() -> None:
    """A Gumbel number has no bound at first; an exponential one is never below its score."""
    gumbel, exponential = Gumbel(3, 1, Given([0, 1])), Exponential(3, 1, Given([ALL_ONES, 1]))
    assert (gumbel.lower(64), gumbel.upper(64)) == (-math.inf, math.inf)
    laplace = Laplace(3, 1, untouchable())
    assert (laplace.lower(64), laplace.upper(64)) == (-math.inf, math.inf)
    assert (exponential.lower(64), exponential.upper(64)) == (3, math.inf)
    gumbel.refine()
    exponential.refine()
    assert gumbel.lower(64) == -math.inf
    assert gumbel.upper(64) < 0
    assert exponential.lower(64) > 47
    assert exponential.upper(64) == math.inf
    gumbel.refine()
    exponential.refine()
    assert gumbel.lower(64) > -math.inf
    assert exponential.upper(64) < math.inf


def test_the_bounds_of_a_uniform_number_are_exact() -> None:
    number = Uniform(Given([5, 0, 7], width=3))
    assert (number.lower(), number.upper()) == (Fraction(0), Fraction(1))
    for low, high, bits in ((5, 6, 3), (40, 41, 6), (327, 328, 9)):
        number.refine()
        assert (number.lower(1), number.upper(99)) == (Fraction(low, 2**bits), Fraction(high, 2**bits))
        assert (number.numerator, number.bits) == (low, bits)


def test_a_uniform_number_is_narrowed_relative_to_where_it_lies() -> None:
    """Words of 3 bits: 0, 0, 1, 5 spell 13 / 2**12, known to one part in 13."""
    for parts, bits in ((1, 9), (2, 12), (13, 12), (14, 15)):
        number = Uniform(Given([0, 0, 1, 5, 0, 0], width=3))
        number.narrow(parts)
        assert number.bits == bits
        assert (number.upper() - number.lower()) * parts <= number.lower()


def test_a_uniform_number_may_begin_with_a_word_drawn_before() -> None:
    number = Uniform.begun(5, Given([7], width=3))
    assert (number.lower(), number.upper(), number.bits) == (Fraction(5, 8), Fraction(6, 8), 3)
    number.refine()
    assert (number.lower(), number.upper(), number.bits) == (Fraction(47, 64), Fraction(48, 64), 6)


@pytest.mark.parametrize("kind", ["Gumbel", "Exponential", "Laplace"])
@pytest.mark.parametrize("precision", [0, -1, 64.0, True, None, "64", 2**20 + 1], ids=str)
def test_a_precision_is_a_count_of_bits(kind: str, precision: object) -> None:
    number = KINDS[kind](untouchable())
    for bound in (number.lower, number.upper):
        with pytest.raises(
            InvalidParameter, match=r"^precision must be a whole number from 1 to 1048576; got "
        ):
            bound(cast("int", precision))


# What goes in, and what comes out in words.


@pytest.mark.parametrize("score", [0.1, np.float32(0.1), Decimal("0.1"), 7, 10**400, -1e308], ids=str)
def test_a_score_is_read_as_the_number_that_it_is(score: float) -> None:
    """A float is binary. The lower bound of an exponential number of which nothing is known is its score."""
    assert Exponential(score, 1, untouchable()).lower(64) == Fraction(*score.as_integer_ratio())


def test_a_scale_is_read_as_a_parameter() -> None:
    first, second = Exponential(0, 0.1, Given([9])), Exponential(0, "1/10", Given([9]))
    first.refine()
    second.refine()
    assert (first.lower(64), first.upper(64)) == (second.lower(64), second.upper(64))


@pytest.mark.parametrize("kind", [Gumbel, Exponential, Laplace])
@pytest.mark.parametrize(
    "score",
    [
        *[math.nan, math.inf, -math.inf, np.float32("nan"), Decimal("NaN"), np.array(31337), [31337]],
        *["31337", b"31337", 31337j, {"score": 31337}, True],
    ],
    ids=type,
)
def test_d9_a_refused_score_is_nowhere_in_the_error(
    kind: Callable[[object, int, Randomness], PartialNumber], score: object
) -> None:
    with pytest.raises(OutsideDomain) as caught:
        kind(score, 1, untouchable())
    assert str(caught.value) == "shift must be a finite real number: int, float, Decimal or Fraction."
    assert caught.value.__context__ is None
    _, *frames_of_the_library = caught.traceback
    assert frames_of_the_library
    for entry in frames_of_the_library:
        assert all(local is not score for local in entry.frame.f_locals.values()), entry


@pytest.mark.parametrize("kind", [Gumbel, Exponential, Laplace])
@pytest.mark.parametrize(("scale", "source"), [(0, untouchable()), ("x", untouchable()), (1, None)], ids=type)
def test_d9_a_good_score_is_nowhere_in_the_error_about_another_parameter(
    kind: Callable[[object, object, object], PartialNumber], scale: object, source: object
) -> None:
    with pytest.raises(InvalidParameter) as caught:
        kind(31337, scale, source)
    assert caught.value.__context__ is None
    _, *frames_of_the_library = caught.traceback
    assert frames_of_the_library
    assert "31337" not in str(caught.value)
    for entry in frames_of_the_library:
        assert "31337" not in repr(entry.frame.f_locals), entry


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_shows_neither_score_nor_bits(kind: str) -> None:
    number = KINDS[kind](Given([31337]))
    assert repr(number) == f"<{kind} number, 0 bits drawn>"
    number.refine()
    assert f"{number}" == f"<{kind} number, 64 bits drawn>"


@pytest.mark.parametrize("kind", [Exponential, Gumbel, Laplace])
def test_a4_numbers_beyond_all_floats_compare(kind: type[Exponential | Gumbel | Laplace]) -> None:
    for first in (0, ALL_ONES, 2**63):
        far = kind(10**400, 1, Given([first, 2**62, 2**61, 2**60]))
        assert far.greater_than(kind(0, 1, Given([2**63, 2**62, 2**61, 2**60])))


@pytest.mark.parametrize("copier", [pickle.dumps, copy.copy, copy.deepcopy])
def test_b12_a_number_is_neither_pickled_nor_copied(copier: Callable[[object], object]) -> None:
    with pytest.raises(TypeError, match="not copied"):
        copier(Gumbel(1, 1, system()))
