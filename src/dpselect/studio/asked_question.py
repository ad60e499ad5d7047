"""A question in the words of the form, and the problem that it means. Nothing here reads a row.

The words are public. They are kept as they were given, so that the same request can be told from another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

from dpselect.engines.schema import Schema
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import MOST_DIGITS, MOST_EXPONENT, positive, probability, whole
from dpselect.exact.rounding import exact_text
from dpselect.problems import approval_voting, borda, most_common, plurality, pricing, quantile, quantiles
from dpselect.problems.candidates import grid
from dpselect.problems.problem import Problem
from dpselect.problems.quantiles import five_numbers

QuestionKind: TypeAlias = Literal["vote", "plurality", "borda", "top", "mode", "price", "quantile", "summary"]
QUESTIONS: Mapping[QuestionKind, str] = {
    "vote": "Which one do most people name?",
    "plurality": "Which one do most people choose, one each?",
    "borda": "Which one is ranked best?",
    "top": "Which are named most, the best first?",
    "mode": "Which value is the most common?",
    "price": "Which price earns most?",
    "quantile": "Which number splits the people? (a median, quartiles)",
    "summary": "How are the numbers spread? (five quantiles)",
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
    quorum: str = ""
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
    def confidence(self) -> Fraction:
        """How sure the accuracy is to be: 0.99, 99 % and 99 mean the same."""
        return sureness_of(self.sure)

    def text(self) -> str:
        """Write it down, always in the same way."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> AskedQuestion:
        """Read what ``text`` wrote."""
        return cls.from_words(json.loads(text))

    @classmethod
    def from_words(cls, words: Mapping[str, Any]) -> AskedQuestion:
        """Read the fields of a form, or of a JSON object; other names than these are refused."""
        unknown = [name for name in words if name not in QUESTION_FIELDS]
        if unknown:
            raise InvalidParameter(f"the question has no field {str(unknown[0])[:40]!r}.")
        found = {name: _word(name, words[name]) for name in words if name not in ("candidates", *SWITCHES)}
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
            gap=_switch("gap", words.get("gap", False)),
            ignore_case=_switch("ignore_case", words.get("ignore_case", False)),
            **found,
        )

    def with_candidates(self, offered: Mapping[str, list[str]]) -> AskedQuestion:
        """Take the curator's public list of the column, where no candidates are given."""
        if self.candidates or self.question not in OF_NAMES:
            return self
        return replace(self, candidates=tuple(offered.get(self.column, ())))


SWITCHES = ("gap", "ignore_case")
QUESTION_FIELDS = frozenset(AskedQuestion.__dataclass_fields__)


def problem_of(asked: AskedQuestion, schema: Schema) -> Problem:
    """Give the problem that a question means, for the columns of a table."""
    column = schema.column(asked.column)
    if asked.question not in OF_NAMES:
        return _of_numbers(asked)
    if not asked.candidates:
        raise InvalidParameter(
            "candidates must be given: one on each line. They are public, and never read from the data."
        )
    names: Any = list(asked.candidates)
    if column.kind != "text":
        names = _as_numbers(asked.candidates)
    fold = asked.ignore_case
    if asked.question == "borda":
        return borda(candidate=asked.column, rank=asked.rank, candidates=names, ignore_case=fold)
    if asked.question == "mode":
        return most_common(column=asked.column, candidates=names, ignore_case=fold)
    ask: Callable[..., Problem] = plurality if asked.question == "plurality" else approval_voting
    problem = ask(candidate=asked.column, candidates=names, ignore_case=fold)
    return replace(problem, measured_in="people") if asked.question == "top" else problem


def _of_numbers(asked: AskedQuestion) -> Problem:
    between, step = (_number(asked.low, "low"), _number(asked.high, "high")), asked.step or None
    if step is not None:
        positive(step, "step")
    if asked.question == "price":
        return pricing(value=asked.column, between=between, step=step or "0.01")
    grid(between, step)
    if asked.question == "summary":
        return five_numbers(value=asked.column, between=between, step=step)
    fractions = [fraction_of(each, "at") for each in asked.at.split(",")] if asked.at else [Fraction(1, 2)]
    if len(fractions) == 1:
        return quantile(value=asked.column, at=fractions[0], between=between, step=step)
    return quantiles(value=asked.column, at=fractions, between=between, step=step)


def fraction_of(text: str, name: str) -> Fraction:
    """Read a fraction of people: 0.5, 1/2 or 50 %."""
    word = text.strip()
    if word.endswith("%"):
        return probability(positive(word[:-1].strip(), name) / 100, name)
    return probability(word, name)


def sureness_of(text: str) -> Fraction:
    """Read how sure something is to be: 0.99, 99 % or 99."""
    word = text.strip()
    number = positive(word.rstrip("%").strip(), "sure")
    sure = number / 100 if word.endswith("%") or number > 1 else number
    if not Fraction(1, 2) <= sure <= 1 - Fraction(1, 10**9):
        raise InvalidParameter.must_be("sure", "from 50 % to less than 100 %", got=text)
    return sure


def _number(text: str, name: str) -> str:
    if not text.strip():
        raise InvalidParameter(f"{name} must be given: a public bound of the answer.", parameter=name)
    return text.strip()


def _as_numbers(labels: tuple[str, ...]) -> list[int | Decimal]:
    try:
        read = [Decimal(label) for label in labels]
    except InvalidOperation:
        read = []
    plain = all(
        each.is_finite()
        and len(each.as_tuple().digits) <= MOST_DIGITS
        and abs(int(each.as_tuple().exponent)) <= MOST_EXPONENT
        for each in read
    )
    if not read or not plain:
        raise InvalidParameter("candidates must be numbers, because the column holds numbers.")
    return [
        int(each) if label.lstrip("+-").isdigit() else each for label, each in zip(labels, read, strict=True)
    ]


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


def labels_of(given: object) -> tuple[str, ...]:
    """Read candidates: a list, or a text with one on each line."""
    lines = given.splitlines() if isinstance(given, str) else given
    if not isinstance(lines, list | tuple):
        raise InvalidParameter.must_be("candidates", "a list of texts", got=given)
    found = []
    for each in lines:
        if isinstance(each, bool) or not isinstance(each, str | int):
            raise InvalidParameter.must_be("candidates", "a list of texts", got=each)
        label = _digits_text(each) if isinstance(each, int) else each.strip()
        if "\0" in label or any("\ud800" <= letter <= "\udfff" for letter in label):
            raise InvalidParameter("candidates must be text that can be stored.")
        if label:
            found.append(label)
    return tuple(found)
