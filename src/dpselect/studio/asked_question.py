"""A question in the words of the form. Nothing here reads a row.

The words are public. They are kept as they were given, so that the same request can be told from another one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import positive, whole
from dpselect.exact.rounding import exact_text

QuestionKind: TypeAlias = Literal[
    "vote", "plurality", "borda", "top", "mode", "price", "quantile", "summary", "threshold", "window"
]
QUESTIONS: Mapping[QuestionKind, str] = {
    "vote": "Which one do most people name?",
    "plurality": "Which one do most choose, one each?",
    "borda": "Which one is ranked best?",
    "top": "Which are named most, the best first?",
    "mode": "Which value is the most common?",
    "price": "Which price earns most?",
    "quantile": "What is the median, or a quantile?",
    "summary": "How are the numbers spread?",
    "threshold": "From which number on is the answer yes?",
    "window": "Where do most numbers lie close together?",
}
"""What can be asked, in the words of the page."""
OF_NAMES: tuple[QuestionKind, ...] = ("vote", "plurality", "borda", "top", "mode")
"""Questions whose candidates are names in a column; the others are about numbers."""
LONGEST_WORD = 400
"""Characters of a field that is one text."""
USUAL_WINNERS = 3
"""Winners of ``top``, if none are said."""
Budgeted: TypeAlias = Literal["epsilon", "within"]


@dataclass(frozen=True, kw_only=True)
class AskedQuestion:
    """A question as it was asked: texts, none of them trusted but for their length."""

    data_set: str
    question: QuestionKind
    column: str
    epsilon: str = ""
    within: str = ""
    by: Budgeted = "epsilon"
    """Which of the two says the price; the other one follows from it."""
    sure: str = "0.99"
    candidates: tuple[str, ...] = ()
    k: str = ""
    rank: str = ""
    low: str = ""
    high: str = ""
    step: str = ""
    at: str = ""
    label: str = ""
    """The column that says yes or no, and what is yes in it: of a threshold."""
    yes: str = ""
    width: str = ""
    """How wide a window is."""
    people: str = ""
    """A public bound on how many people there are: for the accuracy of several quantiles."""
    each: str = ""
    """The column of the groups, if each group is asked for an answer of its own."""
    groups: tuple[str, ...] = ()
    groups_per_person: str = ""
    quorum: str = ""
    """A number, auto or none; none named: of groups the least that silences empty ones."""
    gap: bool = False
    ignore_case: bool = False

    @property
    def winners(self) -> int:
        """How many winners are asked for."""
        if self.question != "top":
            return 1
        usual = min(USUAL_WINNERS, max(1, len(self.candidates)))
        return whole(_digits_of(self.k, "k"), "k", least=1) if self.k else usual

    @property
    def wished_quorum(self) -> str | None:
        """What stands for no clear winner; None where there always is one."""
        usual = "auto" if self.each else None
        return {"": usual, "none": None}.get(self.quorum, self.quorum)

    @property
    def of_each(self) -> dict[str, Any]:
        """What ``prepare`` takes of groups, as texts; nothing without them."""
        if not self.each:
            if self.groups or self.groups_per_person:
                raise InvalidParameter("groups belong to a column: name it in each.", parameter="each")
            return {}
        if not self.groups:
            raise InvalidParameter(
                "groups must be given: one on each line. They are public, and never read from the data.",
                parameter="groups",
            )
        name = "groups_per_person"
        per_person = whole(_digits_of(self.groups_per_person or "1", name), name, least=1)
        return {"by": self.each, "groups": self.groups, name: per_person}

    @property
    def most_people(self) -> int | None:
        """For how many people at most the accuracy is stated."""
        return whole(_digits_of(self.people, "people"), "people", least=1) if self.people else None

    @property
    def confidence(self) -> Fraction:
        """How sure the accuracy is to be: 0.99, 99 % and 99 mean the same."""
        return sureness_of(self.sure)

    def text(self) -> str:
        """Write it down, always in the same way."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> AskedQuestion:
        """Read what ``text`` wrote, as it was: rules that are newer than the question do not hide it."""
        words = json.loads(text)
        return cls(**{**words, **{name: tuple(words[name]) for name in LISTS}})

    @classmethod
    def from_words(cls, words: Mapping[str, Any]) -> AskedQuestion:
        """Read the fields of a form, or of a JSON object; other names than these are refused."""
        words = {name: value for name, value in words.items() if value is not None}
        unknown = [name for name in words if name not in QUESTION_FIELDS]
        if unknown:
            raise InvalidParameter(f"the question has no field {str(unknown[0])[:40]!r}.")
        found = {name: _word(name, words[name]) for name in words if name not in (*LISTS, *SWITCHES)}
        kind = found.pop("question", "vote") or "vote"
        asked = next((each for each in QUESTIONS if each == kind), None)
        if asked is None:
            raise InvalidParameter.must_be("question", f"one of {', '.join(QUESTIONS)}", got=kind)
        by = found.pop("by", "")
        if not by:
            by = "within" if found.get("within") and not found.get("epsilon") else "epsilon"
        if by not in get_args(Budgeted):
            raise InvalidParameter.must_be("by", "epsilon or within", got=by)
        for name in ("data_set", "column"):
            if not found.get(name):
                raise InvalidParameter(f"{name} must be given.", parameter=name)
        if not found.get("sure"):
            found.pop("sure", None)
        return cls(
            question=asked,
            by="within" if by == "within" else "epsilon",
            candidates=labels_of(words.get("candidates", ())),
            groups=labels_of(words.get("groups", ()), "groups"),
            gap=_switch("gap", words.get("gap", False)),
            ignore_case=_switch("ignore_case", words.get("ignore_case", False)),
            **found,
        )

    def with_lists(self, offered: Mapping[str, list[str]]) -> AskedQuestion:
        """Take the curator's public lists of the columns, where no candidates or groups are given."""
        candidates, groups = self.candidates, self.groups
        if not candidates and self.question in OF_NAMES:
            candidates = tuple(offered.get(self.column, ()))
        if not groups and self.each:
            groups = tuple(offered.get(self.each, ()))
        return replace(self, candidates=candidates, groups=groups)

    def with_bounds(self, offered: Mapping[str, Mapping[str, str]]) -> AskedQuestion:
        """Take the curator's public bounds of the column, where none are given."""
        if self.question in OF_NAMES or self.low or self.high or self.step:
            return self
        found = offered.get(self.column, {})
        return replace(self, low=found.get("low", ""), high=found.get("high", ""), step=found.get("step", ""))


