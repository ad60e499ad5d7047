"""What every engine is asked and must answer: each case is rows, a problem, and the reference's scores."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import dpselect
from dpselect.problems import Problem
from dpselect.problems.typed_values import text_of
from tests.engines import reference
from tests.engines.reference import Row

Kinds: TypeAlias = Mapping[str, str]
"""A type for each column: that of a column of Arrow and of PostgreSQL, in ``loading``."""

LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Case:
    """One question about one table."""

    name: str
    kinds: Kinds
    rows: Sequence[Row]
    unit: str | None
    problem: Problem
    expected: Callable[[], Sequence[Any]]
    options: Mapping[str, Any] = field(default_factory=dict)
    """What else is said of the table."""

    @property
    def points(self) -> list[int]:
        """The expected scores in multiples of the problem's unit."""
        return [int(Fraction(score) / self.problem.unit) for score in self.expected()]


def table(kinds: Kinds, *rows: Sequence[Any]) -> list[Row]:
    return [dict(zip(kinds, row, strict=True)) for row in rows]


VOTES: Kinds = {"voter": "integer", "dish": "text"}
DISHES = ["soup", "pie", "tea", "nobody's"]
BALLOTS = table(
    VOTES,
    (1, "soup"),
    (1, "soup"),
    (1, "pie"),
    (2, "pie"),
    (2, None),
    (3, "off the list"),
    (None, "pie"),
    (4, "tea"),
    (4, "soup"),
    (4, "pie"),
    (5, "Soup"),
    (5, "soup "),
    (LARGEST, "pie"),
    (-LARGEST - 1, "tea"),
)
MANY = [
    {
        "voter": f"person {i % 7}",
        "dish": DISHES[i * i % 3],
        "rank": 1 + i * 5 % 6,
        "stars": (i * 37 % 23) / 4 - 1,
    }
    for i in range(60)
]
MANY_KINDS: Kinds = {"voter": "text", "dish": "text", "rank": "integer", "stars": "double"}


def tallied(  # noqa: PLR0913, PLR0917 - a table of cases, one line each
    name: str,
    kinds: Kinds,
    rows: Sequence[Row],
    unit: str | None,
    problem: Problem,
    column: str,
    **bounds: Any,
) -> Case:
    return Case(
        name,
        kinds,
        rows,
        unit,
        problem,
        lambda: reference.tally(rows, unit, column, problem.outputs, **bounds),
    )


def votes() -> list[Case]:
    approval = dpselect.approval_voting(candidate="dish", candidates=DISHES)
    plurality = dpselect.plurality(candidate="dish", candidates=DISHES)
    twice = dpselect.most_common(column="dish", candidates=DISHES, rows_per_person=3)
    borda = dpselect.borda(candidate="dish", rank="rank", candidates=DISHES)
    listing: list[tuple[str, Kinds, list[Row]]] = [
        ("NULLs, off-list values, duplicates and a candidate nobody chose", VOTES, BALLOTS),
        ("an empty table", VOTES, []),
        ("people with many rows", MANY_KINDS, MANY),
    ]
    cases = []
    for name, kinds, rows in listing:
        for unit in ("voter", None):
            who = f"{name}, {'one row a person' if unit is None else 'bounded'}"
            cases += [
                tallied(f"approval: {who}", kinds, rows, unit, approval, "dish", distinct=True, most=None),
                tallied(f"plurality: {who}", kinds, rows, unit, plurality, "dish", distinct=True, most=1),
                tallied(f"most common: {who}", kinds, rows, unit, twice, "dish", distinct=False, most=3),
            ]
    for unit in ("voter", None):
        cases.append(
            Case(
                f"borda: ranks off the list and repeated, unit {unit}",
                MANY_KINDS,
                MANY,
                unit,
                borda,
                lambda unit=unit: reference.borda(MANY, unit, ("dish", "rank"), borda.outputs),  # type: ignore[misc]
            )
        )
    return cases


