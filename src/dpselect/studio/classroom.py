"""The classroom: exact laws of three mechanisms on public scores, and what one more vote changes in them.

Everything on the page is public: scores come from its address, nothing is read and nothing is charged.

>>> lesson = Lesson(("tea", "soup"), (Fraction(3), Fraction(2)), Fraction(1), more=1)
>>> [law.name for law in lesson.laws()]
['permute-and-flip', 'exponential mechanism', 'Laplace noise']
>>> lesson.laws()[1].probabilities[0] > lesson.laws(neighbour=True)[1].probabilities[0]
True
>>> Lesson.read(lesson.state) == lesson
True
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, rational
from dpselect.exact.rounding import exact_text, short_decimal
from dpselect.utility.laplace_law import laplace_law
from dpselect.utility.laws import exponential_law, gumbel_law
from dpselect.utility.selection_law import SelectionLaw

LONGEST_CANDIDATE = 40
"""Characters of a name."""
MOST_NAMES = 12
"""Candidates of a lesson: as many as fit on a page."""
ROWS_READ = range(MOST_NAMES)
LARGEST_SCORE = 10**9
"""Votes for a candidate, at most."""
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 1000), Fraction(20)
"""The prices of a lesson, in epsilon."""
LEAST_COMPARED = 1e-7
"""Smaller probabilities are not compared: laws are off by less than 1e-12, a ratio of small ones by more."""

EXAMPLE_SCORES: tuple[tuple[str, ...], tuple[Fraction, ...]] = (
    ("tea", "soup", "pie", "cake"),
    (Fraction(30), Fraction(28), Fraction(24), Fraction(10)),
)


@dataclass(frozen=True)
class NamedLaw:
    """The chance of each candidate, under a mechanism that people know by this name."""

    name: str
    class_: str
    law: SelectionLaw

    @property
    def called(self) -> str:
        """The name within a sentence."""
        return f"the {self.name}" if self.name.endswith("mechanism") else self.name

    @property
    def probabilities(self) -> tuple[float, ...]:
        """The chance of each candidate."""
        return self.law.probabilities

    @property
    def expected_error(self) -> float:
        """How many votes the winner lies behind the best, on average."""
        return self.law.expected_error


@dataclass(frozen=True)
class Lesson:
    """Public scores, a price, and who gets one more vote at the neighbour: by place, or None."""

    names: tuple[str, ...]
    scores: tuple[Fraction, ...]
    epsilon: Fraction
    more: int | None = None

    @staticmethod
    def read(given: Mapping[str, str]) -> Lesson:
        """Read a lesson from the fields of an address; what is not said is as in the example.

        >>> Lesson.read({"name0": "tea", "votes0": "3", "name1": "", "epsilon": "1/2"})
        Lesson(names=('tea',), scores=(Fraction(3, 1),), epsilon=Fraction(1, 2), more=None)
        """
        rows = [(given.get(f"name{i}", "").strip(), given.get(f"votes{i}", "").strip()) for i in ROWS_READ]
        places = [i for i in ROWS_READ if rows[i][0]]
        names, scores = EXAMPLE_SCORES
        if places:
            names = tuple(rows[i][0] for i in places)
            scores = tuple(_votes(rows[i][1]) for i in places)
        elif any(name in given for name in ("name0", "votes0")):
            raise InvalidParameter("a name must be given, with its votes.")
        epsilon = _between(given.get("epsilon") or "1", "epsilon", LEAST_EPSILON, MOST_EPSILON)
        more = given.get("more", "")
        lesson = Lesson(names, scores, epsilon, _place(more, places or list(range(len(names)))))
        lesson.must_be_shown()
        return lesson

    def must_be_shown(self) -> None:
        """Refuse what does not fit on a page."""
        if max(map(len, self.names)) > LONGEST_CANDIDATE:
            raise InvalidParameter(f"name must have at most {LONGEST_CANDIDATE} characters.")
        if len({*self.names}) != len(self.names):
            raise InvalidParameter("names must differ from each other.")

    @property
    def state(self) -> dict[str, str]:
        """The lesson as fields of an address."""
        rows = enumerate(zip(self.names, self.scores, strict=True))
        fields = {
            field: text
            for i, (name, votes) in rows
            for field, text in ((f"name{i}", name), (f"votes{i}", short_decimal(votes)))
        }
        more = {} if self.more is None else {"more": str(self.more)}
        return {**fields, "epsilon": short_decimal(self.epsilon), **more}

    @property
    def neighbour_scores(self) -> tuple[Fraction, ...]:
        """The scores with one more vote."""
        return tuple(score + (place == self.more) for place, score in enumerate(self.scores))

    def laws(self, *, neighbour: bool = False) -> list[NamedLaw]:
        """Give the exact laws, with noise of scale 1 / epsilon: one person moves each score by at most 1."""
        scores = list(self.neighbour_scores if neighbour else self.scores)
        scale = 1 / self.epsilon
        return [
            NamedLaw("permute-and-flip", "first", exponential_law(scores, scale=scale, outputs=self.names)),
            NamedLaw("exponential mechanism", "second", gumbel_law(scores, scale=scale, outputs=self.names)),
            NamedLaw("Laplace noise", "third", laplace_law(scores, scale=scale, outputs=self.names)),
        ]

    def facts(self) -> dict[str, object]:
        """Give what the page shows, for a program."""
        rows: dict[str, object] = {
            "names": [*self.names],
            "votes": [exact_text(score) for score in self.scores],
            "epsilon": exact_text(self.epsilon),
            "laws": [_law_facts(law) for law in self.laws()],
        }
        if self.more is not None:
            rows["one_more_vote_for"] = self.names[self.more]
            rows["laws_with_one_more_vote"] = [_law_facts(law) for law in self.laws(neighbour=True)]
        return rows


def log_ratio(before: float, after: float) -> float | None:
    """Give the logarithm of how much likelier an answer has become; None where both are next to never.

    >>> round(log_ratio(0.25, 0.5), 3), log_ratio(1e-9, 1e-9)
    (0.693, None)
    """
    if not min(before, after) >= LEAST_COMPARED:
        return None
    return math.log(after / before)


def _law_facts(law: NamedLaw) -> dict[str, object]:
    return {
        "mechanism": law.name,
        "probabilities": [*law.probabilities],
        "expected_error": law.expected_error,
    }


def _votes(text: str) -> Fraction:
    return _between(text or "0", "votes", Fraction(0), Fraction(LARGEST_SCORE))


def _between(text: Number, name: str, low: Fraction, high: Fraction) -> Fraction:
    number = rational(text, name)
    if not low <= number <= high:
        raise InvalidParameter.must_be(name, f"from {short_decimal(low)} to {short_decimal(high)}", got=text)
    return number


def _place(text: str, places: list[int]) -> int | None:
    """Find who gets one more vote: the row of the form, as a place among those with a name."""
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 4):
        raise InvalidParameter("more must be the number of a row, from 0.")
    return places.index(int(text)) if int(text) in places else None
