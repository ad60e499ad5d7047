"""Which inputs a measurement accepts."""

import copy
import dataclasses
import datetime as dt
import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.privacy import atom_domain, vector_domain
from dpselect.privacy.domains import NOT_A_SCORE, AtomDomain, VectorDomain
from tests.privacy.bad_inputs import HOUSE_SENTENCE, NEGATIVE, NOT_FINITE, NOT_NUMBERS, NOT_WHOLE, cases

WHOLE = atom_domain(int)
REAL = atom_domain(float)

WHOLE_NUMBERS = [0, -0, 3, -(10**400), np.int8(3), np.uint64(2**64 - 1)]
REAL_NUMBERS = [
    *WHOLE_NUMBERS,
    0.5,
    -0.0,
    5e-324,
    -1.7976931348623157e308,
    np.float16(0.5),
    np.float32(0.1),
    np.longdouble("0.1"),
    Decimal("0.1"),
    Decimal("1e400"),
    Fraction(1, 3),
]
MINUS_INFINITY = [-math.inf, np.float32("-inf"), Decimal("-Infinity")]
NULLS = [None, math.nan, np.float16("nan"), Decimal("NaN"), Decimal("-NaN"), Decimal("sNaN")]
PLUS_INFINITY = [math.inf, np.float64("inf"), np.float32("inf"), Decimal("Infinity")]
NO_NUMBERS = [
    True,
    np.True_,
    "1",
    b"1",
    1j,
    np.complex64(1),
    dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
    dt.timedelta(1),
    np.datetime64("2024-01-01"),
    np.timedelta64(5, "s"),
    np.timedelta64("NaT", "s"),
    np.str_("1"),
    object(),
    [1],
    (1,),
    {1},
    {1: 1},
    np.array(1),
    int,
]

Accepts = Callable[[object], None]
WAYS_TO_ASK: dict[str, Callable[[AtomDomain], Accepts]] = {
    "alone": lambda domain: domain.check,
    "in-a-list": lambda domain: lambda value: vector_domain(domain).check([1, value, 2]),
    "in-a-tuple": lambda domain: lambda value: vector_domain(domain, size=2).check((value, 1)),
}

each_way = pytest.mark.parametrize("way", WAYS_TO_ASK.values(), ids=list(WAYS_TO_ASK))


@each_way
@pytest.mark.parametrize("value", WHOLE_NUMBERS, ids=lambda value: type(value).__name__)
def test_a_domain_of_whole_numbers_admits_every_kind_of_int(
    way: Callable[[AtomDomain], Accepts], value: object
) -> None:
    way(WHOLE)(value)


@each_way
@pytest.mark.parametrize("value", REAL_NUMBERS, ids=lambda value: type(value).__name__)
def test_a_domain_of_real_numbers_admits_every_exact_real_number(
    way: Callable[[AtomDomain], Accepts], value: object
) -> None:
    way(REAL)(value)


@each_way
@pytest.mark.parametrize("value", MINUS_INFINITY, ids=repr)
def test_a8_minus_infinity_is_a_score_of_the_float_domain_and_means_ineligible(
    way: Callable[[AtomDomain], Accepts], value: object
) -> None:
    way(REAL)(value)
    with pytest.raises(OutsideDomain, match=r"scores must be whole numbers; use atom_domain\(float\)"):
        way(WHOLE)(value)


@each_way
@pytest.mark.parametrize("value", NULLS, ids=repr)
def test_a7_null_and_nan_are_admitted_only_by_a_nullable_domain(
    way: Callable[[AtomDomain], Accepts], value: object
) -> None:
    for kind in (int, float):
        way(atom_domain(kind, nullable=True))(value)
        with pytest.raises(OutsideDomain) as caught:
            way(atom_domain(kind))(value)
        assert str(caught.value) == NOT_A_SCORE


@each_way
@pytest.mark.parametrize("value", PLUS_INFINITY, ids=repr)
def test_a8_plus_infinity_is_refused_with_the_sentence_of_nan_even_if_nullable(
    way: Callable[[AtomDomain], Accepts], value: object
) -> None:
    for domain in (REAL, atom_domain(float, nullable=True)):
        with pytest.raises(OutsideDomain) as caught:
            way(domain)(value)
        assert str(caught.value) == NOT_A_SCORE


