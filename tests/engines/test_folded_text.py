"""What ``ignore_case`` ignores, of any text: dpselect.engines.folded_text against DuckDB."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import dpselect
from dpselect import Table
from dpselect.engines.folded_text import LONGEST_FOLDED, folded
from tests.engines.asking import asked

TEXTS = st.text(st.sampled_from(" \t\n\v\f\r\x01\x02aAzZ@[`{éÉ\u0301 \u2003İ\u0131ß"), max_size=12)


@settings(max_examples=30)
@given(texts=st.lists(TEXTS, min_size=1, max_size=40))
def test_an_engine_folds_every_text_as_python_does(texts: list[str]) -> None:
    names = list(dict.fromkeys(folded(text) for text in texts))
    problem = dpselect.approval_voting(candidate="x", candidates=names, ignore_case=True)
    spellings = list(problem.candidates.spellings(ignore_case=True))  # type: ignore[union-attr]
    expected = [0] * len(names)
    for text in texts:
        for place in {place for place, spelling in spellings if spelling == folded(text)}:
            expected[place] += 1
    assert asked(problem, Table(pa.table({"x": pa.array(texts, pa.string())}), unit=None)) == expected


def test_folding_twice_changes_nothing_and_each_value_is_folded_alone() -> None:
    assert folded("  A \t\x01 B ") == folded(folded("  A \t\x01 B ")) == "a b"
    assert folded(" \n ") == ""


def test_a_text_that_is_too_long_is_no_candidate() -> None:
    texts = ["a" + " " * LONGEST_FOLDED, "A" + " " * (LONGEST_FOLDED - 1), "a"]
    problem = dpselect.approval_voting(candidate="x", candidates=["a"], ignore_case=True)
    assert asked(problem, Table(pa.table({"x": texts}), unit=None)) == [2]
