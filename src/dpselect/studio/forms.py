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
from dpselect.studio.controls import lines_of, missing_labels
from dpselect.studio.offered import PublicWords

FIRST_EPSILON, FIRST_SURE = "0.25", "99 %"
"""The price and the confidence of a form that nothing was said in."""
NUMBER_KINDS = ("integer", "decimal", "double", "single")
CHANGE_THE_COLUMN = ("question", "data_set")
"""Controls after which another column may be meant; a column that was chosen itself is kept."""
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
    offered_groups: tuple[str, ...]
    """The curator's public list of the column of the groups."""
    unit: str | None
    missing: tuple[str, ...] = ()
    """The labels of controls that must be filled in before there is a price."""

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
    def has_quorum(self) -> bool:
        """Whether no clear winner may be the answer."""
        return self.words["question"] not in OF_RANKS

    @property
    def has_people(self) -> bool:
        """Whether a bound on the number of people may be said."""
        return self.words["question"] in (*OF_PEOPLE, "quantile")

    @property
    def lines(self) -> list[str]:
        """The candidates that are written into the form, one on each line."""
        return lines_of(self.words.get("candidates", ""))

    @property
    def group_lines(self) -> list[str]:
        """The groups that are written into the form, one on each line."""
        return lines_of(self.words.get("groups", ""))

    @property
    def group_columns(self) -> list[str]:
        """The columns whose values may make groups."""
        return [name for name in self.columns if name not in (self.unit, self.column)]

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


def completed_form(
    given: Mapping[str, Any],
    data_set: str,
    unit: str | None,
    columns: Sequence[Mapping[str, str]],
    public: PublicWords,
) -> QuestionForm:
    """Complete what was said: the first column that fits the question, public bounds, a first price."""
    lists, bounds = public.lists, public.bounds
    words = {
        name: value for name, value in given.items() if name in QUESTION_FIELDS and value not in ("", None)
    }
    names = tuple(each["name"] for each in columns)
    words["data_set"] = data_set
    numbers = [each["name"] for each in columns if each["kind"] in NUMBER_KINDS and each["name"] != unit]
    if words.get("question") not in QUESTIONS:
        has_names = lists or len(numbers) < len(names) - (unit in names)
        words["question"] = "vote" if has_names else "quantile"
    if words.get("column") not in names or (
        given.get("changed") in CHANGE_THE_COLUMN and not _fits(words, lists, numbers)
    ):
        others = [name for name in names if name != unit]
        fitting = [name for name in others if _fits({**words, "column": name}, lists, numbers)]
        words["column"] = next(iter([*fitting, *others]), "")
    for field, question in (("rank", "borda"), ("label", "threshold")):
        if words["question"] == question and words.get(field) not in names:
            words[field] = next((name for name in names if name not in (unit, words["column"])), "")
    if not (words.get("epsilon") or words.get("within")):
        words["epsilon"] = FIRST_EPSILON
    words.setdefault("sure", FIRST_SURE)
    words = _fitting(_bounded(words, given.get("changed"), bounds), names)
    offered, offered_groups = (tuple(lists.get(words.get(name, ""), ())) for name in ("column", "each"))
    for name, same in (("candidates", offered), ("groups", offered_groups)):
        if lines_of(words.get(name, "")) == [*same]:
            words.pop(name, None)
    return QuestionForm(
        words=words,
        columns=names,
        offered=offered,
        offered_groups=offered_groups,
        unit=unit,
        missing=missing_labels(words, offered, offered_groups),
    )


def _bounded(
    words: dict[str, Any], changed: object, bounds: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Begin with the public bounds of the column: where none are said, or those of another column were."""
    said = {name: words[name] for name in FIELDS_OF_NUMBERS if words.get(name)}
    known = [{name: value for name, value in each.items() if value} for each in bounds.values()]
    if said and not (changed in ("data_set", "column") and (words["column"] in bounds or said in known)):
        return words
    others = {name: value for name, value in words.items() if name not in FIELDS_OF_NUMBERS}
    offered = bounds.get(words["column"], {})
    return {**others, **{name: value for name, value in offered.items() if value}}


def _fits(words: Mapping[str, Any], lists: Mapping[str, Sequence[str]], numbers: Sequence[str]) -> bool:
    """Say whether a column is a good guess, by its public list and its kind; a file may know no kinds."""
    column, of_names = words["column"], words["question"] in OF_NAMES
    if of_names:
        return column in lists or not lists
    return column in numbers or (not numbers and column not in lists)


OF_ONE_QUESTION = {
    "k": "top",
    "rank": "borda",
    "at": "quantile",
    "label": "threshold",
    "yes": "threshold",
    "width": "window",
}
"""Fields that one question alone has."""
FIELDS_OF_NAMES = ("candidates", "ignore_case", "gap")
OF_RANKS = ("quantile", "summary")
"""Questions about ranks, which have no score that a quorum could be."""
OF_PEOPLE = ("price", "summary")
"""Questions of which a bound on the number of people says more; several quantiles too."""
FIELDS_OF_NUMBERS = ("low", "high", "step")
FIELDS_OF_GROUPS = ("groups", "groups_per_person")


def _fitting(words: dict[str, Any], columns: tuple[str, ...]) -> dict[str, Any]:
    """Leave out what another question was asked with."""
    question = words["question"]
    strange = {name for name, of in OF_ONE_QUESTION.items() if of != question}
    strange |= {*(FIELDS_OF_NUMBERS if question in OF_NAMES else FIELDS_OF_NAMES)}
    if words.get("each") not in columns or words["each"] == words["column"]:
        strange |= {"each", *FIELDS_OF_GROUPS}
    else:
        strange.add("gap")
    if question in OF_RANKS:
        strange.add("quorum")
    if question not in OF_PEOPLE and not (question == "quantile" and "," in words.get("at", "")):
        strange.add("people")
    return {name: value for name, value in words.items() if name not in strange}
