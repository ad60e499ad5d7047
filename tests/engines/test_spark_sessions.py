"""What the caller's Spark session has set, named or cached changes no score, and is as before afterwards."""

import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet
import pytest

import dpselect
from dpselect import Table
from dpselect.errors import InvalidParameter
from tests.engines.asking import asked

Session: TypeAlias = Any  # pyspark has no types
HOSTILE = "x${env:HOME}.`y\\'"
DISH = dpselect.approval_voting(candidate="dish", candidates=["pie", "soup"])
ROWS = [
    ("a", "1.5", "pie", 0.0),
    ("a", "2", "pie", -0.0),
    ("b", "x", "soup", 1.5),
    ("b", "1", "Soup", math.nan),
    ("c", "1.50\n", "pie", 2.0),
    (None, "1", "pie", 1.0),
    ("d", "9" * 30, "pie", math.inf),
]


@pytest.fixture
def settings(spark_session: Session) -> Iterator[Callable[[str, str], None]]:
    """Set something, and take it back after the test."""
    names: list[str] = []

    def put(name: str, value: str) -> None:
        names.append(name)
        spark_session.conf.set(name, value)

    yield put
    for name in names:
        spark_session.conf.unset(name)


def answers(session: Session) -> list[list[int]]:
    """Ask for numbers in text, for a listed text, and for a column whose name differs in case only."""
    named = f"who string, {quoted(HOSTILE)} string, dish string, {quoted(HOSTILE.upper())} double"
    table = Table(session.createDataFrame(ROWS, named), unit="who", numbers_in_text=True)
    return [
        asked(dpselect.approval_voting(candidate=HOSTILE, candidates=[1, 1.5, 2]), table),
        asked(dpselect.pricing(value=HOSTILE, prices=[1, "1.5"]), table),
        asked(DISH, table),
        asked(dpselect.most_common(column=HOSTILE.upper(), candidates=[0, 1.5], rows_per_person=2), table),
    ]


def quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


EXPECTED = [[1, 1, 1], [300, 300], [3, 1], [2, 1]]
"""By hand: "1", "1.5" and "2" are numbers of up to 20 digits; three people offer 1, and two 1.5, in cents."""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.ansi.enabled", "false"),
        ("spark.sql.caseSensitive", "true"),
        ("spark.sql.parser.escapedStringLiterals", "true"),
        ("spark.sql.parser.quotedRegexColumnNames", "true"),
        ("spark.sql.variable.substitute", "true"),
        ("spark.sql.ansi.enforceReservedKeywords", "true"),
        ("spark.sql.ansi.doubleQuotedIdentifiers", "true"),
        (
            "spark.sql.optimizer.excludedRules",
            "org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers",
        ),
    ],
)
def test_no_setting_of_the_session_and_no_name_of_a_column_changes_a_score(
    spark_session: Session, settings: Callable[[str, str], None], name: str, value: str
) -> None:
    settings(name, value)
    assert answers(spark_session) == EXPECTED
    assert spark_session.conf.get(name) == value


def test_functions_and_views_of_the_session_do_not_shadow_ours(spark_session: Session) -> None:
    for name in ("md5", "count", "row_number"):
        spark_session.udf.register(name, lambda *_: "shadow")
    for name in ("kept", "counted", "numbered", "ordered", "list_0", "t"):
        spark_session.range(3).createOrReplaceTempView(name)
    try:
        assert answers(spark_session) == EXPECTED
    finally:
        for name in ("md5", "count", "row_number"):
            spark_session.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")
        for name in ("kept", "counted", "numbered", "ordered", "list_0", "t"):
            spark_session.catalog.dropTempView(name)


def test_a_release_leaves_the_session_as_it_was(
    spark_session: Session, settings: Callable[[str, str], None]
) -> None:
    settings("spark.sql.orc.filterPushdown", "true")
    before, views = spark_session.conf.getAll, spark_session.sql("SHOW VIEWS").collect()
    answers(spark_session)
    assert spark_session.conf.getAll == before
    active = type(spark_session).getActiveSession()
    assert active._jsparkSession.equals(spark_session._jsparkSession)  # noqa: SLF001 - no public way
    assert spark_session.sql("SHOW VIEWS").collect() == views
    assert len(spark_session.sparkContext.getJobTags()) == 0


def kept_in(form: str, session: Session, values: list[float], folder: Path) -> Any:
    """Put people with a value each into a file or into Spark's cache; give the frame."""
    rows = pa.table({"who": list(range(len(values))), "dish": ["pie"] * len(values), "x": values})
    pyarrow.parquet.write_table(rows, folder / "rows.parquet")
    frame = session.read.parquet(str(folder / "rows.parquet"))
    if form == "cache":
        return frame.cache()
    if form == "orc":
        frame.write.orc(str(folder / "rows.orc"))
        return session.read.orc(str(folder / "rows.orc"))
    return frame


