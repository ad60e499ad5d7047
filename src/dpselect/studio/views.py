"""What pages show beside plain facts: charts of an offer and of ledgers, what epsilon means."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from markupsafe import Markup, escape

from dpselect.errors import InvalidParameter
from dpselect.exact.rounding import (
    from_exact_text,
    short_decimal,
    written_number,
)
from dpselect.ledger.reasons import shown_reason
from dpselect.release.quorum import beside_a_quorum
from dpselect.studio.answers import answer_view
from dpselect.studio.charts import Chart, chance_chart, price_chart
from dpselect.studio.classroom import Lesson
from dpselect.studio.keys import LiveKey
from dpselect.studio.ledger_chart import balance_chart, steps_chart
from dpselect.studio.offer import MOST_TIMES, Offer
from dpselect.studio.same_question import SameQuestion, same_question
from dpselect.utility import Accuracy, accuracy
from dpselect.utility.planned_question import PlannedQuestion
from dpselect.utility.promise import odds_factor
from dpselect.utility.worst_case import Mechanism


@dataclass(frozen=True, kw_only=True)
class OfferView:
    """The pictures and sentences beside an offer."""

    balance: Chart
    chance: Chart | None
    prices: Chart | None
    odds: str
    times: str
    same: SameQuestion


def offer_view(offer: Offer) -> OfferView:
    """Draw an offer. Everything comes from the question, the price and the analyst's share."""
    chance, prices = None, None
    try:
        planned = _planned(offer)
        prices = price_chart(planned, offer.epsilon, left=offer.left)
        chance = chance_chart(planned, offer.epsilon) if offer.quote.quorum is None else None
    except InvalidParameter:
        pass  # a question whose accuracy depends on more than its price has no such chart
    return OfferView(
        balance=balance_chart(offer.share, offer.spent, offer.epsilon),
        chance=chance,
        prices=prices,
        odds=odds_of(offer.epsilon),
        times=times_text(offer.times),
        same=same_question(offer),
    )


@dataclass(frozen=True)
class _PlannedHere(PlannedQuestion):
    """A question as it is asked here: of so few people as a bound says, and of groups in one of them."""

    people: int | None
    part: Fraction = Fraction(1)
    """The part of the price that the draw of one group gets."""

    def accuracy(self, price: Fraction, mechanism: Mechanism | None = None) -> Accuracy:
        if self.people is None:
            return super().accuracy(price * self.part, mechanism)
        return accuracy(
            self.problem,
            epsilon=price * self.part,
            confidence=self.confidence,
            neighbours=self.neighbours,
            people=self.people,
        )

    def chance(self, price: Fraction, lead: Fraction) -> Fraction:
        return super().chance(price * self.part, lead)


def _planned(offer: Offer) -> PlannedQuestion:
    """Give the question of an offer at any price; its accuracy is in proportion to one over the price."""
    planned = _PlannedHere(
        offer.problem if offer.quote.quorum is None else beside_a_quorum(offer.problem),
        "epsilon",
        1 if offer.problem.at else offer.quote.k,
        offer.accuracy.confidence,
        offer.quote.neighbours,
        offer.word or None,
        offer.asked.most_people,
    )
    alone = Fraction(0) if offer.quote.groups is None else planned.accuracy(offer.epsilon).within
    return replace(planned, part=alone / offer.accuracy.within) if alone else planned


def odds_of(epsilon: Fraction) -> str:
    """Say what an epsilon means for one person.

    >>> odds_of(Fraction(1, 4))
    "an observer's odds of any guess about one person change by at most a factor of 1.29"
    """
    factor = odds_factor(epsilon)
    if factor is None:
        return "next to nothing is hidden about one person: take a lower price"
    return f"an observer's odds of any guess about one person change by at most a factor of {factor}"


def times_text(times: int) -> str:
    """Say how often.

    >>> times_text(1), times_text(16)
    ('once', '16 times')
    """
    if times >= MOST_TIMES:
        return "more than a million times"
    return "once" if times == 1 else f"{times:,} times"


LINKS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "": (("/login", "Log in"), ("/classroom", "Classroom")),
    "analyst": (("/ask", "Ask"), ("/history", "History"), ("/classroom", "Classroom")),
    "curator": (("/data", "Data sets"), ("/keys", "Keys"), ("/audit", "Audit"), ("/classroom", "Classroom")),
    "auditor": (("/data", "Data sets"), ("/audit", "Audit"), ("/classroom", "Classroom")),
}
"""The pages of each role, in the head of a page."""
ENTRIES_SHOWN = 200
"""Entries of a ledger on a page, the newest ones."""


def own_steps(ledger: Mapping[str, Any]) -> Chart:
    """Draw what was charged, entry by entry: an analyst's own part of a ledger, or all of it."""
    budget = from_exact_text(ledger.get("share") or ledger["budget"])
    charges = [each for each in ledger["entries"] if each.get("act", "charge") == "charge"]
    totals = itertools.accumulate(from_exact_text(each["loss"]) for each in charges)
    return steps_chart([*totals], budget, ledger["symbol"])


def ledger_balance(ledger: Mapping[str, Any]) -> Chart:
    """Draw a ledger's budget as a bar."""
    return balance_chart(
        from_exact_text(ledger["budget"]), from_exact_text(ledger["spent"]), symbol=ledger["symbol"]
    )


def latest(entries: Sequence[Any]) -> list[Any]:
    """Give the last entries, the newest first."""
    return [*reversed(entries[-ENTRIES_SHOWN:])]


def last_day(entries: Sequence[Mapping[str, Any]]) -> str:
    """Say on which day something was last charged."""
    return next((each["date"] for each in reversed(entries) if each["act"] == "charge"), "none yet")


def links(me: LiveKey | None) -> tuple[tuple[str, str], ...]:
    """List the pages of who is logged in."""
    return LINKS["" if me is None else me.role]


def kept(value: str) -> Markup:
    """Write a value for the browser to send back as it is: escaped, invisible signs by their numbers.

    >>> kept("<a\u202eb>")
    Markup('&lt;a&#8238;b&gt;')
    """
    text = escape(str(value))
    # Numbers of control characters below would be read as other signs.
    for sign in {each for each in text if each >= "\xa0" and not each.isprintable()}:
        text = text.replace(sign, Markup("&#%d;") % ord(sign))
    return text


def as_sentence(text: str) -> str:
    """Begin with a capital letter.

    >>> as_sentence("epsilon must be positive.")
    'Epsilon must be positive.'
    """
    return f"{text[:1].upper()}{text[1:]}"


def votes_text(lesson: Lesson) -> str:
    """Write the votes of a lesson in a line."""
    pairs = zip(lesson.names, lesson.scores, strict=True)
    return ", ".join(f"{name} {short_decimal(votes)}" for name, votes in pairs)


FILTERS = {
    "answer_viewed": answer_view,
    "balance_viewed": ledger_balance,
    "kept": kept,
    "last_day": last_day,
    "latest": latest,
    "links": links,
    "number_down": lambda number: written_number(number, rounded="down").text,
    "plain_number": short_decimal,
    "sentence": as_sentence,
    "short_reason": lambda reason: shown_reason(reason, "epsilon"),
    "steps_viewed": own_steps,
    "viewed": offer_view,
    "votes_text": votes_text,
}
"""What templates call, by its name there."""
