"""What a release says: the winners, what they cost, and how good they are. All of it may be published."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from html import escape
from typing import Any, Literal, Self, TypeAlias

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import exact_text
from dpselect.privacy.curves import TabulatedBound
from dpselect.privacy.losses import ZCDP, ApproxDP, PureDP, RenyiDP
from dpselect.privacy.neighbours import Neighbours
from dpselect.utility import Accuracy

Label: TypeAlias = str | int | float | Decimal | Fraction
Price: TypeAlias = PureDP | ZCDP | ApproxDP | RenyiDP

MEASURES: Mapping[type[Price], str] = {
    PureDP: "max_divergence",
    ZCDP: "zero_concentrated_divergence",
    ApproxDP: "approximate(max_divergence)",
    RenyiDP: "renyi_divergence",
}
RELATIONS = {"add_remove": "one more or one fewer", "change_one": "one with other answers"}
NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")


@dataclass(frozen=True)
class Release:
    """The labels of the winners, the best first, and all that was public before they were drawn.

    ``unit`` names the column that identifies a person; None says that each row was taken for a person of its
    own. (Of ``Scores`` it is "person": whoever the claimed sensitivity speaks of.) ``scale`` and ``accuracy``
    are in the units of the score. ``problem`` is the digest of the question.
    """

    labels: tuple[Label, ...]
    price: Price
    neighbours: Neighbours
    unit: str | None
    mechanism: Literal["exponential", "gumbel"]
    scale: Fraction
    accuracy: Accuracy
    dataset: str | None
    version: str
    problem: str

    @property
    def label(self) -> Label:
        """The best of the winners."""
        return self.labels[0]

    @property
    def measure(self) -> str:
        """The definition of privacy that the price is stated in."""
        return MEASURES[type(self.price)]

    @property
    def question(self) -> tuple[object, ...]:
        """What was asked, of whom and for how much: whatever else a release says follows from it."""
        return self.problem, self.accuracy.k, self.price, self.neighbours, self.unit, self.dataset

    def to_json(self) -> str:
        """Write it as one line of JSON; exact numbers are text.

        >>> Release.from_json(EXAMPLE.to_json()) == EXAMPLE
        True
        """
        accuracy = self.accuracy
        return json.dumps(
            {
                "labels": [written_label(label) for label in self.labels],
                "price": price_facts(self.price),
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
            tuple(_read_label(label) for label in facts["labels"]),
            _read_price(facts["price"]),
            facts["neighbours"],
            facts["unit"],
            facts["mechanism"],
            _read_number(facts["scale"]),
            Accuracy(
                _read_number(accuracy["within"]),
                _read_number(accuracy["confidence"]),
                accuracy["mechanism"],
                _read_number(accuracy["unit"]),
                accuracy["k"],
                accuracy.get("n"),
                accuracy.get("target"),
            ),
            facts["dataset"],
            facts["version"],
            facts["problem"],
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
    def _facts(self) -> dict[str, str]:
        """What a person wants to know of it, in words."""
        person = "one row" if self.unit is None else f"one {_readable(self.unit)}"
        winners = "winner" if len(self.labels) == 1 else "winners"
        return {
            winners: ", ".join(map(_readable, self.labels)),
            "price": str(self.price),
            "protects": f"{person}: {RELATIONS[self.neighbours]}",
            "accuracy": str(self.accuracy),
            "noise": f"{self.mechanism}, scale {exact_text(self.scale)}",
            **({} if self.dataset is None else {"data set": _readable(self.dataset)}),
        }

    def __repr__(self) -> str:
        width = max(map(len, self._facts))
        return "\n".join(f"{name:{width}}  {fact}" for name, fact in self._facts.items())

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><th>{escape(name)}</th><td>{escape(fact)}</td></tr>" for name, fact in self._facts.items()
        )
        return f"<table>{''.join(rows)}</table>"


def price_facts(price: Price) -> dict[str, Any]:
    """Write a price with exact numbers as text: {"epsilon": "1/2"}."""
    if isinstance(price, RenyiDP):
        return {"renyi": {_number(order): _number(bound) for order, bound in table_of(price).points}}
    names = {PureDP: ("epsilon",), ZCDP: ("rho",), ApproxDP: ("epsilon", "delta")}[type(price)]
    return {name: _number(part) for name, part in zip(names, price.parts(), strict=True)}


def table_of(price: RenyiDP) -> TabulatedBound:
    """Give the table that a Rényi price is stated by."""
    runs = list(price.curve.runs)
    if len(runs) != 1 or not isinstance(runs[0][0], TabulatedBound) or runs[0][1] != 1:
        raise InvalidParameter(
            "a Rényi budget must be a table {order: epsilon}, so that it can be written down; "
            "got a formula. Write RenyiDP({2: '1/2', 8: 2})."
        )
    return runs[0][0]


def _read_price(facts: Mapping[str, Any]) -> Price:
    if "renyi" in facts:
        return RenyiDP({_read_number(order): _read_amount(bound) for order, bound in facts["renyi"].items()})
    parts = {name: _read_number(text) for name, text in facts.items()}
    if "rho" in parts:
        return ZCDP(parts["rho"])
    return ApproxDP(parts["epsilon"], parts["delta"]) if "delta" in parts else PureDP(parts["epsilon"])


def written_label(label: Label) -> str | dict[str, str]:
    """Write a name as it is, a number with its kind."""
    return label if isinstance(label, str) else {type(label).__name__.lower(): _number(label)}


def _read_label(written: str | Mapping[str, str]) -> Label:
    if isinstance(written, str):
        return written
    ((kind, text),) = written.items()
    return READERS[kind](text)


def _number(number: float | Decimal | Fraction) -> str:
    """Write a number exactly, of whatever length."""
    return exact_text(Fraction(number)) if isinstance(number, int | Fraction) else str(number)


def _read_number(text: str) -> Fraction:
    """Read what ``exact_text`` wrote; an exponent could stand for any length, and is not read."""
    if not NUMBER.fullmatch(text):
        raise ValueError
    top, _, bottom = text.partition("/")
    return Fraction(int(Decimal(top)), int(Decimal(bottom or 1)))


def _read_amount(text: str) -> Fraction | float:
    return math.inf if text == "inf" else _read_number(text)


READERS: Mapping[str, Callable[[str], Label]] = {
    "int": lambda text: int(_read_number(text)),
    "fraction": _read_number,
    "decimal": Decimal,
    "float": float,
}


def _readable(label: Label) -> str:
    """Show a label or a name as it is, unless it would do something to the screen."""
    text = label if isinstance(label, str) else _number(label)
    return text if text.isprintable() else repr(text)


EXAMPLE = Release(
    labels=("tea",),
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
"""A made-up release, for documentation."""
