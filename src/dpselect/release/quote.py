"""Price: what a question costs and how good its answer is, before anything is paid or looked at."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpselect.errors import visible
from dpselect.exact.rounding import exact_text, readable_number, short_decimal
from dpselect.mechanisms.report_noisy_top_k import noise_for
from dpselect.mechanisms.report_noisy_top_k_with_gaps import rounds_are_fresh
from dpselect.notebook import card, facts_table
from dpselect.privacy.losses import PureDP, WritableLoss
from dpselect.privacy.measures import measure_of
from dpselect.privacy.neighbours import EACH_ROW, Neighbours, protection
from dpselect.problems.problem import shown_count
from dpselect.release.data import OF_SCORES
from dpselect.release.drawing import NAMED
from dpselect.release.group_form import AskedGroups
from dpselect.release.labels import readable_label
from dpselect.selection.noise import NoiseName
from dpselect.utility import Accuracy
from dpselect.utility.sure_lead import lead_margin, whole_lead_margin

LONGEST_IN_A_REASON = 500
"""Characters of a filter that a ledger writes down."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Quote:
    """What a question costs, whom it protects and how good its answer is. All of it is public.

    ``unit`` names the column that identifies a person; None says that each row is taken for a person of its
    own. (Of ``Scores`` it is "person": the one that the claimed sensitivity speaks of.) ``scale`` and
    ``accuracy`` are in the units of the score. ``noise_reason`` says why ``mechanism`` is the noise.
    ``gap_grid`` is the step of the gaps that are released with the winners; None if none are.
    ``problem`` is the digest of the question. ``reason`` is what a ledger writes down, ``unit_is_column``
    tells a column "person" from the unit of ``Scores``; a release that was read from JSON knows neither.
    ``first_candidates`` are the first three, as text. ``reading`` are the options by which the table's text
    is read, as far as they were given.

    >>> EXAMPLE_QUOTE
    winner    one, not drawn yet
    price     epsilon 0.5
    protects  one person (column guest): one more or one fewer
    accuracy  within 11 of the best score, with probability 0.99 or more (exponential noise)
    noise     exponential, scale 2
    """

    price: WritableLoss
    neighbours: Neighbours
    unit: str | None
    mechanism: NoiseName
    scale: Fraction
    accuracy: Accuracy
    dataset: str | None
    version: str
    problem: str
    first_candidates: tuple[str, ...] = ()
    step: Fraction | None = None
    """The distance of neighbouring candidates, if they are numbers between bounds."""
    reading: tuple[tuple[str, str], ...] = ()
    where: str | None = None
    """The condition that makes rows part of the table, as it was given."""
    groups: AskedGroups | None = None
    """The groups of which the question is asked apart; None if it is asked once."""
    reason: str = field(default="", compare=False)
    noise_reason: str = field(default="", compare=False)
    unit_is_column: bool | None = field(default=None, compare=False)
    gap_grid: Fraction | None = None
    counted: bool = False
    """Whether noisy counts are released with the winners."""

    @property
    def k(self) -> int:
        """How many winners are asked for."""
        return self.accuracy.k

    @property
    def quorum(self) -> Fraction | None:
        """The score that "no winner" stands for; None if there is always a winner."""
        return self.accuracy.quorum

    @property
    def by(self) -> str | None:
        """The column of the groups; None without groups."""
        return None if self.groups is None else self.groups.by

    @property
    def noise(self) -> NoiseName:
        """The noise that is added to each score."""
        return self.mechanism

    @property
    def digest(self) -> str:
        """The SHA-256 of the problem, as ``Problem.digest`` gives it; with groups, of problem and groups."""
        return self.problem

    @property
    def measure(self) -> str:
        """The definition of privacy that the price is stated in."""
        return self.price.measure

    @property
    def question(self) -> tuple[object, ...]:
        """What is asked, of whom and for how much: everything else follows from it."""
        asked = self.problem, self.k, self.price, self.neighbours, self.unit, self.dataset
        several = self.groups is not None and self.groups.several
        beside = self.gap_grid, self.where, self.counted, self.quorum, several
        return *asked, self.mechanism, self.reading, *beside

    @property
    def accuracy_of_all(self) -> Accuracy:
        """What holds in all groups together, with the confidence of the accuracy; that one without groups."""
        return self.accuracy if self.groups is None else replace(self.accuracy, within=self.groups.within)

    @property
    def gap_margin(self) -> Fraction:
        """By how much a gap may exceed the true lead, with the confidence of the accuracy; 0 without gaps."""
        accuracy, n = self.accuracy, self.accuracy.n
        if self.gap_grid is None or n is None:
            return Fraction(0)
        if self.counted:
            return whole_lead_margin(n, self.k, 1 - accuracy.confidence, self.scale)
        fresh = rounds_are_fresh(self.mechanism, measure_of(self.price), self.k)
        return self.scale * lead_margin(self.mechanism, n, self.k, 1 - accuracy.confidence, fresh=fresh)

    @property
    def noise_is_usual(self) -> bool:
        """Whether it needs no reason: exponential noise for epsilon, Gumbel noise for another price."""
        return self.mechanism == noise_for(measure_of(self.price))

    @property
    def details(self) -> tuple[str, ...]:
        """What else is asked: a noise that is not the usual one, gaps, how text is read, which rows."""
        noise = () if self.noise_is_usual else (f"{self.mechanism} noise",)
        gaps = () if self.gap_grid is None else (f"gaps in steps of {exact_text(self.gap_grid)}",)
        quorum = () if self.quorum is None else (f"quorum {exact_text(self.quorum)}",)
        where = () if self.where is None else (f"where {_short_filter(self.where)}",)
        counts = ("counts",) if self.counted else ()
        return *noise, *gaps, *counts, *quorum, *(f"{name} {value!r}" for name, value in self.reading), *where

    @property
    def noise_needs_a_reason(self) -> bool:
        """Whether the noise was named, or is another than the usual one: then it is said why."""
        return bool(self.noise_reason) and (self.noise_reason == NAMED or not self.noise_is_usual)

    @property
    def protects(self) -> str:
        """Whom the price protects, and from which difference, in words."""
        if self.unit is None:
            return protection(self.neighbours, EACH_ROW)
        is_column = self.unit != OF_SCORES if self.unit_is_column is None else self.unit_is_column
        return protection(self.neighbours, f"column {readable(self.unit)}" if is_column else "")

    @property
    def quorum_text(self) -> str:
        """The quorum, and what it is a number of, in words; empty without one."""
        if self.quorum is None:
            return ""
        word = self.accuracy.measured_in
        return readable_number(self.quorum) + ("" if word == "score" else f" {word}")

    @property
    def noise_and_scale(self) -> str:
        """The noise and its scale, in words."""
        name = self.mechanism if self.mechanism == "exponential" else self.mechanism.capitalize()
        return f"{name}, scale {readable_number(self.scale)}"

    @property
    def _winners(self) -> tuple[str, str]:
        """Say who has won, as far as that is known."""
        if self.groups is not None:
            return ("winners" if self.groups.several else "winner", f"of {self.groups.named}, not drawn yet")
        if self.accuracy.at:
            return "quantiles", f"{', '.join(map(short_decimal, self.accuracy.at))}, not drawn yet"
        return ("winner", "one, not drawn yet") if self.k == 1 else ("winners", f"{self.k}, not drawn yet")

    @property
    def _facts(self) -> dict[str, str]:
        """What a person wants to know of it, in words."""
        return {
            **dict([self._winners]),
            "price": str(self.price),
            "protects": self.protects,
            **self._of_groups,
            "noise": self.noise_and_scale,
            **({"because": self.noise_reason} if self.noise_needs_a_reason else {}),
            **({} if self.step is None else {"step": f"{readable_label(self.step)}, {self._grid}"}),
            **({} if self.quorum is None else {"quorum": self.quorum_text}),
            **({} if self.where is None else {"where": readable(self.where)}),
            **({} if self.dataset is None else {"data set": readable(self.dataset)}),
        }

    @property
    def _of_groups(self) -> dict[str, str]:
        """Say how good the answer is; with groups, of one and of all, and why they cost what they do."""
        groups, accuracy = self.groups, self.accuracy
        if groups is None:
            return {"accuracy": str(accuracy)}
        unit = " people" if accuracy.target is not None or accuracy.at else ""
        return {
            "groups": groups.price_text(self.neighbours),
            "accuracy": f"in each group {accuracy}",
            "together": groups.promise_text(accuracy.sureness, unit),
        }

    @property
    def _grid(self) -> str:
        """Say where a grid begins, and how many numbers it has."""
        return f"from {self.first_candidates[0]} on: {shown_count(self.accuracy.n or 0)} candidates"

    def __repr__(self) -> str:
        width = max(map(len, self._facts))
        return "\n".join(f"{name:{width}}  {fact}" for name, fact in self._facts.items())

    def _repr_html_(self) -> str:
        return card(facts_table(self._facts.items()))


def _short_filter(text: str) -> str:
    """Show a filter on one line; a long one by its SHA-256."""
    shown = visible(text)
    if len(shown) <= LONGEST_IN_A_REASON:
        return shown
    return f"of SHA-256 {hashlib.sha256(text.encode()).hexdigest()}"


def readable(text: str) -> str:
    """Show a name as it is, unless it would do something to the screen."""
    return text if text.isprintable() else repr(text)


EXAMPLE_QUOTE = Quote(
    price=PureDP("1/2"),
    neighbours="add_remove",
    unit="guest",
    mechanism="exponential",
    scale=Fraction(2),
    accuracy=Accuracy(Fraction(11), Fraction(99, 100), "exponential", Fraction(1)),
    dataset=None,
    version="0.1.0",
    problem="0" * 64,
)
"""A made-up quote, for documentation."""
