"""The form of a question: what was said so far, and sensible beginnings for what was not.

A beginning comes from the schema and the curator's public lists alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import positive
from dpselect.studio.asked_question import OF_NAMES, QUESTION_FIELDS, QUESTIONS

FIRST_EPSILON, FIRST_SURE = "0.25", "99 %"
"""The price and the confidence of a form that nothing was said in."""
NUMBER_KINDS = ("integer", "decimal", "double", "single")
SLIDE_LOW, SLIDE_HIGH = -250, 100
"""The slider's ends: hundred times the logarithm to base 10 of an epsilon."""


@dataclass(frozen=True, kw_only=True)
class QuestionForm:
    """What the controls of the page hold."""

    words: Mapping[str, Any]
    """The fields of a question, as they go to a quote and to a payment."""
    columns: tuple[str, ...]
    offered: tuple[str, ...]
    """The curator's public candidates of the column."""
    unit: str | None

    def __getattr__(self, name: str) -> Any:
        """Give a field of the question; "" where nothing is said of it."""
        if name.startswith("_") or name not in QUESTION_FIELDS:
            raise AttributeError(name)
        return self.words.get(name, "")

    @property
    def is_of_names(self) -> bool:
        """Whether its answers are names in a column."""
        return self.words["question"] in OF_NAMES

    @property
    def lines(self) -> list[str]:
        """The candidates that are written into the form, one on each line."""
        given = self.words.get("candidates", "")
        return given.splitlines() if isinstance(given, str) else [*given]

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The fields as texts."""
        return [
            (name, value if isinstance(value, str) else "\n".join(value))
            for name, value in self.words.items()
            if value
        ]

    @property
    def slide(self) -> int:
        """Where the slider of the price stands."""
        try:
            epsilon = positive(self.words.get("epsilon") or FIRST_EPSILON, "epsilon")
        except InvalidParameter:
            return 0
        epsilon = min(max(epsilon, Fraction(1, 1000)), Fraction(100))
        return min(max(round(100 * math.log10(epsilon)), SLIDE_LOW), SLIDE_HIGH)


def form_of(
    given: Mapping[str, Any],
    data_set: str,
    unit: str | None,
    columns: Sequence[Mapping[str, str]],
    lists: Mapping[str, Sequence[str]],
) -> QuestionForm:
    """Complete what was said: the first column that fits the question, a first price."""
    words = {
        name: value for name, value in given.items() if name in QUESTION_FIELDS and value not in ("", None)
    }
    names = tuple(each["name"] for each in columns)
    words["data_set"] = data_set
    numbers = [each["name"] for each in columns if each["kind"] in NUMBER_KINDS and each["name"] != unit]
    if words.get("question") not in QUESTIONS:
        has_names = lists or len(numbers) < len(names) - (unit in names)
        words["question"] = "vote" if has_names else "quantile"
    if words.get("column") not in names:
        fitting = [*lists] if words["question"] in OF_NAMES else numbers
        others = [name for name in names if name != unit]
        words["column"] = next((name for name in [*fitting, *others] if name in names), "")
    if not (words.get("epsilon") or words.get("within")):
        words["epsilon"] = FIRST_EPSILON
    words.setdefault("sure", FIRST_SURE)
    return QuestionForm(
        words=_fitting(words), columns=names, offered=tuple(lists.get(words["column"], ())), unit=unit
    )


def _fitting(words: dict[str, Any]) -> dict[str, Any]:
    """Leave out what another question was asked with."""
    of_names = words["question"] in OF_NAMES
    strange = {"low", "high", "step", "at"} if of_names else {"candidates", "quorum", "ignore_case", "rank"}
    if words["question"] != "top":
        strange.add("k")
    if words["question"] != "borda":
        strange.add("rank")
    if words["question"] != "quantile":
        strange.add("at")
    if words["question"] not in {"vote", "plurality", "borda"}:
        strange.add("quorum")
    return {name: value for name, value in words.items() if name not in strange}