@each_way
@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: type(value).__name__)
def test_a10_what_is_no_number_is_refused_by_what_is_wanted_and_not_by_what_was_seen(
    way: Callable[[AtomDomain], Accepts], value: object
) -> None:
    for nullable in (False, True):
        for kind in (int, float):
            domain = atom_domain(kind, nullable=nullable)
            with pytest.raises(OutsideDomain) as caught:
                way(domain)(value)
            assert str(caught.value) == domain.wanted


@each_way
@pytest.mark.parametrize("value", [1.0, 0.5, Fraction(1, 3), Decimal(1), np.float32(2)], ids=repr)
def test_a_domain_of_whole_numbers_refuses_every_other_kind_of_number(
    way: Callable[[AtomDomain], Accepts], value: object
) -> None:
    with pytest.raises(OutsideDomain) as caught:
        way(WHOLE)(value)
    assert str(caught.value) == WHOLE.wanted


# Vectors.


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4"])
def test_arrays_of_every_integer_type_are_vectors_of_both_domains(dtype: str) -> None:
    for domain in (WHOLE, REAL):
        vector_domain(domain).check(np.array([1, 2], dtype=dtype))
        vector_domain(domain).check(np.array([], dtype=dtype))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "longdouble", ">f8"])
def test_arrays_of_every_float_type_are_vectors_of_the_float_domain_only(dtype: str) -> None:
    array = np.array([1, -np.inf], dtype=dtype)
    vector_domain(REAL).check(array)
    vector_domain(REAL).check(array[:0])
    with pytest.raises(OutsideDomain) as caught:
        vector_domain(WHOLE).check(array)
    assert str(caught.value) == WHOLE.wanted


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "longdouble"])
def test_a7_nan_in_an_array_is_admitted_only_by_a_nullable_domain_and_infinity_by_none(dtype: str) -> None:
    nullable = vector_domain(atom_domain(float, nullable=True))
    with_nan, with_infinity = np.array([1, np.nan], dtype=dtype), np.array([np.inf, 1], dtype=dtype)
    nullable.check(with_nan)
    for domain, array in [
        (vector_domain(REAL), with_nan),
        (vector_domain(REAL), with_infinity),
        (nullable, with_infinity),
    ]:
        with pytest.raises(OutsideDomain) as caught:
            domain.check(array)
        assert str(caught.value) == NOT_A_SCORE


@pytest.mark.parametrize(
    "array",
    [
        np.array([True, False]),
        np.array([1j]),
        np.array(["1"]),
        np.array([b"1"]),
        np.array([1], dtype="datetime64[s]"),
        np.array([1], dtype="timedelta64[s]"),
        np.array([(1, 2)], dtype=[("a", int), ("b", int)]),
        np.array([True], dtype=object),
        np.array(["1"], dtype=object),
        np.array([object()], dtype=object),
    ],
    ids=lambda array: array.dtype.kind,
)
def test_a10_arrays_of_anything_but_numbers_are_refused(array: object) -> None:
    for kind in (int, float):
        domain = atom_domain(kind)
        with pytest.raises(OutsideDomain) as caught:
            vector_domain(domain).check(array)
        assert str(caught.value) == domain.wanted


def test_an_array_of_objects_is_walked_like_a_list() -> None:
    vector_domain(REAL).check(np.array([1, 0.5, Fraction(1, 3), Decimal("0.1")], dtype=object))
    with pytest.raises(OutsideDomain):
        vector_domain(WHOLE).check(np.array([1, 0.5], dtype=object))


def test_a7_what_a_mask_hides_is_null() -> None:
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    vector_domain(atom_domain(float, nullable=True)).check(masked)
    vector_domain(REAL).check(np.ma.masked_array([1.0, 2.0], [False, False]))
    with pytest.raises(OutsideDomain) as caught:
        vector_domain(REAL).check(masked)
    assert str(caught.value) == NOT_A_SCORE


@pytest.mark.parametrize(
    "scores", [[math.nan, 0.5], [0.5, math.nan], np.array([0.5, math.nan])], ids=["first", "last", "array"]
)
def test_a7_a_wrong_type_is_told_before_a_nan_wherever_they_stand(scores: object) -> None:
    with pytest.raises(OutsideDomain) as caught:
        vector_domain(WHOLE).check(scores)
    assert str(caught.value) == WHOLE.wanted