def names() -> list[Case]:
    unicode = ["e\u0301", "Ωmega", "\U0001f371 bento", "ß", "SS", "İ", "i", "مرحبا", " blank ", "a\tb", "Ä"]
    spoken = [*unicode, "é", "E\u0301", "ss", "I", "blank", None]
    kinds: Kinds = {"voter": "integer", "dish": "text"}
    rows = [{"voter": i % 5, "dish": spoken[i % len(spoken)]} for i in range(48)]
    rows += [{"voter": 10, "dish": "é"}, {"voter": 11, "dish": "A\u0308"}, {"voter": 11, "dish": "Ä"}]
    problem = dpselect.approval_voting(candidate="dish", candidates=unicode)
    as_given = {"é": "e\u0301", "A\u0308": "Ä"}
    composed = [{**row, "dish": as_given.get(str(row["dish"]), row["dish"])} for row in rows]
    hostile = "dish\"; DROP TABLE t; -- `x` {y} :p1 $1 ?%s \\ it's"
    person = "per%son.id"
    labels = ['"; DROP TABLE t; --', "' OR 1=1 --", "%s", "$1", ":p1", "\\", "NULL", "`", "{}", "x" * 10_000]
    rude_kinds: Kinds = {person: "text", hostile: "text"}
    rude = [{person: f"'{i % 4}%", hostile: labels[i % len(labels)]} for i in range(40)]
    asked = dpselect.plurality(candidate=hostile, candidates=labels)
    return [
        Case(
            "unicode: composed and decomposed are one, everything else is itself",
            kinds,
            rows,
            "voter",
            problem,
            lambda: reference.tally(composed, "voter", "dish", problem.outputs, distinct=True, most=None),
        ),
        tallied(
            "hostile columns and candidates", rude_kinds, rude, person, asked, hostile, distinct=True, most=1
        ),
    ]


FOLDED = {
    "Pad Thai": [
        "pad thai",
        "Pad Thai",
        "  PAD   THAI ",
        "pad\tthai",
        "\npad \r\n thai\x01",
        "pAd \x01 \x01tHAI",
    ],
    "CRÈME": ["CRÈME", " crÈme ", "CrÈmE", "cre\u0300me", "CRE\u0300ME"],
    "naïve Ωmega": ["Naïve Ωmega", "NAïVE  Ωmega", "nai\u0308ve Ωmega"],
    "it's 50% \\ $1": ["IT'S 50% \\ $1", "it's  50%  \\  $1"],
    "\u0131": ["\u0131"],
}
NOT_FOLDED = [
    "padthai",
    "pad-thai",
    "crème",
    "naïve ωmega",
    "NAÏVE Ωmega",
    "I",
    "İ",
    "\u212a",
    "pad\u00a0thai",
    "x" * 300,
]


def letters() -> list[Case]:
    """Case and spaces that are ignored, on every engine alike."""
    spoken = [None, "", *NOT_FOLDED, *(each for spellings in FOLDED.values() for each in spellings)]
    meant = {each: name for name, spellings in FOLDED.items() for each in spellings}
    kinds: Kinds = {"voter": "integer", "dish": "text", "x": "integer"}
    rows = [
        {"voter": i % 11, "dish": spoken[i * 7 % len(spoken)], "x": i % 4} for i in range(4 * len(spoken))
    ]
    read = [{**row, "dish": meant.get(str(row["dish"]), row["dish"])} for row in rows]
    names = list(FOLDED)
    approval = dpselect.approval_voting(candidate="dish", candidates=names, ignore_case=True)
    plurality = dpselect.plurality(candidate="dish", candidates=names, ignore_case=True)
    common = dpselect.most_common(column="dish", candidates=names, rows_per_person=2, ignore_case=True)
    borda = dpselect.borda(candidate="dish", rank="x", candidates=names, ignore_case=True)
    sums = dpselect.weighted_sum(
        candidate="dish", candidates=names, value="x", bounds=(0, 2), unit=1, ignore_case=True
    )
    cases: list[tuple[Problem, Callable[[str | None], Sequence[Any]]]] = [
        (approval, lambda unit: reference.tally(read, unit, "dish", names, distinct=True, most=None)),
        (plurality, lambda unit: reference.tally(read, unit, "dish", names, distinct=True, most=1)),
        (common, lambda unit: reference.tally(read, unit, "dish", names, distinct=False, most=2)),
        (borda, lambda unit: reference.borda(read, unit, ("dish", "x"), names)),
        (
            sums,
            lambda unit: reference.clamped_sums(read, unit, ("dish", "x"), names, (Fraction(0), Fraction(2))),
        ),
    ]
    return [
        Case(
            f"case and spaces ignored: {problem.name}, {unit}",
            kinds,
            rows,
            unit,
            problem,
            partial(expected, unit),
        )
        for problem, expected in cases
        for unit in ("voter", None)
    ]


