"""Pictures made on the server: elements of SVG, axes with round numbers. The style sheet colours them.

No attribute holds a style and no element holds a script, so that a page may forbid both.

>>> element("text", "<b>", class_="label", x=1)
'<text class="label" x="1">&lt;b&gt;</text>'
>>> [short for _, short in round_ticks(Fraction(70), 4)]
['0', '20', '40', '60']
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dpselect.exact.rounding import to_float_up, written_number
from dpselect.notebook import shown_text

ROUND_NUMBERS = (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(5), Fraction(10))
"""A tick is one of these times a power of ten."""
STRETCHED = ("balance",)
"""Pictures that are as wide as there is room, and no higher."""


class Piece(str):
    """A text that is markup already: it is written as it stands."""

    __slots__ = ()

    def __html__(self) -> str:
        """Tell a template that this is markup."""
        return self


def element(name: str, *content: str, **attributes: str | float) -> Piece:
    """Write an element; what is no ``Piece`` is written as text. Attributes may have ``_`` for ``-``."""
    written = {
        key: shown_text(value) if isinstance(value, str) else _short(value)
        for key, value in attributes.items()
    }
    named = (f' {key.rstrip("_").replace("_", "-")}="{text}"' for key, text in written.items())
    inner = "".join(each if isinstance(each, Piece) else shown_text(each) for each in content)
    return Piece(f"<{name}{''.join(named)}>{inner}</{name}>")


def chained(pieces: Iterable[str]) -> Piece:
    """Put pieces one after the other."""
    return Piece("".join(each if isinstance(each, Piece) else shown_text(each) for each in pieces))


def round_ticks(high: Fraction, most: int) -> list[tuple[Fraction, str]]:
    """Give round numbers from 0 to ``high``, at most ``most`` steps of one size, and how they are written."""
    power = Fraction(10) ** (len(str(int(high))) if high >= 1 else 0)
    while power > high / most:
        power /= 10
    step = next(power * each for each in ROUND_NUMBERS if power * each * most >= high)
    values = itertools.takewhile(lambda value: value <= high, (step * i for i in itertools.count()))
    return [(value, tick_text(value)) for value in values]


def tick_text(value: Fraction) -> str:
    """Write a round number; a large one with commas between its thousands."""
    return f"{value.numerator:,}" if value.denominator == 1 else written_number(value).text


class Point(NamedTuple):
    """A place in a picture, in its own units."""

    x: float
    y: float


@dataclass(frozen=True)
class Plane:
    """A picture with two axes that begin at zero: where numbers lie in it."""

    width: int
    height: int
    x_high: Fraction
    y_high: Fraction
    left: int = 48
    right: int = 14
    top: int = 14
    bottom: int = 44

    def at(self, x: Fraction, y: Fraction) -> Point:
        """Give the place of two numbers; what is outside lies on the edge."""
        return Point(self.across(x), self.up(y))

    def across(self, x: Fraction) -> float:
        """Give how far from the left a number lies."""
        share = to_float_up(min(max(x / self.x_high, Fraction(0)), Fraction(1)))
        return self.left + share * (self.width - self.left - self.right)

    def up(self, y: Fraction) -> float:
        """Give how far from the top a number lies."""
        share = to_float_up(min(max(y / self.y_high, Fraction(0)), Fraction(1)))
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    @property
    def size(self) -> tuple[int, int]:
        """The width and the height of the picture."""
        return self.width, self.height

    @property
    def floor(self) -> float:
        """Where the lower axis lies."""
        return self.height - self.bottom

    @property
    def end(self) -> float:
        """Where the lower axis ends."""
        return self.width - self.right

    def axes(
        self,
        x_name: str,
        y_name: str,
        x_ticks: Sequence[tuple[Fraction, str]],
        y_ticks: Sequence[tuple[Fraction, str]],
    ) -> Piece:
        """Draw thin lines at the ticks of the upright axis, the lower axis, numbers and names."""
        pieces = []
        for value, text in y_ticks:
            height = self.up(value)
            pieces.append(element("line", class_="grid", x1=self.left, x2=self.end, y1=height, y2=height))
            pieces.append(
                element("text", text, class_="tick", x=self.left - 6, y=height + 4, text_anchor="end")
            )
        for value, text in x_ticks:
            place = self.across(value)
            pieces.append(
                element("line", class_="axis", x1=place, x2=place, y1=self.floor, y2=self.floor + 4)
            )
            pieces.append(
                element("text", text, class_="tick", x=place, y=self.floor + 17, text_anchor="middle")
            )
        pieces.append(element("line", class_="axis", x1=self.left, x2=self.end, y1=self.floor, y2=self.floor))
        middle = (self.left + self.end) / 2
        pieces.append(
            element("text", x_name, class_="name", x=middle, y=self.height - 7, text_anchor="middle")
        )
        if y_name:
            pieces.append(element("text", y_name, class_="name", x=4, y=self.top - 4, text_anchor="start"))
        return chained(pieces)


def line(points: Iterable[Point], class_: str) -> Piece:
    """Draw straight lines from point to point."""
    return element("polyline", class_=class_, points=_places(points))


def area(points: Iterable[Point], class_: str) -> Piece:
    """Fill what lies between points."""
    return element("polygon", class_=class_, points=_places(points))


def box(left: float, top: float, width: float, height: float, class_: str) -> Piece:
    """Fill a box; a negative width or height is none."""
    size = {"width": max(width, 0.0), "height": max(height, 0.0)}
    return element("rect", class_=class_, x=left, y=top, **size)


def picture(name: str, title: str, says: str, size: tuple[int, int], pieces: Iterable[str]) -> Piece:
    """Put pieces into a picture, whose title and words are read to those who do not see it."""
    names = chained([element("title", title), element("desc", says)])
    box_of_all = f"0 0 {size[0]} {size[1]}"
    shape = {"preserveAspectRatio": "none"} if name in STRETCHED else {}
    return element("svg", names, *pieces, class_=f"chart {name}", viewBox=box_of_all, role="img", **shape)


def _places(points: Iterable[Point]) -> str:
    return " ".join(f"{_short(point.x)},{_short(point.y)}" for point in points)


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
