"""What pages show beside plain facts: charts of an offer, what epsilon means, answers in words."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup, escape

from dpselect.errors import InvalidParameter
from dpselect.exact.rounding import (
    from_exact_text,
    readable_number,
    short_decimal,
    written_bound,
    written_number,
)
from dpselect.ledger.reasons import shown_reason
from dpselect.release.labels import readable_label
from dpselect.release.quorum import beside_a_quorum
from dpselect.release.result import Release, no_winner_text
from dpselect.studio import facts
from dpselect.studio.charts import Chart, chance_chart, price_chart
from dpselect.studio.classroom import Lesson
from dpselect.studio.keys import LiveKey
from dpselect.studio.lane import Job
from dpselect.studio.ledger_chart import balance_chart, steps_chart
from dpselect.studio.quotes import MOST_TIMES, Offer
from dpselect.studio.same_question import SameQuestion, same_question
from dpselect.utility.planned_question import PlannedQuestion
from dpselect.utility.promise import odds_factor


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
    planned = PlannedQuestion(
        offer.problem if offer.quote.quorum is None else beside_a_quorum(offer.problem),
        "epsilon",
        offer.quote.k,
        offer.accuracy.confidence,
        offer.quote.neighbours,
        None if offer.accuracy.measured_in == "score" else offer.accuracy.measured_in,
    )
    chance, prices = None, None
    try:
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


TITLES = {
    "vote": "What most people name",
    "plurality": "What most people choose",
    "borda": "What is ranked best",
    "top": "What is named most",
    "mode": "The most common value",
    "price": "The price that earns most",
    "quantile": "The number that splits the people",
    "summary": "How the numbers are spread",
}
"""What an answer is, for each question."""
LINKS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "": (("/login", "Log in"), ("/classroom", "Classroom")),
    "analyst": (("/ask", "Ask"), ("/history", "History"), ("/classroom", "Classroom")),
    "curator": (("/data", "Data sets"), ("/keys", "Keys"), ("/audit", "Audit"), ("/classroom", "Classroom")),
    "auditor": (("/data", "Data sets"), ("/audit", "Audit"), ("/classroom", "Classroom")),
}
"""The pages of each role, in the head of a page."""
ENTRIES_SHOWN = 200
"""Entries of a ledger on a page, the newest ones."""


@dataclass(frozen=True, kw_only=True)
class AnswerView:
    """A question that was asked, and its answer if it has one, in words."""

    title: str
    about: str
    date: str
    price: str
    short: str
    answers: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    citation: str
    again: str


def answer_view(job: Job) -> AnswerView:
    """Put a job into words: public ones alone, and the labels that were released."""
    asked, release = job.asked, job.release
    answers = () if release is None else _answers(release)
    waiting = {"computing": "on its way", "refused": "not charged", "failed": "no answer"}
    short = waiting.get(job.state, ", ".join(label for _, label in answers))
    fields = [(name, value) for name, value in vars(asked).items() if isinstance(value, str) and value]
    return AnswerView(
        title=TITLES[asked.question],
        about=f"{asked.column}, in {asked.data_set}",
        date=facts.date_of(job.time),
        price="" if release is None else readable_number(release.price.parts()[0]),
        short=short,
        answers=answers,
        facts=() if release is None else _facts_of(release),
        citation="" if release is None else _citation(release, short, facts.date_of(job.time)),
        again=f"/ask?{urlencode(fields)}",
    )


def _answers(release: Release) -> tuple[tuple[str, str], ...]:
    """Give each answer its name: the part of people of a quantile, the rank of a winner."""
    if release.quorum is not None and not release.labels:
        text = no_winner_text(release)
        return (("", f"{text[0].upper()}{text[1:]}"),)
    labels = [readable_label(label) for label in release.labels]
    if release.accuracy.at:
        names = [f"{short_decimal(100 * at)} % are below" for at in release.accuracy.at]
        return tuple(zip(names, labels, strict=True))
    return tuple((str(rank), label) for rank, label in enumerate(labels, start=1))


def _facts_of(release: Release) -> tuple[tuple[str, str], ...]:
    found = release.accuracy
    promise = str(found) if found.is_of_order_alone else found.promise(str(written_bound(found.within)))
    return (
        ("Price", str(release.price)),
        ("Protects", release.protects),
        ("Accuracy", f"{promise}, {short_decimal(100 * found.confidence)} % sure"),
        ("Noise", release.noise_and_scale),
    )


def _citation(release: Release, short: str, date: str) -> str:
    return (
        f"{short} ({release.dataset or 'made-up data'}, {date}). Private selection, {release.price}, "
        f"protects {release.protects}; dpselect {release.version}, question {release.problem[:12]}."
    )


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
    """Write a value of a form for the browser to send back as it is: escaped, and nothing else."""
    return escape(str(value))


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