DAYS = [date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1), date(2024, 3, 1)]
MOMENTS = [
    datetime.fromisoformat("2024-02-29T23:59:59.999999"),
    datetime.fromisoformat("1970-01-01T00:00:00"),
    datetime.fromisoformat("2024-02-29T23:59:59.999998"),
    datetime.fromisoformat("2024-02-29T00:00:00"),
    datetime.fromisoformat("1969-12-31T23:59:59.000001"),
]


def moments() -> list[Case]:
    """Dates, times and truth values as candidates; no row holds the last of each list."""
    given: dict[str, list[Any]] = {"date": DAYS, "timestamp": MOMENTS, "boolean": [True, False]}
    cases = []
    for kind, values in given.items():
        kinds: Kinds = {"who": "integer", "x": kind}
        held = values if kind == "boolean" else [*values[:-1], values[0] - timedelta(days=7)]
        rows = [{"who": i % 7, "x": [None, *held][i * 5 % (len(held) + 1)]} for i in range(31)]
        texts = [{**row, "x": None if row["x"] is None else text_of(row["x"])} for row in rows]
        spelt = [text_of(value) for value in values]
        for words, candidates in (("", values), (" written out", spelt)):
            problem = dpselect.plurality(candidate="x", candidates=candidates)
            expected = partial(reference.tally, rows, "who", "x", values, distinct=True, most=1)
            cases += [
                Case(f"{kind}{words}", kinds, rows, "who", problem, expected),
                Case(f"{kind}{words} in text", {**kinds, "x": "text"}, texts, "who", problem, expected),
            ]
    return cases


def numbers() -> list[Case]:
    whole: Kinds = {"who": "integer", "x": "integer"}
    extremes = table(
        whole,
        *[
            (i, x)
            for i, x in enumerate(
                [LARGEST, -LARGEST - 1, 2**53 + 1, 2**53, 0, None, -1, LARGEST, LARGEST - 1]
            )
        ],
    )
    ends = dpselect.approval_voting(
        candidate="x", candidates=[LARGEST, -LARGEST - 1, 2**53 + 1, LARGEST + 1, Fraction(1, 2), -(2**64), 0]
    )
    middle = dpselect.quantile(
        value="x",
        at="2/3",
        candidates=[-LARGEST - 2, -LARGEST - 1, "-1/2", 0, 2**53 + 1, LARGEST, LARGEST + 1],
    )
    return [
        tallied("64-bit extremes as candidates", whole, extremes, "who", ends, "x", distinct=True, most=None),
        ranked("64-bit extremes in a quantile", whole, extremes, middle),
        tallied(
            "no candidate fits the column",
            whole,
            extremes,
            "who",
            dpselect.plurality(candidate="x", candidates=[0.5, 2**70]),
            "x",
            distinct=True,
            most=1,
        ),
        *floats(),
        *decimals(),
        *sums(),
    ]


def ranked(name: str, kinds: Kinds, rows: Sequence[Row], problem: Problem) -> Case:
    at = Fraction(dict(problem.facts)["at"])

    def expected() -> list[Fraction]:
        exact = [Fraction(str(output)) for output in problem.outputs]
        return reference.closeness(reference.amounts(rows, "who", "x"), at, exact)

    return Case(name, kinds, rows, "who", problem, expected)


