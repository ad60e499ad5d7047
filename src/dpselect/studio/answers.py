"""Answers in words: the labels that were released, how good they are, and a line to cite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from urllib.parse import urlencode

from dpselect.exact.rounding import readable_number, short_decimal, written_bound
from dpselect.release import Release
from dpselect.release.group_form import NO_WINNER
from dpselect.release.labels import PlainLabel, readable_label
from dpselect.release.result import beside_text, no_winner_text
from dpselect.studio import facts
from dpselect.studio.asked_problem import fraction_of
from dpselect.studio.asked_question import LISTS, AskedQuestion
from dpselect.studio.lane import Job

TITLES = {
    "vote": "What most people name",
    "plurality": "What most people choose",
    "borda": "What is ranked best",
    "top": "What is named most",
    "mode": "The most common value",
    "price": "The price that earns most",
    "quantile": "Numbers that split the people",
    "summary": "How the numbers are spread",
    "threshold": "From which number on it is yes",
    "window": "Where most numbers lie close together",
}
"""What an answer is, for each question."""
LONGEST_LINK = 8_000
"""Characters of an address that a browser and a proxy take without doubt."""
SHORT_GROUPS = 3
"""Groups that are named where an answer has one line."""


@dataclass(frozen=True, kw_only=True)
class AnswerView:
    """A question that was asked, and its answer if it has one, in words."""

    title: str
    about: str
    date: str
    price: str
    short: str
    headings: tuple[str, ...]
    """What the columns of the answers are, where they are a table; empty where they are a list."""
    answers: tuple[tuple[str, tuple[str, ...]], ...]
    """The labels of each line, and its name: a group, the part of people of a quantile, or nothing."""
    facts: tuple[tuple[str, str], ...]
    citation: str
    again: str


def answer_view(job: Job) -> AnswerView:
    """Put a job into words: public ones alone, and the labels that were released."""
    asked, release = job.asked, job.release
    waiting = {"computing": "on its way", "refused": "not charged", "failed": "no answer"}
    short = waiting.get(job.state, "") if release is None else _short(release)
    each = f", for each {asked.each}" if asked.each else ""
    return AnswerView(
        title=_title(asked),
        about=f"{asked.column}, in {asked.data_set}{each}",
        date=facts.date_of(job.time),
        price="" if release is None else readable_number(release.price.parts()[0]),
        short=short,
        headings=() if release is None else _headings(release),
        answers=() if release is None else _answers(release),
        facts=() if release is None else _facts_of(release),
        citation="" if release is None else _citation(release, short, facts.date_of(job.time)),
        again=_again(asked),
    )


def _title(asked: AskedQuestion) -> str:
    """Say what the answer is: of one quantile, which."""
    if asked.question != "quantile" or "," in asked.at:
        return TITLES[asked.question]
    below = fraction_of(asked.at or "1/2", "at")
    return (
        "The median"
        if below == Fraction(1, 2)
        else f"The number that {short_decimal(100 * below)} % are below"
    )


def _again(asked: AskedQuestion) -> str:
    """Give the address of the form that holds this question; lists that are too long for it are left out."""
    lists = {name: "\n".join(getattr(asked, name)) for name in LISTS}
    words = {name: "on" if value is True else value for name, value in vars(asked).items() if value}
    found = urlencode({**words, **{name: text for name, text in lists.items() if text}})
    if len(found) > LONGEST_LINK:
        found = urlencode({name: value for name, value in words.items() if name not in LISTS})
    return f"/ask?{found}"


def _headings(release: Release) -> tuple[str, ...]:
    parts = tuple(f"{short_decimal(100 * at)} % are below" for at in release.accuracy.at)
    if release.groups is None:
        return ("Part of the people below", "Answer") if parts else ()
    if parts:
        return (release.groups.by, *parts)
    many = release.k if release.groups.several else 1
    return (release.groups.by, *(["Answer"] if many == 1 else [f"{rank}." for rank in range(1, many + 1)]))


def _answers(release: Release) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Give each answer its name: the part of people of a quantile, a group."""
    if release.groups is not None:
        won = zip(release.groups.labels, release.winners, strict=True)
        return tuple((readable_label(group), _labels(labels) or (NO_WINNER,)) for group, labels in won)
    if release.quorum is not None and not release.labels:
        text = no_winner_text(release)
        return (("", (f"{text[0].upper()}{text[1:]}",)),)
    names = [f"{short_decimal(100 * at)} %" for at in release.accuracy.at] or [""] * len(release.labels)
    return tuple((name, (label,)) for name, label in zip(names, _labels(release.labels), strict=True))


def _labels(labels: Iterable[PlainLabel]) -> tuple[str, ...]:
    return tuple(map(readable_label, labels))


def _short(release: Release) -> str:
    """Write an answer in one line; of many groups the first ones."""
    lines = [(name, ", ".join(labels)) for name, labels in _answers(release)]
    if release.groups is None:
        return ", ".join(text for _, text in lines)
    more = len(lines) - SHORT_GROUPS
    few = "; ".join(f"{name}: {text}" for name, text in islice(lines, SHORT_GROUPS))
    return f"{few}; {more:,} more" if more > 0 else few


def _facts_of(release: Release) -> tuple[tuple[str, str], ...]:
    found, groups = release.accuracy, release.groups
    sure = f"{short_decimal(100 * found.confidence)} % sure"
    of_ranks = found.target is not None or bool(found.at)
    unit = "" if of_ranks or found.measured_in == "score" else f" {found.measured_in}"
    promise = str(found)
    if not found.is_of_order_alone:
        inside = f", in{unit}" if unit else ""
        promise = f"{found.promise(str(written_bound(found.within)))}{inside}, {sure}"
    beside = beside_text(release)
    together = "" if groups is None else groups.promise_text(found.sureness, " people" if of_ranks else unit)
    return (
        *((name.capitalize(), text) for name, text in beside.items()),
        ("Price", str(release.price)),
        ("Protects", release.protects),
        *([] if groups is None else [("Groups", groups.price_text(release.neighbours))]),
        ("Accuracy", f"{'' if groups is None else 'in each group '}{promise}"),
        *([] if groups is None else [("Together", together)]),
        *([] if release.quorum is None else [("No clear winner", f"stands for {release.quorum_text}")]),
        ("Noise", release.noise_and_scale),
    )


def _citation(release: Release, short: str, date: str) -> str:
    return (
        f"{short} ({release.dataset or 'made-up data'}, {date}). Private selection, {release.price}, "
        f"protects {release.protects}; dpselect {release.version}, question {release.problem[:12]}."
    )
