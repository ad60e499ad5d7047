"""A filter means the same on every engine and has no words but its own.

What is under test: dpselect.engines.where, dpselect.engines.comparisons.
"""

import json
import math
import operator
import random
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpselect
from dpselect import Table, approval_voting, quantile
from dpselect.errors import InvalidParameter, RequestChanged
from tests.engines import loading
from tests.engines.asking import asked
from tests.engines.cases import Kinds
from tests.engines.reference import Row
from tests.servers.postgres import Server

KINDS: Kinds = {
    "who": "integer",
    "n": "integer",
    "x": "double",
    "m": "decimal",
    "s": "text",
    "d": "date",
    "at": "timestamp",
    "b": "boolean",
}
TEXTS = [
    "1",
    "2.5",
    "x",
    None,
    "1e3",
    "-4",
    " 7 ",
    "0.1",
    "",
    "Ä",
    "a",
    "B",
    "1e400",
    "3\n",
    "0.1000000000000000000001",
    "5e005",
    "-1e309",
    "0." + "1" * 60,
]
MOMENTS = [datetime.fromisoformat(f"2024-01-0{i}T12:00:00.{i:06}") for i in range(1, 6)]
ROWS: list[Row] = [
    {
        "who": i,
        "n": [None, -3, 0, 2, 2**53 + 1, -(2**63), 2**63 - 1][i % 7],
        "x": [None, math.nan, 0.1, -0.0, 2.5, math.inf, -math.inf, 1e300][i % 8],
        "m": None if i % 5 == 0 else Decimal(i % 17 - 8) / 4,
        "s": TEXTS[i % len(TEXTS)],
        "d": None if i % 4 == 0 else date(2024, 1, 1 + i % 9),
        "at": None if i % 6 == 0 else MOMENTS[i % 5],
        "b": [True, False, None][i % 3],
    }
    for i in range(45)
]
WHO = approval_voting(candidate="who", candidates=list(range(45)))
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
LITERALS: dict[str, list[str]] = {
    "n": ["0", "-3", "2.5", "9007199254740993", "-1e30", "9223372036854775807", "0.0"],
    "x": ["0", "0.1", "2.5", "-1e400", "1e300"],
    "m": ["0.25", "-1", "1.999", "1e20", "-0.001"],
    "s": ["'a'", "'1'", "''", "'Ä'", "1", "0.1", "1000", "-4.0", "7", "1e-400"],
    "d": ["DATE '2024-01-05'", "'2024-01-03'"],
    "at": ["TIMESTAMP '2024-01-03T12:00:00.000003'", "DATE '2024-01-04'"],
    "b": ["TRUE", "FALSE"],
}
Truth = bool | None
Asked = tuple[str, Callable[[Row], Truth]]


def comparison(rng: random.Random) -> Asked:
    column = rng.choice(list(LITERALS))
    sign, literal = rng.choice(list(OPERATORS)), rng.choice(LITERALS[column])

    def holds(row: Row, sign: str = sign, literal: str = literal) -> Truth:
        sides = values(column, row[column], literal)
        return None if sides is None else OPERATORS[sign](*sides)

    way = rng.randrange(6)
    if way == 0:
        return f"{column} IS NULL", lambda row: has_none(row[column])
    if way == 1:
        return f"{column} IS NOT NULL", lambda row: not has_none(row[column])
    if way == 2:
        other = rng.choice(LITERALS[column])
        listed = literal, other
        return f"{column} in ({literal}, {other})", lambda row: either([holds(row, "=", x) for x in listed])
    if way == 3:
        other = rng.choice(LITERALS[column])

        def negated(row: Row) -> Truth:
            return no(both([holds(row, ">=", literal), holds(row, "<=", other)]))

        return f"{column} not between {literal} and {other}", negated
    return f'"{column}" {sign} {literal}', holds


def condition(rng: random.Random, depth: int = 2) -> Asked:
    if depth == 0:
        return comparison(rng)
    parts = [condition(rng, depth - 1) for _ in range(rng.choice([1, 2, 2, 3]))]
    word, joined = rng.choice([("AND", both), ("or", either)])
    text, holds = f" {word} ".join(f"({text})" for text, _ in parts), [part for _, part in parts]

    def found(row: Row) -> Truth:
        return joined([part(row) for part in holds])

    return (f"NOT ({text})", lambda row: no(found(row))) if rng.randrange(4) == 0 else (text, found)


def both(parts: Sequence[Truth]) -> Truth:
    return False if False in parts else None if None in parts else True