class Series:
    """What a column of a table looks like to NumPy."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: object = None, *, copy: bool | None = None) -> Any:
        del dtype, copy
        return np.asarray(self.values)


def test_a_series_is_a_vector() -> None:
    vector_domain(WHOLE, size=2).check(Series([1, 2]))
    with pytest.raises(OutsideDomain):
        vector_domain(WHOLE, size=2).check(Series([1.5, 2]))
    with pytest.raises(OutsideDomain, match="one-dimensional"):
        vector_domain(WHOLE).check(Series([[1, 2]]))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        1,
        0.5,
        "12",
        b"12",
        bytearray(b"12"),
        {1, 2},
        {1: 2},
        range(2),
        iter([1]),
        object(),
        np.int64(1),
        np.array(1),
        np.array([[1]]),
        np.str_("12"),
        math.nan,
        Decimal("sNaN"),
        10**5000,
    ],
    ids=lambda value: type(value).__name__,
)
def test_a10_what_is_no_vector_is_refused_by_one_sentence(value: object) -> None:
    with pytest.raises(OutsideDomain) as caught:
        vector_domain(REAL).check(value)
    assert str(caught.value) == (
        "scores must be a one-dimensional array, a list, a tuple or a series of numbers."
    )


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers() | st.floats(allow_nan=False, allow_infinity=False)), st.integers(1, 6))
def test_a_domain_of_a_size_admits_that_size_and_no_other(scores: list[float], size: int) -> None:
    vector_domain(REAL).check(scores)
    domain = vector_domain(REAL, size)
    for vector in (scores, tuple(scores), np.array(scores, dtype=object)):
        if len(scores) == size:
            domain.check(vector)
        else:
            with pytest.raises(OutsideDomain) as caught:
                domain.check(vector)
            assert str(caught.value) == f"scores must be {size} in number, as the domain says."


def test_a_domain_may_be_of_a_size_too_long_to_write() -> None:
    with pytest.raises(OutsideDomain) as caught:
        vector_domain(WHOLE, 10**5000).check([1])
    assert str(caught.value) == "scores must be an integer of 16610 bits in number, as the domain says."


# Making domains.


@pytest.mark.parametrize(
    "kind", [None, True, "int", b"int", 1, 1.0, bool, complex, str, np.int64, [int], object()]
)
def test_an_atom_domain_is_of_int_or_float_itself(kind: Any) -> None:
    with pytest.raises(InvalidParameter, match="kind must be int or float"):
        atom_domain(kind)


@pytest.mark.parametrize("nullable", [None, 0, 1, "yes", [], np.True_, math.nan, object()])
def test_nullable_is_true_or_false(nullable: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        atom_domain(int, nullable=nullable)
    assert str(caught.value).startswith("nullable must be True or False; got ")


@pytest.mark.parametrize(
    "element", **cases(NOT_NUMBERS, NEGATIVE, {"vector": vector_domain(WHOLE), "int": int})
)
def test_a_vector_domain_is_of_an_atom_domain(element: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        vector_domain(element)
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))
    assert str(caught.value).endswith("Write atom_domain(int) or atom_domain(float).")


not_none = {name: value for name, value in NOT_NUMBERS.items() if value is not None}


@pytest.mark.parametrize("size", **cases(not_none, NOT_FINITE, NEGATIVE, NOT_WHOLE, {"0": 0}))
def test_a_size_is_a_whole_number_of_one_or_more(size: Any) -> None:
    with pytest.raises(InvalidParameter, match="size must be a whole number of 1 or more; got ") as caught:
        vector_domain(WHOLE, size)
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


def test_domains_are_values() -> None:
    assert atom_domain(int) == atom_domain(int) != atom_domain(float)
    assert atom_domain(int) != atom_domain(int, nullable=True)
    assert vector_domain(WHOLE, 3) == vector_domain(WHOLE, np.int64(3)) != vector_domain(WHOLE)  # type: ignore[arg-type]
    assert len({atom_domain(int), atom_domain(int), vector_domain(WHOLE), vector_domain(WHOLE)}) == 2
    assert repr(vector_domain(REAL, size=3)) == (
        "VectorDomain(element_domain=AtomDomain(kind=<class 'float'>, nullable=False), size=3)"
    )


def test_domains_cannot_be_changed() -> None:
    for domain, field in [
        (WHOLE, "kind"),
        (WHOLE, "nullable"),
        (vector_domain(WHOLE), "size"),
        (WHOLE, "new"),
    ]:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(domain, field, None)


@pytest.mark.parametrize("domain", [WHOLE, atom_domain(float, nullable=True), vector_domain(REAL, size=2)])
def test_b12_domains_survive_pickling_and_copying(domain: AtomDomain | VectorDomain) -> None:
    for again in (pickle.loads(pickle.dumps(domain)), copy.copy(domain), copy.deepcopy(domain)):
        assert again == domain
        assert type(again) is type(domain)
