"""What a release says: the winners, what they cost, and how good they are. All of it may be published.

Stored format: ledgers keep what ``to_json`` writes, and ``from_json`` reads it for ever. No key changes its
name or its meaning; a new key needs a reader that does without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self, TypeAlias

from dpselect.errors import InvalidParameter
from dpselect.exact.rounding import exact_text, from_exact_text
from dpselect.privacy.losses import loss_from_facts
from dpselect.problems.typed_values import TRUTHS, text_of
from dpselect.release.quote import EXAMPLE_QUOTE, RELATIONS, Quote, readable
from dpselect.utility import Accuracy

PlainLabel: TypeAlias = str | int | float | Decimal | Fraction | date | time
"""A label of a winner, as one of Python's own values."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Release(Quote):
    """The labels of the winners, the best first, and all that was public before they were drawn."""

    labels: tuple[PlainLabel, ...]

    @classmethod
    def of(cls, quote: Quote, labels: tuple[PlainLabel, ...]) -> Self:
        """Give the labels that were drawn as a quote says."""
        return cls(**{**vars(quote), "labels": labels})

    @property
    def label(self) -> PlainLabel:
        """The best of the winners."""
        return self.labels[0]

    def to_json(self) -> str:
        """Write it as one line of JSON; exact numbers are text.

        >>> Release.from_json(EXAMPLE.to_json()) == EXAMPLE
        True
        """
        accuracy = self.accuracy
        return json.dumps(
            {
                "labels": [written_label(label) for label in self.labels],
                "price": self.price.to_facts(),
                "measure": self.measure,
                "neighbours": self.neighbours,
                "unit": self.unit,
                "mechanism": self.mechanism,
                "scale": exact_text(self.scale),
                "accuracy": {
                    "within": exact_text(accuracy.within),
                    "confidence": exact_text(accuracy.confidence),
                    "mechanism": accuracy.mechanism,
                    "unit": exact_text(accuracy.unit),
                    "k": accuracy.k,
                    # Releases of the first version, which ledgers keep, have neither.
                    **({} if accuracy.n is None else {"n": accuracy.n}),
                    **({} if accuracy.target is None else {"target": accuracy.target}),
                },
                "dataset": self.dataset,
                "version": self.version,
                "problem": self.problem,
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote."""
        try:
            return cls._from_facts(json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
            pass
        raise InvalidParameter("text must be a release, as to_json() writes it.")

    @classmethod
    def _from_facts(cls, facts: Mapping[str, Any]) -> Self:
        accuracy = facts["accuracy"]
        release = cls(
            labels=tuple(_read_label(label) for label in facts["labels"]),
            price=loss_from_facts(facts["price"]),
            neighbours=facts["neighbours"],
            unit=facts["unit"],
            mechanism=facts["mechanism"],
            scale=from_exact_text(facts["scale"]),
            accuracy=Accuracy(
                from_exact_text(accuracy["within"]),
                from_exact_text(accuracy["confidence"]),
                accuracy["mechanism"],
                from_exact_text(accuracy["unit"]),
                accuracy["k"],
                accuracy.get("n"),
                accuracy.get("target"),
            ),
            dataset=facts["dataset"],
            version=facts["version"],
            problem=facts["problem"],
        )
        release._check()
        if json.loads(release.to_json()) != facts:
            raise ValueError
        return release

    def _check(self) -> None:
        """Refuse what ``to_json`` never wrote."""
        names = [self.version, self.problem, *filter(None, [self.unit, self.dataset, self.accuracy.target])]
        known = self.neighbours in RELATIONS and self.mechanism in ("exponential", "gumbel")
        if not known or not all(isinstance(name, str) for name in names):
            raise ValueError
        if self.accuracy.mechanism != self.mechanism or not 1 <= len(self.labels) == self.accuracy.k:
            raise ValueError
        if self.accuracy.n is not None and not self.accuracy.n >= self.accuracy.k:
            raise ValueError

    @property
    def _winners(self) -> tuple[str, str]:
        shown = (label if isinstance(label, str) else _number(label) for label in self.labels)
        return "winner" if len(self.labels) == 1 else "winners", ", ".join(map(readable, shown))


def written_label(label: PlainLabel) -> str | dict[str, str]:
    """Write a name as it is, anything else with its kind."""
    return label if isinstance(label, str) else {type(label).__name__.lower(): _number(label)}


def _read_label(written: str | Mapping[str, str]) -> PlainLabel:
    if isinstance(written, str):
        return written
    ((kind, text),) = written.items()
    return _READERS[kind](text)


def _number(number: float | Decimal | Fraction | date | time) -> str:
    """Write a number exactly, of whatever length; a date, a time or a truth value in its own form."""
    if isinstance(number, bool | date | time):
        return text_of(number)
    return exact_text(Fraction(number)) if isinstance(number, int | Fraction) else str(number)


_READERS: Mapping[str, Callable[[str], PlainLabel]] = {
    "int": lambda text: int(from_exact_text(text)),
    "fraction": from_exact_text,
    "decimal": Decimal,
    "float": float,
    "bool": TRUTHS.__getitem__,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
}

EXAMPLE = Release.of(EXAMPLE_QUOTE, ("tea",))
"""A made-up release, for documentation."""
