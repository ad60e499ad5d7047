"""An enumeration walks every path once, with its exact weight, and merges only what may be merged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import cast

import pytest

from dpselect.audit import Law, enumerate_law
from dpselect.errors import InvalidParameter
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import bernoulli, permutation, uniform_below


class Counted:
    """A program that counts how often it is run."""

    def __init__(self, program: Callable[[Randomness], object]) -> None:
        self.program = program
        self.runs = 0

    def __call__(self, randomness: Randomness) -> object:
        self.runs += 1
        return self.program(randomness)


# Weights.


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_every_word_has_the_same_weight(width: int) -> None:
    law = enumerate_law(lambda source: source.word(), depth=width, width=width)
    assert law.lower == {word: Fraction(1, 2**width) for word in range(2**width)}
    assert law.unresolved == 0


def test_paths_of_different_length_have_their_own_weights() -> None:
    """The number of zeros before the first one: 2**-(zeros + 1)."""

    def zeros(source: Randomness) -> int:
        count = 0
        while source.word() == 0:
            count += 1
        return count

    law = enumerate_law(zeros, depth=10)
    assert law.lower == {count: Fraction(1, 2 ** (count + 1)) for count in range(10)}
    assert law.unresolved == Fraction(1, 2**10)


def test_values_that_are_equal_are_one_value() -> None:
    law = enumerate_law(lambda source: sum(source.word() for _ in range(10)), depth=10)
    assert law.lower == {ones: Fraction(math.comb(10, ones), 2**10) for ones in range(11)}
    assert law.unresolved == 0


def test_a_program_that_draws_nothing_is_certain() -> None:
    law = enumerate_law(lambda _: "always", depth=0)
    assert law == Law({"always": Fraction(1)}, Fraction(0))


def test_at_depth_zero_a_program_that_draws_is_open() -> None:
    assert enumerate_law(lambda source: source.word(), depth=0) == Law({}, Fraction(1))


def test_a_depth_that_is_no_multiple_of_the_width_is_cut() -> None:
    law = enumerate_law(lambda source: (source.word(), source.word()), depth=5, width=3)
    assert law == Law({}, Fraction(1))


@pytest.mark.parametrize("marked", [False, True], ids=["without marks", "with marks"])
def test_a_program_that_never_ends_leaves_everything_open(*, marked: bool) -> None:
    def endless(source: Randomness) -> None:
        while True:
            if marked:
                source.mark("again")
            source.word()

    assert enumerate_law(endless, depth=12) == Law({}, Fraction(1))


def test_words_of_any_width_prove_the_same() -> None:
    laws = [enumerate_law(lambda source: uniform_below(5, source), 24, width) for width in (1, 2, 3, 4)]
    for law in laws:
        assert all(law.allows(i, Fraction(1, 5), Fraction(1, 5)) for i in range(5))
    assert len({law.unresolved for law in laws}) == 1, "this sampler wastes no bit, whatever the width"


def test_an_array_of_words_is_as_many_words() -> None:
    one_by_one = enumerate_law(lambda source: (source.word(), source.word(), source.word()), depth=6, width=2)
    at_once = enumerate_law(lambda source: tuple(source.words(3).tolist()), depth=6, width=2)
    assert at_once == one_by_one
    assert enumerate_law(lambda source: source.words(3).dtype.name, depth=3).lower == {"uint64": 1}
    assert enumerate_law(lambda source: source.words(0).shape, depth=0).lower == {(0,): 1}


def test_the_program_is_told_the_width() -> None:
    assert enumerate_law(lambda source: source.width, depth=0, width=7).lower == {7: 1}


def test_without_marks_every_path_is_walked_once() -> None:
    program = Counted(lambda source: tuple(source.word() for _ in range(8)))
    enumerate_law(program, depth=8)
    assert program.runs == 2**8


# Marks.


def parity(source: Randomness, *, words: int = 16) -> int:
    """Give the parity of many words: only the parity so far, and how many are left, decides what comes."""
    so_far = 0
    for left in range(words, 0, -1):
        source.mark((so_far, left))
        so_far ^= source.word()
    return so_far


def test_paths_with_equal_marks_are_walked_once() -> None:
    program = Counted(parity)
    law = enumerate_law(program, depth=16)
    assert law == Law({0: Fraction(1, 2), 1: Fraction(1, 2)}, Fraction(0))
    assert program.runs < 100, "there are 2**16 paths, and 2 states after each word"


def test_a_mark_inside_a_longer_program_merges_only_what_happens_inside() -> None:
    """What was drawn before the function was called stays apart, though the function does not know of it."""

    def program(source: Randomness) -> tuple[int, int]:
        before = source.word()
        return before, parity(source, words=6)

    law = enumerate_law(program, depth=7)
    assert law.lower == {(before, inside): Fraction(1, 4) for before in (0, 1) for inside in (0, 1)}
    assert law.unresolved == 0


@pytest.mark.parametrize("width", [1, 2])
def test_two_marking_samplers_in_one_expression_stay_independent(width: int) -> None:
    law = enumerate_law(
        lambda source: (parity(source, words=4) & 1, parity(source, words=3) & 1, source.word()),
        depth=8 * width,
        width=width,
    )
    assert law.unresolved == 0
    values = {(first, second, last) for first in (0, 1) for second in (0, 1) for last in range(2**width)}
    assert law.lower == {value: Fraction(1, 4 * 2**width) for value in values}


def test_marks_of_nested_functions_merge_soundly() -> None:
    """The outer function marks what it remembers; the inner ones do not know of that."""

    def outer(source: Randomness) -> tuple[int, int]:
        total, product = 0, 1
        for _ in range(3):
            source.mark((total, product))
            total += parity(source, words=2)
            product *= 1 + parity(source, words=2)
        return total, product

    def plain(source: Randomness) -> tuple[int, int]:
        total, product = 0, 1
        for _ in range(3):
            total += source.word() ^ source.word()
            product *= 1 + (source.word() ^ source.word())
        return total, product

    assert enumerate_law(outer, depth=12) == enumerate_law(plain, depth=12)


def test_a_mark_after_a_draw_keeps_what_was_drawn_before_it_apart() -> None:
    def late(source: Randomness) -> tuple[int, int]:
        kept = source.word()
        forgotten = 0
        for _ in range(3):
            source.mark(forgotten)
            forgotten ^= source.word()
        return kept, forgotten

    law = enumerate_law(late, depth=4)
    assert law.lower == {(kept, rest): Fraction(1, 4) for kept in (0, 1) for rest in (0, 1)}


def test_two_marks_without_a_draw_in_between_are_both_heeded() -> None:
    def twice(source: Randomness) -> int:
        so_far = 0
        for _ in range(6):
            source.mark(so_far)
            source.mark(so_far + 2)
            so_far ^= source.word()
        source.mark("never followed by a word")
        return so_far

    assert enumerate_law(twice, depth=6) == Law({0: Fraction(1, 2), 1: Fraction(1, 2)}, Fraction(0))


def test_recursion_marks_each_call_by_itself() -> None:
    def tree(source: Randomness, height: int) -> tuple[object, ...]:
        source.mark(height)
        if height == 0 or source.word():
            return ()
        source.mark((height, "left"))
        left = tree(source, height - 1)
        return (left, tree(source, height - 1))

    def plain(source: Randomness, height: int) -> tuple[object, ...]:
        if height == 0 or source.word():
            return ()
        return (plain(source, height - 1), plain(source, height - 1))

    assert enumerate_law(lambda s: tree(s, 3), depth=7) == enumerate_law(lambda s: plain(s, 3), depth=7)


def test_a_generator_may_be_merged_by_who_consumes_it() -> None:
    """The key holds all that was picked so far: what the shuffle does next is a function of it."""

    def order(source: Randomness) -> tuple[int, ...]:
        picks: tuple[int, ...] = ()
        source.mark(picks)
        for index in permutation(5, source):
            picks += (index,)
            source.mark(picks)
        return picks

    merged, plain = Counted(order), Counted(lambda source: tuple(permutation(5, source)))
    laws = enumerate_law(merged, depth=24), enumerate_law(plain, depth=24)
    assert laws[0] == laws[1]
    assert len(laws[0].lower) == 120
    assert merged.runs < plain.runs


def test_a_draw_between_the_items_of_a_generator_stays_apart() -> None:
    def coins(source: Randomness) -> Iterator[int]:
        for _ in range(3):
            yield source.word()

    law = enumerate_law(lambda source: tuple((coin, source.word()) for coin in coins(source)), depth=6)
    assert len(law.lower) == 2**6
    assert set(law.lower.values()) == {Fraction(1, 2**6)}


# What a law says.


def test_a_law_allows_what_lies_between_what_was_proved_and_what_is_open() -> None:
    law = Law({"a": Fraction(1, 2), "b": Fraction(1, 4)}, Fraction(1, 4))
    assert law.allows("a", Fraction(1, 2), Fraction(3, 4))
    assert law.allows("b", Fraction(1, 3), Fraction(1, 3))
    assert law.allows("unseen", Fraction(0), Fraction(1, 4))
    assert not law.allows("a", Fraction(49, 100), Fraction(1, 2))
    assert not law.allows("a", Fraction(1, 2), Fraction(76, 100))
    assert not law.allows("a", Fraction(3, 4), Fraction(1, 2)), "an interval upside down"
    assert not law.allows("unseen", Fraction(26, 100), Fraction(26, 100))


def test_a_law_is_a_value_that_cannot_be_changed() -> None:
    law = enumerate_law(lambda source: bernoulli("1/3", source), depth=20)
    assert law == enumerate_law(lambda source: bernoulli("1/3", source), depth=20)
    with pytest.raises(TypeError):
        cast("dict[bool, Fraction]", law.lower)[True] = Fraction(1)
    with pytest.raises(AttributeError):
        law.unresolved = Fraction(0)  # type: ignore[misc]


# Refusals.


def test_an_error_of_the_program_is_let_through() -> None:
    def fails_on_ones(source: Randomness) -> int:
        if source.word() and source.word():
            raise LookupError("two ones")
        return 0

    with pytest.raises(LookupError, match=r"^two ones$"):
        enumerate_law(fails_on_ones, depth=5)


def test_a_value_that_is_not_hashable_is_refused() -> None:
    with pytest.raises(TypeError, match=r"unhashable type: 'list'"):
        enumerate_law(lambda source: cast("int", [source.word()]), depth=5)


def test_a_key_that_is_not_hashable_is_refused() -> None:
    def program(source: Randomness) -> int:
        source.mark(cast("int", []))
        return source.word()

    with pytest.raises(TypeError, match=r"unhashable type: 'list'"):
        enumerate_law(program, depth=5)


@pytest.mark.parametrize("program", [None, 1, "program", b"", [len]], ids=type)
def test_a_program_is_a_function(program: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^program must be a function of a Randomness; got "):
        enumerate_law(cast("Callable[[Randomness], int]", program), depth=5)


@pytest.mark.parametrize("depth", [-1, 1.0, True, None, "5"], ids=type)
def test_a_depth_is_a_count(depth: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^depth must be a whole number of 0 or more; got "):
        enumerate_law(lambda source: source.word(), depth=cast("int", depth))


@pytest.mark.parametrize("width", [0, 17, -1, 1.0, True, None, "5"], ids=str)
def test_a_width_is_a_small_count(width: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^width must be a whole number from 1 to 16; got "):
        enumerate_law(lambda source: source.word(), depth=5, width=cast("int", width))


def _until_one(randomness: Randomness) -> int:
    """Count words up to the first one, three at the most, marking the count."""
    count = 0
    while count < 3:
        randomness.mark(count)
        count += 1
        if randomness.word():
            break
    return count


def _three_times(randomness: Randomness) -> int:
    """Add three counts; the total is the depth, so the number of the round is a valid key."""
    total = 0
    for round_number in range(3):
        randomness.mark(round_number)
        total += _until_one(randomness)
    return total


class _Deaf:
    """A source that hears no marks."""

    def __init__(self, source: Randomness) -> None:
        self.width = source.width
        self.word = source.word
        self.words = source.words

    def mark(self, key: object) -> None:
        pass


def test_marks_of_nested_calls_are_told_apart() -> None:
    assert enumerate_law(_three_times, 9) == enumerate_law(lambda source: _three_times(_Deaf(source)), 9)


def test_a_generators_marks_are_not_heard() -> None:
    def marking(randomness: Randomness) -> Iterator[int]:
        for place in range(2):
            randomness.mark(place)
            yield randomness.word()

    law = enumerate_law(lambda source: tuple(marking(source)), 2)
    assert set(law.lower.values()) == {Fraction(1, 4)}