SWITCHES = ("gap", "ignore_case")
LISTS = ("candidates", "groups")
QUESTION_FIELDS = frozenset(AskedQuestion.__dataclass_fields__)


def sureness_of(text: str) -> Fraction:
    """Read how sure something is to be: 0.99, 99 % or 99."""
    word = text.strip()
    number = positive(word.rstrip("%").strip(), "sure")
    sure = number / 100 if word.endswith("%") or number > 1 else number
    if not Fraction(1, 2) <= sure <= 1 - Fraction(1, 10**9):
        raise InvalidParameter.must_be("sure", "from 50 % to less than 100 %", got=text)
    return sure


def _word(name: str, value: object) -> str:
    """Read a field that is one text; JSON may say a number as such."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidParameter.must_be(name, "a text", got=value)
    text = _digits_text(value) if isinstance(value, int) else value.strip()
    if len(text) > LONGEST_WORD:
        raise InvalidParameter(f"{name} must be at most {LONGEST_WORD} characters long.", parameter=name)
    return text


def _digits_text(value: int) -> str:
    if value.bit_length() > 4 * LONGEST_WORD:
        raise InvalidParameter("a number must have at most 400 digits.")
    return exact_text(Fraction(value))


def _digits_of(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise InvalidParameter.must_be(name, "a whole number", got=text)
    return int(text)


def _switch(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("", "on", "true", "false"):
        return value in ("on", "true")
    raise InvalidParameter.must_be(name, "true or false", got=value)


def labels_of(given: object, name: str = "candidates") -> tuple[str, ...]:
    """Read candidates or groups: a list, or a text with one on each line."""
    lines = given.splitlines() if isinstance(given, str) else given
    if not isinstance(lines, list | tuple):
        raise InvalidParameter.must_be(name, "a list of texts", got=given)
    found = []
    for each in lines:
        if isinstance(each, bool) or not isinstance(each, str | int):
            raise InvalidParameter.must_be(name, "a list of texts", got=each)
        label = _digits_text(each) if isinstance(each, int) else each.strip()
        if "\0" in label or any("\ud800" <= letter <= "\udfff" for letter in label):
            raise InvalidParameter(f"{name} must be text that can be stored.", parameter=name)
        if label:
            found.append(label)
    return tuple(found)