EXTREMES = [math.inf, -math.inf, math.nan, -0.0, 5e-324, 1.7976931348623157e308, 7.0]


FORMS = ("parquet", "orc", "cache")
CONDITIONS = ("x > 5", "NOT x <= 5", "x <> 1")


@pytest.mark.parametrize(
    ("form", "condition"),
    [
        pair if number % 4 == 0 else pytest.param(*pair, marks=pytest.mark.slow)
        for number, pair in enumerate(itertools.product(FORMS, CONDITIONS))
    ],
)
def test_a7_one_persons_value_does_not_decide_whether_others_count(
    spark_session: Session, tmp_path: Path, form: str, condition: str
) -> None:
    base = [math.nan] * 30 + [1.0] * 30
    scores = []
    for number, more in enumerate([[], [math.inf], [7.0], [-math.inf]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        frame = kept_in(form, spark_session, base + more, folder)
        scores.append(asked(DISH, Table(frame.where(condition), unit="who"))[0])
        frame.unpersist()
    # In Spark NaN is greater than every number, so that those 30 pass each filter, whatever else is there.
    lowest = 31 if condition == "x <> 1" else 30
    assert scores == [30, 31, 31, lowest]


@pytest.mark.parametrize(
    "form", ["parquet", *(pytest.param(form, marks=pytest.mark.slow) for form in FORMS[1:])]
)
def test_a8_each_extreme_counts_by_itself(spark_session: Session, tmp_path: Path, form: str) -> None:
    half = dpselect.pricing(value="x", prices=[1])
    alone = []
    for number, values in enumerate([[value] for value in EXTREMES] + [EXTREMES]):
        folder = tmp_path / str(number)
        folder.mkdir()
        frame = kept_in(form, spark_session, values, folder)
        alone.append(asked(half, Table(frame, unit="who"))[0])
        frame.unpersist()
    assert sum(alone[:-1]) == alone[-1] == 300


def test_c5_no_text_makes_a_question_about_numbers_fail(
    spark_session: Session, settings: Callable[[str, str], None], tmp_path: Path
) -> None:
    odd = [
        "1",
        "",
        " ",
        "-",
        "+.",
        ".",
        "1e999",
        "1e9999",
        "\uff10\uff11",
        "\u0663",
        "NaN",
        "inf",
        "1_0",
        "0x1",
        "1d",
        "1\x00",
    ]
    odd += ["9" * 10_000, "9" * 39, "-" + "9" * 20 + "." + "9" * 18, "1\n", "1\r", "\u2028", "1.5.5", "${x}"]
    raw = [each.encode() for each in odd] + [b"\xff", b"1\xff", b"\xed\xa0\x80"]
    column = pa.array(raw, pa.binary()).view(pa.string())
    pyarrow.parquet.write_table(pa.table({"who": column, "x": column}), tmp_path / "odd.parquet")
    for ansi in ("true", "false"):
        settings("spark.sql.ansi.enabled", ansi)
        table = Table(
            spark_session.read.parquet(str(tmp_path / "odd.parquet")), unit="who", numbers_in_text=True
        )
        assert asked(dpselect.plurality(candidate="x", candidates=[1, 2]), table) == [1, 0]
        assert asked(dpselect.pricing(value="x", prices=[1]), table) == [200]


def test_a_stream_and_a_name_that_spark_rewrites_are_refused_before_the_charge(
    spark_session: Session,
) -> None:
    stream = spark_session.readStream.format("rate").load().selectExpr("value AS who", "'pie' AS dish")
    with pytest.raises(InvalidParameter, match="source must be a table with an end; this frame is a stream"):
        asked(DISH, Table(stream, unit="who"))
    with pytest.raises(InvalidParameter, match=r"table must be a name without '\$\{'"):
        asked(DISH, Table(spark_session, table="votes${x}", unit="who"))


def test_a_frame_that_names_a_column_twice_is_refused_only_if_it_is_asked_for(spark_session: Session) -> None:
    frame = spark_session.createDataFrame([(1, "pie", 5, 6)], "who int, dish string, a int, b int")
    twice = frame.toDF("who", "dish", "x", "x")
    assert asked(DISH, Table(twice, unit="who")) == [1, 0]
    with pytest.raises(InvalidParameter, match="column 'x' must be in the table once"):
        asked(dpselect.pricing(value="x", prices=[1]), Table(twice, unit="who"))


def test_c5_whether_a_csv_can_be_read_does_not_depend_on_the_question(
    spark_session: Session, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("who,dish,x\n1,pie,5\n2,pie,5,6\n", encoding="utf-8")
    read = spark_session.read.schema("who string, dish string, x string").options(
        header=True, mode="FAILFAST"
    )
    for asked_for in ("dish", "x"):
        problem = dpselect.approval_voting(candidate=asked_for, candidates=["pie", "5"])
        with pytest.raises(dpselect.errors.TableUnreadable):
            asked(problem, Table(read.csv(str(tmp_path / "rows.csv")), unit="who"))
