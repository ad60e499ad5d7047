"""The problem that a question means, for the columns of a table. Nothing here reads a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from dpselect.engines.schema import Column, Schema
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import MOST_DIGITS, MOST_EXPONENT, positive, probability
from dpselect.problems import (
    approval_voting,
    borda,
    most_common,
    plurality,
    pricing,
    quantile,
    quantiles,
    threshold,
    window,
)
from dpselect.problems.candidates import grid
from dpselect.problems.problem import Problem
from dpselect.problems.quantiles import five_numbers
from dpselect.studio.asked_question import OF_NAMES, AskedQuestion


def problem_of(asked: AskedQuestion, schema: Schema) -> Problem:
    """Give the problem that a question means, for the columns of a table."""
    column = schema.column(asked.column)
    if asked.question not in OF_NAMES:
        return _of_numbers(asked, schema)
    if not asked.candidates:
        raise InvalidParameter(
            "candidates must be given: one on each line. They are public, and never read from the data."
        )
    names = _fitting(asked.candidates, column)
    fold = asked.ignore_case
    if asked.question == "borda":
        return borda(candidate=asked.column, rank=asked.rank, candidates=names, ignore_case=fold)
    if asked.question == "mode":
        return most_common(column=asked.column, candidates=names, ignore_case=fold)
    ask: Callable[..., Problem] = plurality if asked.question == "plurality" else approval_voting
    problem = ask(candidate=asked.column, candidates=names, ignore_case=fold)
    return replace(problem, measured_in="people") if asked.question == "top" else problem


def groups_of_question(asked: AskedQuestion, schema: Schema) -> dict[str, Any]:
    """Give what ``prepare`` takes of groups: text, or numbers if their column holds numbers."""
    found = asked.of_each
    return {**found, "groups": _fitting(asked.groups, schema.column(asked.each))} if found else {}


def _of_numbers(asked: AskedQuestion, schema: Schema) -> Problem:
    between, step = (_number(asked.low, "low"), _number(asked.high, "high")), asked.step or None
    if step is not None:
        positive(step, "step")
    if asked.question == "price":
        return pricing(value=asked.column, between=between, step=step or "0.01")
    grid(between, step)
    if asked.question == "summary":
        return five_numbers(value=asked.column, between=between, step=step)
    if asked.question == "window":
        return window(value=asked.column, width=positive(asked.width, "width"), between=between, step=step)
    if asked.question == "threshold":
        if not asked.yes:
            raise InvalidParameter(
                "yes must be given: what is yes, in the column that says it.", parameter="yes"
            )
        (yes,) = _fitting((asked.yes,), schema.column(asked.label))
        return threshold(value=asked.column, label=asked.label, yes=yes, between=between, step=step)
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


def _number(text: str, name: str) -> str:
    if not text.strip():
        which = {"low": "lowest", "high": "highest"}[name]
        raise InvalidParameter(
            f"{name} must be given: the {which} answer that there may be, a public bound.", parameter=name
        )
    return text.strip()


def _fitting(labels: tuple[str, ...], column: Column) -> list[Any]:
    """Read labels of a column of numbers as the numbers that they spell; others stay text."""
    if column.kind == "text":
        return [*labels]
    try:
        read = [Decimal(label) for label in labels]
    except InvalidOperation:
        return [*labels]
    if not all(map(_is_plain, read)):
        return [*labels]
    return [
        int(each) if label.lstrip("+-").isdigit() else each for label, each in zip(labels, read, strict=True)
    ]


def _is_plain(number: Decimal) -> bool:
    """Say whether a number is finite, and not too long to compute with."""
    _, digits, exponent = number.as_tuple()
    return number.is_finite() and len(digits) <= MOST_DIGITS and abs(int(exponent)) <= MOST_EXPONENT