def floats() -> list[Case]:
    kinds: Kinds = {"who": "integer", "x": "double"}
    values = [math.nan, -0.0, 0.0, 0.3, 0.1 + 0.2, math.inf, -math.inf, 5e-324, 1e308, None, 2.5, 1.0, 0.1]
    rows = table(kinds, *[(i % 9, values[i % len(values)]) for i in range(26)])
    prices = [0, "0.1", "0.3", "2.5", 10**400]
    doubles = [0.0, 0.1, 0.3, 2.5, math.inf]
    pricing = dpselect.pricing(value="x", prices=prices)
    common = dpselect.most_common(column="x", candidates=[0, 0.3, 0.1, 1, 10**400], rows_per_person=2)
    grid = dpselect.quantile(value="x", at="1/2", between=("-0.5", 3), step="0.1")
    singles: Kinds = {"who": "integer", "x": "single"}
    rounded = [0.10000000149011612, 0.5, None, 0.25, math.nan]
    tenths = table(singles, *[(i, rounded[i % 5]) for i in range(10)])
    return [
        Case(
            "NaN is nobody's offer, and 0.3 is the nearest double",
            kinds,
            rows,
            "who",
            pricing,
            lambda: [
                Fraction(str(price)) * sum(amount >= reference.value(double) for amount in offers(rows))
                for price, double in zip(prices, doubles, strict=True)
            ],
        ),
        Case(
            "floats as candidates",
            kinds,
            rows,
            "who",
            common,
            lambda: reference.tally(rows, "who", "x", [0.0, 0.1, 0.3, 1.0, "beyond"], distinct=False, most=2),
        ),
        Case(
            "a grid of tenths against doubles: nothing is divided",
            kinds,
            rows,
            "who",
            grid,
            lambda: reference.closeness(
                offers(rows), Fraction(1, 2), [Fraction(float(output)) for output in grid.outputs]
            ),
        ),
        Case(
            "0.1 is the nearest single in a column of singles",
            singles,
            tenths,
            "who",
            dpselect.approval_voting(candidate="x", candidates=[0.1, 0.5, 7]),
            lambda: [2, 2, 0],
        ),
        Case(
            "0.7 is the nearest single, which is below 0.7, and is not below itself",
            singles,
            table(singles, (1, 0.699999988079071), (2, 0.5), (3, 1.0)),
            "who",
            dpselect.pricing(value="x", prices=["0.7"]),
            lambda: [Fraction(14, 10)],
        ),
    ]


def offers(rows: Sequence[Row]) -> list[Fraction]:
    return reference.amounts(rows, "who", "x")


def decimals() -> list[Case]:
    kinds: Kinds = {"who": "text", "x": "decimal"}
    cents = [None if i % 11 == 0 else Decimal(i * 7 % 251 - 20).scaleb(-2) for i in range(80)]
    rows = [{"who": f"w{i % 30}", "x": cent} for i, cent in enumerate(cents)]
    prices = [f"{i}.{i}9" for i in range(3)] + ["0.005", "1/3"]
    pricing = dpselect.pricing(value="x", prices=prices)
    exact = [*map(Fraction, prices)]
    written: Kinds = {"who": "text", "x": "text"}
    texts = [
        "1",
        "01",
        "1.0",
        "+1",
        "1e0",
        "1,0",
        "",
        " 1",
        "one",
        "-0",
        "0",
        "1.50",
        None,
        "1\n",
        "1e-400",
        ".5",
        "9" * 30,
    ]
    spelt = [{"who": f"w{i % 12}", "x": text or None} for i, text in enumerate(texts * 2)]
    return [
        Case(
            "decimals, exactly", kinds, rows, "who", pricing, lambda: reference.revenue(offers(rows), exact)
        ),
        Case(
            "numbers in text are read, and what is none is dropped",
            written,
            [{"who": f"w{i}", "x": text or None} for i, text in enumerate(texts)],
            "who",
            dpselect.pricing(value="x", prices=[0, 1, 2]),
            # At least 0: 1 01 1.0 +1 1e0 " 1" -0 0 1.50 .5, thirty nines; at least 1: without -0, 0 and .5.
            lambda: [0, 8, 2],
            {"numbers_in_text": True},
        ),
        Case(
            "numbers with a comma, where a point is no part of one",
            written,
            [
                {"who": f"w{i}", "x": text}
                for i, text in enumerate(
                    ["1,5", " 2 ", "1.5", "1.234,5", "3,50 ", ",5", "1e0", "$2", "1,0,0"]
                )
            ],
            "who",
            dpselect.pricing(value="x", prices=["0.5", 2, "3.5"]),
            # At least 0.5: 1,5 2 3,50 ,5 1e0; at least 2: 2 3,50.
            lambda: [Fraction(5, 2), 4, Fraction(7, 2)],
            {"numbers_in_text": True, "decimal": ","},
        ),
        Case(
            "a list of numbers in text with commas",
            written,
            [{"who": f"w{i}", "x": text} for i, text in enumerate(["1,5", " 2 ", "1.5", "2,0", "3", None])],
            "who",
            dpselect.approval_voting(candidate="x", candidates=[Decimal("1.5"), 2]),
            lambda: [1, 2],
            {"numbers_in_text": True, "decimal": ","},
        ),
        Case(
            "one person's spellings of a number are one vote",
            written,
            [{**row, "who": "w"} for row in spelt],
            "who",
            dpselect.approval_voting(candidate="x", candidates=[0, 1, Decimal("1.5"), 2]),
            lambda: [1, 1, 1, 0],
        ),
    ]


