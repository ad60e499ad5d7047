"""An offer: a question with its price and its accuracy, for one analyst, in exact numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpselect.exact.rounding import exact_text, readable_number, rounded_up, short_decimal, without_zeros
from dpselect.ledger import Account
from dpselect.ledger.budget import Currency
from dpselect.problems.problem import Problem
from dpselect.release import Quote
from dpselect.release.group_form import confidence_of_each
from dpselect.release.quorum import beside_a_quorum
from dpselect.studio.asked_question import OF_NAMES, AskedQuestion
from dpselect.studio.data_sets import DataSet
from dpselect.utility import Accuracy, accuracy

MOST_TIMES = 1_000_000
"""How often a question could be asked, where that is counted."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A question with its price and its accuracy, for one analyst: all that is known before paying."""

    asked: AskedQuestion
    """With the candidates that it is about."""
    given: AskedQuestion
    """As it was asked: without candidates, where the curator's public list is meant."""
    data_set: DataSet
    problem: Problem
    quote: Quote
    accuracy: Accuracy
    """At the confidence that was asked for."""
    epsilon: Fraction
    account: Account

    @property
    def paid(self) -> AskedQuestion:
        """The question with its price, as it is kept once it is asked."""
        return replace(self.asked, epsilon=exact_text(self.epsilon), by="epsilon", within="")

    def form_fields(self) -> list[tuple[str, str]]:
        """Give the fields of a form that pays for this question: its words, with the price."""
        lists = {"candidates": "\n".join(self.given.candidates), "groups": "\n".join(self.given.groups)}
        words = {**vars(self.paid), **lists}
        found = {name: "on" if value is True else value for name, value in words.items()}
        return [(name, str(value)) for name, value in found.items() if value]

    @property
    def left(self) -> Fraction:
        """The epsilon that the analyst can still spend."""
        return _number_of(self.account.remaining)

    @property
    def share(self) -> Fraction:
        """The epsilon of the analyst's share."""
        return _number_of(self.account.share)

    @property
    def spent(self) -> Fraction:
        """The epsilon that the analyst has spent."""
        return _number_of(self.account.spent)

    @property
    def afterwards(self) -> Fraction:
        """The epsilon that is left once this is paid; zero where it cannot be."""
        return max(self.left - self.epsilon, Fraction(0))

    @property
    def is_affordable(self) -> bool:
        """Whether the ledger would charge it now."""
        return self.epsilon <= self.left

    @property
    def times(self) -> int:
        """How often the analyst could ask this."""
        return min(MOST_TIMES, math.floor(self.left / self.epsilon))

    @property
    def lead(self) -> Fraction | None:
        """The lead by which the best one surely wins; None where scores are ranks."""
        found = self.accuracy
        if found.target is not None or found.at or found.quorum is not None:
            return None
        return math.ceil(found.within / found.unit) * found.unit

    @property
    def price_text(self) -> str:
        """The price as the page shows it."""
        return readable_number(self.epsilon)

    @property
    def sure_text(self) -> str:
        """The confidence, in per cent."""
        return f"{readable_number(self.accuracy.confidence * 100, rounded='down')} %"

    @property
    def within_text(self) -> str:
        """The accuracy as the page shows it, in the units of the score: the figure of a release."""
        return _bound_text(self.accuracy.within)

    @property
    def together(self) -> Fraction:
        """The accuracy that holds in all groups together; without groups that of the one answer."""
        groups, sure = self.quote.groups, self.accuracy.confidence
        if groups is None or sure == self.quote.accuracy.confidence:
            return self.quote.accuracy_of_all.within if groups else self.accuracy.within
        return accuracy_at(self.quote, self.problem, confidence_of_each(sure, len(groups.labels))).within

    @property
    def word(self) -> str:
        """What the accuracy is a number of."""
        found = self.accuracy
        if found.target is not None or found.at:
            return "people"
        return "" if found.measured_in == "score" else found.measured_in

    @property
    def sentence(self) -> str:
        """What is promised, in one sentence; a second one says what else may come out."""
        return f"{self.promise_text} {self.beside_text}".rstrip()

    @property
    def promise_text(self) -> str:
        """How good the answer will be."""
        found, groups = self.accuracy, self.quote.groups
        if found.is_of_order_alone:
            promise, sure = str(found), "."
        else:
            promise, sure = self._promise, f", {self.sure_text} sure"
            more = "." if groups is None else f"; in all {len(groups.labels)} groups together at most "
            sure += more if groups is None else f"{more}{_bound_text(self.together)}."
        each = promise if groups is None else f"in each group {promise}"
        return f"{each[0].upper()}{each[1:]}{sure}"

    @property
    def beside_text(self) -> str:
        """Which lead is found, or when there is no winner; "" where neither is known."""
        if self.accuracy.quorum is not None:
            least = self.quote.quorum_text
            return f"Where none has clearly more than {least}, the answer is “no clear winner”."
        return "" if self.lead is None else f"A lead of {readable_number(self.lead)} is found."

    @property
    def _promise(self) -> str:
        """How far from the best an answer may be, without how sure that is."""
        found, far = self.accuracy, self.within_text
        if found.target is not None or found.at:
            return found.promise(far)
        word = {"score": "", "revenue": " of revenue"}.get(found.measured_in, f" {found.measured_in}")
        if found.k > 1:
            return f"every one of the {found.k} is at most {far}{word} below the score of rank {found.k}"
        who = "winner" if self.asked.question in OF_NAMES else "answer"
        return f"the {who} is at most {far}{word} below the best"

    def facts(self) -> dict[str, Any]:
        """Write it for JSON: exact numbers as text."""
        return {
            "data_set": self.data_set.name,
            "question": self.asked.question,
            "column": self.asked.column,
            "candidates": self.problem.count,
            "k": self.quote.k,
            "epsilon": exact_text(self.epsilon),
            "price": exact_text(self.epsilon),
            "within": self.within_text,
            "within_exact": exact_text(self.accuracy.within),
            "measured_in": self.accuracy.measured_in,
            **self._of_groups,
            "sure": short_decimal(self.accuracy.confidence),
            "lead": None if self.lead is None else exact_text(self.lead),
            "sentence": self.sentence,
            "protects": self.quote.protects,
            "noise": self.quote.noise_and_scale,
            "affordable": self.is_affordable,
            "times": self.times,
            "share": exact_text(self.share),
            "spent": exact_text(self.spent),
            "remaining": exact_text(self.left),
            "afterwards": exact_text(self.afterwards),
            "problem": self.quote.problem,
        }

    @property
    def _of_groups(self) -> dict[str, Any]:
        groups = self.quote.groups
        if groups is None:
            return {}
        return {
            "each": groups.by,
            "groups": len(groups.labels),
            "groups_per_person": groups.per_person,
            "within_all_groups": _bound_text(self.together),
        }


def accuracy_at(quote: Quote, problem: Problem, sure: Fraction) -> Accuracy:
    """State the accuracy of a quote, in each of its groups if it has some, at another confidence."""
    if sure == quote.accuracy.confidence:
        return quote.accuracy
    found = accuracy(
        problem if quote.quorum is None else beside_a_quorum(problem),
        scale=quote.scale,
        k=quote.k,
        confidence=sure,
        neighbours=quote.neighbours,
        mechanism=None if problem.at else quote.mechanism,
        people=quote.accuracy.people,
    )
    return replace(quote.accuracy, within=found.within, confidence=found.confidence)


def _bound_text(within: Fraction) -> str:
    """Write an accuracy, rounded up: two digits after the point, or six below a tenth."""
    return without_zeros(rounded_up(within, 2 if within >= Fraction(1, 10) else 6))


def _number_of(loss: Currency) -> Fraction:
    """Give the epsilon of a loss."""
    number: Fraction = loss.parts()[0]
    return number