def either(parts: Sequence[Truth]) -> Truth:
    return True if True in parts else None if None in parts else False


def no(truth: Truth) -> Truth:
    return None if truth is None else not truth


def has_none(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def values(column: str, value: Any, literal: str) -> tuple[Any, Any] | None:
    """Give both sides of a comparison as Python compares them; None if it is unknown."""
    if has_none(value):
        return None
    quoted = literal.strip("DATEIMSP ").strip("'")
    readers: dict[str, Callable[[], tuple[Any, Any] | None]] = {
        "b": lambda: (value, literal == "TRUE"),
        "d": lambda: (value, date.fromisoformat(quoted)),
        "at": lambda: (value, datetime.fromisoformat(quoted)),
        "s": lambda: (value.encode(), quoted.encode()) if "'" in literal else spelt(value, literal),
        "x": lambda: (value, float(literal)),
    }
    return readers.get(column, lambda: (Fraction(value), Fraction(literal)))()


def spelt(value: str, literal: str) -> tuple[Any, Any] | None:
    if "\n" in value or value.strip() in ("", "x", "Ä", "a", "B"):
        return None
    near = len(value) > 20 or "e" in value
    return (float(value), float(literal)) if near else (Fraction(value.strip()), Fraction(literal))


def agree(table: Callable[[str], Table], rows: Sequence[Row], seed: int, questions: int) -> None:
    rng = random.Random(seed)
    for _ in range(questions):
        text, holds = condition(rng)
        expected = [int(holds(row) is True) for row in rows]
        assert asked(WHO, table(text)) == expected, text


@pytest.mark.parametrize(
    "load",
    [
        loading.from_parquet,
        loading.from_arrow,
        loading.from_polars,
        loading.from_relation,
    ],
    ids=lambda load: load.__name__,
)
def test_a_filter_is_what_python_makes_of_it(load: Any, tmp_path: Path) -> None:
    source = load(KINDS, ROWS, "who", tmp_path).source
    agree(lambda text: Table(source, unit="who", where=text), ROWS, 7, 60)


def test_a_filter_is_the_same_on_postgresql(postgres_server: Server) -> None:
    url = postgres_server.url()
    loading.to_postgres(url, "filtered", KINDS, ROWS)
    agree(lambda text: Table(url, table="filtered", unit="who", where=text), ROWS, 8, 60)


@pytest.mark.parametrize(
    ("condition", "people"),
    [
        ("x = 12300", 2),
        ("x = 12345", 0),
        ("x <> 12345", 4),
        ("x < 12345", 3),
        ("x > 50", 3),
        ("x BETWEEN 1 AND 12399.5", 2),
        ("x >= 9999900", 1),
    ],
)
def test_a_filter_of_hundreds_is_exact_on_postgresql(
    postgres_server: Server, condition: str, people: int
) -> None:
    url = postgres_server.url()
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS hundreds")
        connection.execute("CREATE TABLE hundreds (who int, dish text, x numeric(5, -2))")
        connection.execute(
            "INSERT INTO hundreds VALUES (1, 'tea', 12345), (2, 'tea', 12300), (3, 'tea', 9999900), "
            "(4, 'tea', 49), (5, 'tea', NULL)"
        )
    tea = approval_voting(candidate="dish", candidates=["tea"])
    assert asked(tea, Table(url, table="hundreds", unit="who", where=condition)) == [people]


def test_a_filter_is_the_same_on_spark(spark_session: Any, tmp_path: Path) -> None:
    frame = spark_session.read.parquet(str(loading.parquet(KINDS, ROWS, tmp_path)))
    agree(lambda text: Table(frame, unit="who", where=text), ROWS, 9, 12)


def test_text_in_a_csv_is_compared_as_numbers_with_its_own_decimal_sign(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("who;x\n0;1,5\n1;10\n2;9\n3;one\n4;\n5;1.5\n", encoding="utf-8")
    found = {
        "x > 1": [1, 1, 1, 0, 0, 0],
        "not x > 5": [1, 0, 0, 0, 0, 0],
        "x < '2'": [1, 1, 0, 0, 0, 1],
        "x is null": [0, 0, 0, 0, 1, 0],
    }
    for text, expected in found.items():
        table = Table(tmp_path / "rows.csv", unit="who", decimal=",", where=text)
        assert asked(WHO, table)[:6] == expected, text


REFUSED = [
    ("", "must be a condition"),
    ("  ", "must be a condition"),
    (7, "must be a condition"),
    ("n", "must compare column 'n'"),
    ("n = 'a'", "must compare with a number"),
    ("n = '3'", r"must compare with a number \(write 3\)"),
    ("n = null", "Write IS NULL"),
    ("length(s) = 1", r"must not have a function; got 'length\(…\)'"),
    ("cast(n as int) = 1", "a function"),
    ("exists(select 1)", "a function"),
    ("n in (select 1)", "must not have 'select'"),
    ("n = 1; n = 2", "';' is left over"),
    ("n = 1 -- all", "a comment"),
    ("/* */ n = 1", "a comment"),
    ("n = 1 --", "a comment"),
    ("n = 1 # all", "must"),
    ("n::int = 1", "'::'"),
    ("s like 'x'", "'like'"),
    ("n = $1", "must not have"),
    ("n = ?", "must not have"),
    ("n = :p", "must not have"),
    ("n = @p", "must not have"),
    ("n = 1 as y", "'as' is left over"),
    ("t.n = 1", "must not have"),
    ("n + 1 = 2", "must not have"),
    ("case when n = 1 then b end", "must not have 'case'"),
    ("n is true", "must not have"),
    ("n is distinct from 1", "must not have"),
    ("(n, x) = (1, 2)", "must not have"),
    ("1 = 1", "two literals"),
    ("n between symmetric 1 and 2", "must not have"),
    ("`n` = 1", "must not have"),
    ("[n] = 1", "must not have"),
    ("s = 'a' collate \"C\"", "left over"),
    ("s = E'a'", "left over"),
    ("s = $$a$$", "must not have"),
    ("s = N'a'", "must not have"),
    ("s = 'a' 'b'", "left over"),
    ("n = 0x10", "left over"),
    ("n = 1_0", "left over"),
    ("n == 1", "must not have"),
    ("n in ()", "must not have"),
    ("n = 1 or", "ends too early"),
    ("s = 'a", "quotes"),
    ("(n = 1", "a closing parenthesis"),
    ("n = 1)", "left over"),
    ("and n = 1", "must not have"),
    ("current_date = d", "must not have"),
    ("d = DATE '2024-13-01'", "ISO form"),
    ("d = 5", "DATE '2024-01-31'"),
    ("d = 'today'", "DATE '2024-01-31'"),
    ("at = TIMESTAMP '2024-01-01 00:00:00+01:00'", "without a zone"),
    ("b = 1", "TRUE or FALSE"),
    ("s = TRUE", "text in single quotes"),
    ("n = x", "columns of one type"),
    ("nope = 1", "'nope' is not in the table"),
    ("(" * 60 + "n = 1" + ")" * 60, "at most 50"),
    ("not " * 60 + "n = 1", "at most 50"),
    ("n in (" + "1," * 1000 + "1)", "at most 1,000 literals"),
    ("s = 'a\0'", "no NUL"),
    ("s = '\ud800'", "lone surrogate"),
    ("n = 1" + " " * 10_000, "10,000 characters"),
    ("n = 1 union select 2", "left over"),
    ("n = 1 limit 1", "left over"),
    ("n over () = 1", "must not have"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED, ids=[str(text)[:30] for text, _ in REFUSED])
def test_anything_else_is_refused_by_name(text: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words) as refused:
        asked(WHO, Table(loading.arrow(KINDS, ROWS), unit="who", where=text))
    assert refused.value.parameter == "where"


@pytest.mark.parametrize("name", ["first", "number", "text", "comment", "index", "Session", "date"])
def test_a_column_may_be_called_by_a_word_that_is_not_reserved(name: str) -> None:
    table = pa.table({"who": [0, 1, 2], name: ["tea", "pie", None]})
    for text, people in {f"{name} = 'tea'": [1, 0, 0], f"not {name} in ('tea')": [0, 1, 0]}.items():
        assert asked(WHO, Table(table, unit="who", where=text))[:3] == people


def test_the_order_of_text_that_may_spell_numbers_is_not_that_of_columns(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("who,a,b\n0,9,10\n1,5,5\n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="must not order 'a' and 'b'"):
        asked(WHO, Table(tmp_path / "rows.csv", unit="who", where="a < b"))
    assert asked(WHO, Table(tmp_path / "rows.csv", unit="who", where="a = b"))[:2] == [0, 1]


def test_a_literal_between_two_times_of_a_column_is_not_rounded() -> None:
    moments = [datetime.fromisoformat(f"2024-01-01T12:00:0{second}") for second in range(3)]
    between = datetime.fromisoformat("2024-01-01T12:00:01.500000")
    signs = {
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
        "=": operator.eq,
        "<>": operator.ne,
    }
    rows = pa.table({"who": [0, 1, 2], "at": pa.array(moments, pa.timestamp("s"))})
    finer = rows.set_column(1, "at", rows["at"].cast(pa.timestamp("ms")))
    for table, literal in ((rows, between), (rows, moments[1]), (finer, moments[1] + timedelta(0, 0, 700))):
        for sign, holds in signs.items():
            found = asked(WHO, Table(table, unit="who", where=f"at {sign} TIMESTAMP '{literal}'"))
            assert found[:3] == [int(holds(moment, literal)) for moment in moments], (sign, literal)


def test_columns_whose_comparison_would_fail_on_a_value_or_round_it_are_refused(tmp_path: Path) -> None:
    late = pa.array([datetime.fromisoformat("9999-01-01")], pa.timestamp("s"))
    table = pa.table({"who": [0], "late": late, "fine": pa.array([0], pa.timestamp("ns")), "also": late})
    with pytest.raises(InvalidParameter, match="'late' holds TIMESTAMP_S, 'fine' TIMESTAMP_NS"):
        asked(WHO, Table(table, unit="who", where="late > fine"))
    assert asked(WHO, Table(table, unit="who", where="late = also"))[0] == 1
    path = tmp_path / "rows.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute("CREATE TABLE t AS SELECT 0 who, -1::BIGINT a, 1::UHUGEINT b, 1::UBIGINT c")
    with pytest.raises(InvalidParameter, match="'a' holds BIGINT, 'b' UHUGEINT"):
        asked(WHO, Table(path, table="t", unit="who", where="a < b"))
    assert asked(WHO, Table(path, table="t", unit="who", where="a < c"))[0] == 1


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from([0.0, 1.0, None]), st.integers(0, 3)), max_size=8
    ),
    st.integers(0, 99),
)
def test_one_person_moves_the_scores_of_a_filtered_table_by_no_more_than_the_range(
    crowd: list[tuple[str, float | None, int]], seed: int
) -> None:
    kinds: Kinds = {"who": "text", "x": "double", "n": "integer"}
    rows = [{"who": f"p{who}{i % 3}", "x": x, "n": n} for i, (who, x, n) in enumerate(crowd)]
    mine = [{"who": "me", "x": float(seed % 3), "n": n} for n in range(seed % 5)]
    median = quantile(value="x", at="1/2", candidates=[0, 1, 2])
    for text in ("n > 1", "not n = 2 or x is null"):
        scores = [
            asked(median, Table(loading.arrow(kinds, part), unit="who", where=text))
            for part in (rows, rows + mine)
        ]
        moves = [Fraction(after - before) * median.unit for before, after in zip(*scores, strict=True)]
        assert max(moves) - min(moves) <= median.d_range("add_remove")


def test_another_filter_is_another_question(tmp_path: Path) -> None:
    def ask(ledger: dpselect.Ledger, where: str | None) -> dpselect.Release:
        table = Table(loading.arrow(KINDS, ROWS), unit="who", where=where)
        return dpselect.select(WHO, table, epsilon=1, ledger=ledger, request_id="a")

    with dpselect.Ledger.create(tmp_path / "town.ledger", budget=dpselect.PureDP(9)) as ledger:
        first = ask(ledger, "n > 1 and s <> 'it''s'")
        assert ask(ledger, "n > 1 and s <> 'it''s'") == first
        assert first.where == "n > 1 and s <> 'it''s'" == json.loads(first.to_json())["where"]
        assert dpselect.Release.from_json(first.to_json()) == first
        assert next(iter(ledger.entries())).reason.endswith(", where n > 1 and s <> 'it''s'")
        for other in (None, "n > 2"):
            with pytest.raises(RequestChanged):
                ask(ledger, other)
        table = Table(loading.arrow(KINDS, ROWS), unit="who", where="n in (" + "1, " * 900 + "1)")
        dpselect.select(WHO, table, epsilon=1, ledger=ledger)
        assert "where of SHA-256 " in [*ledger.entries()][-1].reason


def test_a_check_sees_the_rows_that_are_there() -> None:
    table = Table(loading.arrow(KINDS, ROWS), unit="who", where="n = 2")
    found = dpselect.check(WHO, table, owner=True)
    assert found.rows == found.people == found.counted == sum(row["n"] == 2 for row in ROWS)