def sums() -> list[Case]:
    kinds: Kinds = {"who": "integer", "dish": "text", "x": "integer"}
    rows = [{"who": i, "dish": DISHES[i % 2], "x": LARGEST - i % 3} for i in range(9)]
    beyond = dpselect.weighted_sum(
        candidate="dish", candidates=DISHES, value="x", bounds=(-(2**70), 2**70), unit=1
    )
    halves = dpselect.weighted_sum(
        candidate="dish", candidates=DISHES, value="stars", bounds=(-1, 3), unit="1/4"
    )
    fees = dpselect.pricing(value="x", prices=[2**60, 2**61, LARGEST])
    ratings: Kinds = {"who": "integer", "dish": "text", "x": "double"}
    ranks = table(
        ratings, (1, "pie", 2.5), (2, "pie", 1.0), (3, "soup", 2.0), (4, "tea", math.nan), (5, "tea", 4.0)
    )
    borda = dpselect.borda(candidate="dish", rank="x", candidates=DISHES)
    return [
        Case(
            "a sum beyond 64 bits",
            kinds,
            rows,
            "who",
            beyond,
            lambda: reference.clamped_sums(
                rows, "who", ("dish", "x"), beyond.outputs, (Fraction(-(2**70)), Fraction(2**70))
            ),
        ),
        Case(
            "a product beyond 64 bits",
            kinds,
            rows,
            "who",
            fees,
            lambda: reference.revenue(offers(rows), [Fraction(2**60), Fraction(2**61), Fraction(LARGEST)]),
        ),
        Case(
            "ratings, one a person and candidate, negative too",
            MANY_KINDS,
            MANY,
            "voter",
            halves,
            lambda: reference.clamped_sums(
                MANY, "voter", ("dish", "stars"), halves.outputs, (Fraction(-1), Fraction(3))
            ),
        ),
        Case(
            "a rank of 2.5 is neither 2 nor 3",
            ratings,
            ranks,
            "who",
            borda,
            lambda: reference.borda(ranks, "who", ("dish", "x"), borda.outputs),
        ),
    ]


def grids() -> list[Case]:
    """Numbers between bounds: windows, thresholds with labels that are absent or others, prices."""
    kinds: Kinds = {"who": "integer", "x": "integer", "y": "text"}
    labels = ["yes", "no", "Yes", None, "yes", "", "other"]
    rows = [
        {"who": i % 17, "x": None if i % 13 == 0 else i * 7 % 23 - 2, "y": labels[i % 7]} for i in range(60)
    ]
    points = [Fraction(2 * place) for place in range(10)]
    busiest = dpselect.window(value="x", width=5, between=(0, 18), step=2)
    split = dpselect.threshold(value="x", label="y", yes="yes", between=(0, 18), step=2)
    fees = dpselect.pricing(value="x", between=(0, 18), step=2)

    def right_side(unit: str | None) -> list[int]:
        found = [
            (person, (x, 0 if label == "yes" else 1))
            for person, (x, label) in reference.people(rows, unit, ["x", "y"])
        ]
        # A value of 64 bits and a label do not fit behind a priority: different rows are numbered.
        sides = reference.kept(set(found) if unit else found, distinct=False, most=1)
        return [sum((x < c) == (label == 1) for x, label in sides) for c in points]

    cases = []
    for unit in ("who", None):
        cases += [
            Case(f"a threshold, unit {unit}", kinds, rows, unit, split, partial(right_side, unit)),
            Case(
                f"a window, unit {unit}",
                kinds,
                rows,
                unit,
                busiest,
                lambda unit=unit: [  # type: ignore[misc]
                    sum(c <= x < c + 5 for x in reference.amounts(rows, unit, "x")) for c in points
                ],
            ),
            Case(
                f"prices between bounds, unit {unit}",
                kinds,
                rows,
                unit,
                fees,
                lambda unit=unit: reference.revenue(reference.amounts(rows, unit, "x"), points),  # type: ignore[misc]
            ),
        ]
    return cases


