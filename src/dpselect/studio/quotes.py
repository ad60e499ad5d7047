"""Quotes: what a question costs and how good its answer will be, in exact numbers and in one sentence.

The price may be given, or the accuracy: each moves the other. Nothing is charged, and no row is read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpselect.engines.schema import Schema
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import positive
from dpselect.exact.rounding import exact_text, readable_number, rounded_up, short_decimal, written_number
from dpselect.ledger import Account, Ledger
from dpselect.ledger.budget import Currency
from dpselect.problems.problem import Problem
from dpselect.release import Quote, prepare
from dpselect.release.question import Question
from dpselect.studio.asked_question import AskedQuestion, problem_of
from dpselect.studio.data_sets import DataSet, DataSets
from dpselect.utility import Accuracy, accuracy, epsilon_for

MOST_TIMES = 1_000_000
"""How often a question could be asked, where that is counted."""
LARGEST_EPSILON = Fraction(100)


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
        words = {**vars(self.paid), "candidates": "\n".join(self.given.candidates)}
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
        places = 2 if self.accuracy.within >= Fraction(1, 10) else 6
        return rounded_up(self.accuracy.within, places).rstrip("0").rstrip(".")

    @property
    def sentence(self) -> str:
        """What is promised, in one sentence."""
        found, far = self.accuracy, self.within_text
        if found.is_of_order_alone:
            return f"{str(found)[0].upper()}{str(found)[1:]}."
        if found.target is not None or found.at:
            promise = found.promise(far)
            return f"{promise[0].upper()}{promise[1:]}, {self.sure_text} sure."
        word = "" if found.measured_in == "score" else f" {found.measured_in}"
        if found.k > 1:
            first = f"Every one of the {found.k} is at most {far}{word} below the score of rank {found.k}"
        else:
            first = f"The winner is at most {far}{word} below the best"
        second = "" if self.lead is None else f" A lead of {readable_number(self.lead)} is found."
        return f"{first}, {self.sure_text} sure.{second}"

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
            "problem": self.problem.digest,
        }


def question_of(
    asked: AskedQuestion, problem: Problem, data_sets: DataSets, data_set: DataSet, epsilon: Fraction
) -> Question:
    """Price a question for a data set; ``with`` opens its table."""
    return prepare(
        problem,
        data_sets.table(data_set),
        k=asked.winners,
        epsilon=epsilon,
        neighbours=data_sets.ledger(data_set).neighbours,
        gap=asked.gap,
        quorum=asked.quorum or None,
        progress=False,
    )


def offer_of(asked: AskedQuestion, data_sets: DataSets, analyst: str) -> Offer:
    """Price a question for an analyst: refused where it is wrong, or does not fit the columns."""
    data_set, account = data_sets.for_analyst(asked.data_set, analyst)
    full = asked.with_candidates(data_sets.lists(data_set))
    schema, ledger = data_sets.schema(data_set), data_sets.ledger(data_set)
    problem = problem_of(full, schema)
    epsilon = _epsilon(full, problem, ledger)
    quote = question_of(full, problem, data_sets, data_set, epsilon).quote
    _must_fit(problem, schema, data_set)
    return Offer(
        asked=full,
        given=asked,
        data_set=data_set,
        problem=problem,
        quote=quote,
        accuracy=_at_confidence(quote, problem, full, epsilon, ledger),
        epsilon=epsilon,
        account=account,
    )


def _epsilon(asked: AskedQuestion, problem: Problem, ledger: Ledger) -> Fraction:
    """Read the price, or find the one that buys the accuracy; rounded up to four digits that count."""
    if asked.by == "epsilon":
        if not asked.epsilon:
            raise InvalidParameter("epsilon or within must be given: the price, or the accuracy.")
        found = positive(asked.epsilon, "epsilon")
    else:
        if problem.at or asked.quorum:
            raise InvalidParameter(
                "within is not for several answers, and not beside a quorum. Give epsilon."
            )
        least = epsilon_for(
            problem,
            within=positive(asked.within, "within"),
            k=asked.winners,
            confidence=asked.confidence,
            neighbours=ledger.neighbours,
        )
        if not least:
            raise InvalidParameter("within is so wide that a blind draw is as good. Give a smaller number.")
        found = Fraction(written_number(least).text)
    if found > LARGEST_EPSILON:
        raise InvalidParameter(
            f"epsilon must be at most {LARGEST_EPSILON}: more hides no one. Give a larger number of within."
        )
    return found


def _at_confidence(
    quote: Quote, problem: Problem, asked: AskedQuestion, epsilon: Fraction, ledger: Ledger
) -> Accuracy:
    """State the accuracy of a quote at another confidence."""
    sure = asked.confidence
    if sure == quote.accuracy.confidence or quote.quorum is not None or quote.counted:
        return quote.accuracy
    found = accuracy(
        problem,
        epsilon=epsilon,
        k=quote.k,
        confidence=sure,
        neighbours=ledger.neighbours,
        mechanism=None if problem.at else quote.mechanism,
    )
    return replace(quote.accuracy, within=found.within, confidence=found.confidence)


def _must_fit(problem: Problem, schema: Schema, data_set: DataSet) -> None:
    """Refuse a question that the columns cannot answer, before it is charged."""
    problem.request(schema, unit=data_set.unit)


def _number_of(loss: Currency) -> Fraction:
    """Give the epsilon of a loss."""
    number: Fraction = loss.parts()[0]
    return number