def shapes() -> list[Case]:
    """Cells with several names, columns that are ticked, and ranks in columns."""
    cells = ["tea; pie;tea", "Pie", " tea ;; ", "x;pie", None, "", ";", "TEA;tea", "soup;\tpie\n;tea", "pie"]
    kinds: Kinds = {"who": "integer", "dish": "text", "a": "text", "b": "text", "c": "text"}
    names = ["tea", "pie", "soup"]
    ballots = [*names, None, "Tea", "x", ""]
    rows = [
        {
            "who": None if i == 9 else i % 13,
            "dish": cells[i * 7 % 10],
            "a": ballots[i % 7],
            "b": ballots[i * i % 7],
            "c": ballots[i * 3 % 5],
        }
        for i in range(40)
    ]
    ticks: Kinds = {"who": "text", "t": "text", "n": "integer", "x": "double", "m": "decimal", "b": "boolean"}
    ticks = {**ticks, "d": "date"}
    texts = [
        "yes",
        "NO",
        " no ",
        "0",
        "0.00",
        "-0",
        "",
        None,
        "FALSE",
        "x",
        "1",
        "00e5",
        "nan",
        ".0",
        "\t",
        "0,0",
    ]
    ticked = [
        {
            "who": f"p{i % 11}",
            "t": texts[i % 16],
            "n": [None, 0, 1, -7][i % 4],
            "x": [None, math.nan, 0.0, -0.0, 5e-324, math.inf][i % 6],
            "m": [None, Decimal("0.00"), Decimal("0.01")][i % 3],
            "b": [True, False, None][i * 2 % 3],
            "d": None if i % 2 else date(2024, 1, 1),
        }
        for i in range(48)
    ]
    every = ["t", "n", "x", "m", "b", "d"]
    found = []
    for unit in ("who", None):
        for fold in (False, True):
            split = partial(reference.split_rows, rows, "dish", ";", names, fold=fold)
            common: dict[str, Any] = {"candidates": names, "split": ";", "ignore_case": fold}
            asked: list[tuple[Problem, int | None, bool]] = [
                (dpselect.approval_voting(candidate="dish", **common), None, True)
            ]
            if unit is not None:
                asked.append((dpselect.plurality(candidate="dish", **common), 1, True))
                asked.append((dpselect.most_common(column="dish", rows_per_person=2, **common), 2, False))
            found += [
                Case(
                    f"split: {problem.name}, {unit}, {fold}",
                    kinds,
                    rows,
                    unit,
                    problem,
                    partial(reference.placed_tally, split, unit, 3, distinct=distinct, most=most),
                )
                for problem, most, distinct in asked
            ]
            ranked = dpselect.borda(ranking=["a", "b", "c"], candidates=names, ignore_case=fold)
            found.append(
                Case(
                    f"ranks in columns, {unit}, {fold}",
                    kinds,
                    rows,
                    unit,
                    ranked,
                    partial(reference.ballots, rows, unit, ["a", "b", "c"], names, fold=fold),
                )
            )
        wide = dpselect.approval_voting(columns={f"is {name}": name for name in every})
        expected = partial(
            reference.placed_tally,
            partial(reference.ticked_rows, ticked, every),
            unit,
            6,
            distinct=True,
            most=None,
        )
        found.append(Case(f"ticked columns, {unit}", ticks, ticked, unit, wide, expected))
        some = dpselect.approval_voting(candidate="dish", candidates=names, split=";")
        there = [row for row in rows if row["a"] is not None and str(row["a"]) < "t"]
        kept = partial(reference.split_rows, there, "dish", ";", names, fold=False)
        found.append(
            Case(
                f"split and filtered, {unit}",
                kinds,
                rows,
                unit,
                some,
                partial(reference.placed_tally, kept, unit, 3, distinct=True, most=None),
                {"where": "a < 't'"},
            )
        )
    return found


CASES = [*votes(), *names(), *letters(), *moments(), *numbers(), *grids(), *shapes()]
