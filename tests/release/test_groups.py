"""A winner for each group: what it costs, what it says, and what it refuses. dpselect.release.group_form.

And dpselect.problems.groups, dpselect.release.winners_of_groups.
"""

import csv
import io
import json
import math
from datetime import date, time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import dpselect
from dpselect import Ledger, PureDP, Release, Scores, Table, prepare, select, select_each, top_k_each
from dpselect.errors import BudgetExhausted, InvalidParameter, RequestChanged
from dpselect.problems.groups import groups_of
from dpselect.release.flat_form import csv_text
from dpselect.release.group_form import confidence_of_each
from dpselect.utility import enclosed_law, within

pytestmark = pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")

DISHES = ["tea", "pie", "soup"]
CITIES = ["Rome", "Oslo", "Lima"]
PLURALITY = dpselect.plurality(candidate="dish", candidates=DISHES)
PRICING = dpselect.pricing(value="x", prices=[1, 2, 3])
QUARTER = dpselect.quantile(value="x", at="1/4", candidates=[*range(6)])
NAMES = {"who": pa.string(), "city": pa.string(), "dish": pa.string(), "x": pa.float64()}


def table(*rows: tuple[Any, ...], **kinds: Any) -> Table:
    columns = [[row[place] for row in rows] for place in range(4)]
    arrays = [pa.array(each, kind) for each, kind in zip(columns, (NAMES | kinds).values(), strict=True)]
    return Table(pa.table(arrays, names=[*NAMES]), unit="who")


EMPTY = table()
ROWS = [
    *((f"r{i}", "Rome", "tea", 1.0) for i in range(300)),
    *((f"s{i}", "Rome", "pie", 3.0) for i in range(90)),
    *((f"o{i}", "Oslo", "soup", 2.0) for i in range(500)),
    *((f"n{i}", None, "pie", 3.0) for i in range(900)),
    *((f"u{i}", "Bonn", "pie", 3.0) for i in range(900)),
]
TOWNS = table(*ROWS)
ASKED: dict[str, Any] = {"by": "city", "groups": CITIES}


def test_each_group_has_the_winner_of_its_own_rows_in_the_order_given() -> None:
    release = select_each(PLURALITY, TOWNS, epsilon=10, **ASKED)
    assert list(release.by_group.items()) == [("Rome", "tea"), ("Oslo", "soup"), ("Lima", None)]
    turned = select_each(PLURALITY, TOWNS, epsilon=10, by="city", groups=CITIES[::-1])
    assert list(turned.by_group.items()) == [("Lima", None), ("Oslo", "soup"), ("Rome", "tea")]
    assert release.problem == turned.problem


@pytest.mark.parametrize(
    "problem",
    [
        PLURALITY,
        PRICING,
        QUARTER,
        dpselect.quantile(value="x", at="1/2", between=(0, 9)),
        dpselect.window(value="x", width=1, between=(0, 9)),
        dpselect.weighted_sum(candidate="dish", candidates=DISHES, value="x", bounds=(0, 3)),
        dpselect.threshold(value="x", label="dish", yes="pie", between=(0, 4), step=2),
    ],
    ids=lambda problem: problem.name,
)
def test_a_group_is_answered_as_a_table_with_its_rows_alone(problem: Any) -> None:
    release = select_each(problem, TOWNS, epsilon=1000, **(ASKED | {"groups": CITIES[:2]}))
    alone = [
        select(problem, Table(TOWNS.source, unit="who", where=f"city = '{city}'"), epsilon=1000).label
        for city in CITIES[:2]
    ]
    assert [*release.by_group.values()] == alone


def test_several_winners_and_several_quantiles_are_tuples() -> None:
    release = top_k_each(PLURALITY, TOWNS, k=2, epsilon=20, **ASKED)
    assert release.by_group == {"Rome": ("tea", "pie"), "Oslo": ("soup",), "Lima": ()}
    assert top_k_each(PLURALITY, TOWNS, k=1, epsilon=20, **ASKED).by_group["Rome"] == ("tea",)
    quartiles = dpselect.quantiles(value="x", at=["1/4", "1/2"], between=(0, 9))
    found = select_each(quartiles, TOWNS, epsilon=100, people=5000, **ASKED)
    assert found.by_group["Rome"] == (1, 1)
    assert found.quorum is None
    with pytest.raises(InvalidParameter, match="select_each"):
        top_k_each(quartiles, TOWNS, k=2, epsilon=1, **ASKED)


def test_groups_are_numbers_dates_and_truth_values_too() -> None:
    rows = [(f"p{i}", i % 2, DISHES[i % 2], 1.0) for i in range(200)]
    numbers = table(*rows, city=pa.int32())
    assert select_each(PLURALITY, numbers, epsilon=10, by="city", groups=[1, 0]).by_group == {
        1: "pie",
        0: "tea",
    }
    days = [date(2026, 1, 1), date(2026, 1, 2)]
    dated = table(*((who, days[i], dish, x) for who, i, dish, x in rows), city=pa.date32())
    assert select_each(PLURALITY, dated, epsilon=10, by="city", groups=days[::-1]).by_group == {
        days[1]: "pie",
        days[0]: "tea",
    }
    said = table(*((who, bool(i), dish, x) for who, i, dish, x in rows), city=pa.bool_())
    release = select_each(PLURALITY, said, epsilon=10, by="city", groups=[True, False])
    assert release.by_group == {True: "pie", False: "tea"}
    assert Release.from_json(release.to_json()) == release
    with pytest.raises(InvalidParameter, match=r"groups must be what column 'city' holds, truth.*'true'"):
        select_each(PLURALITY, said, epsilon=1, by="city", groups=days)
    with pytest.raises(
        InvalidParameter, match=r"^groups must be different from each other; got 'true'"
    ) as found:
        select_each(PLURALITY, said, epsilon=1, by="city", groups=["true", "TRUE"])
    assert found.value.parameter == "groups"


def test_times_of_day_in_a_column_of_objects_are_groups() -> None:
    """A frame of pandas holds them as objects, which are text here: each is its ISO form."""
    hours = [time(8), time(9, 30)]
    people = range(200)
    frame = pd.DataFrame(
        {"who": people, "city": [hours[i % 2] for i in people], "dish": [DISHES[i % 2] for i in people]}
    )
    for groups in (hours, ["08:00:00", "09:30:00"]):
        release = select_each(
            PLURALITY, Table(frame, unit="who"), epsilon=10, by="city", groups=groups, quorum=50
        )
        assert [*release.by_group.values()] == [DISHES[0], DISHES[1]]


# ---- the price -------------------------------------------------------------------------------------------


def scale_of(problem: Any, *, each: bool, g: int = 1, **asked: Any) -> Fraction:
    groups = ASKED | {"groups_per_person": g} if each else {}
    with prepare(problem, EMPTY, **groups, **asked) as question:
        return question.quote.scale


BUDGETS: list[dict[str, Any]] = [
    {"epsilon": "1/2"},
    {"rho": "1/8"},
    {"budget": dpselect.ApproxZCDP("1/8", "1e-6")},
    {"budget": dpselect.RenyiDP({2: "1/2", 16: 4})},
    {"budget": dpselect.ApproxDP(1, "1e-6")},
]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("problem", [PLURALITY, PRICING, QUARTER], ids=lambda problem: problem.name)
def test_all_groups_cost_what_one_does_for_one_person_more_or_fewer(problem: Any, budget: Any) -> None:
    assert scale_of(problem, each=True, **budget) == scale_of(problem, each=False, **budget)


def test_two_groups_a_person_double_the_price() -> None:
    for neighbours in ("add_remove", "change_one"):
        one, two = (scale_of(PLURALITY, each=True, g=g, epsilon=1, neighbours=neighbours) for g in (1, 2))
        assert two == 2 * one
        one, two = (
            scale_of(PLURALITY, each=True, g=g, rho=rho, neighbours=neighbours) for g, rho in ((1, 1), (2, 2))
        )
        assert two == one


def test_other_answers_cost_two_draws_where_a_person_more_or_fewer_costs_more_than_half() -> None:
    change: dict[str, Any] = {"neighbours": "change_one", "epsilon": 1}
    assert scale_of(PLURALITY, each=True, **change) == scale_of(PLURALITY, each=False, **change) == 2
    assert [scale_of(PRICING, each=each, **change) for each in (True, False)] == [4, 3]
    assert [scale_of(QUARTER, each=each, **change) for each in (True, False)] == [3, 2]
    with_quorum = scale_of(PRICING, each=True, quorum="auto", **change)
    assert with_quorum == 6  # beside a constant, a person more moves revenue by 3
    borda = dpselect.borda(candidate="dish", rank="x", candidates=DISHES)
    laplace = {**change, "noise": "laplace", "k": 2}
    assert scale_of(borda, each=False, **laplace) == 6
    assert scale_of(borda, each=True, **laplace) == 12


def test_the_price_of_a_release_covers_a_person_who_moves_between_two_cities() -> None:
    """Prices 1, 2, 3: the person leaves one city and enters another, which a price of one draw misses."""
    one_draw, stated = (
        scale_of(PRICING, each=each, epsilon=1, neighbours="change_one", noise="gumbel")
        for each in (False, True)
    )
    moves = [([26, 4, 3], [25, 2, 0]), ([18, 36, 18], [19, 38, 18])]

    def loss(scale: Fraction) -> float:
        total = 0.0
        for before, after in moves:
            laws = [enclosed_law(scores, noise="gumbel", scale=scale) for scores in (before, after)]
            total += max(math.log(laws[0][out].low / laws[1][out].high) for out in laws[0])
        return total

    assert loss(one_draw) > 1 >= loss(stated) > 0.99


def test_the_quote_says_why_all_groups_cost_what_they_cost() -> None:
    with prepare(PLURALITY, EMPTY, epsilon=1, **ASKED) as question:
        assert "one person counts in at most 1 group, so all of them cost as much as one" in repr(
            question.quote
        )
    asked = {**ASKED, "groups_per_person": 2, "neighbours": "change_one"}
    with prepare(PLURALITY, EMPTY, epsilon=1, **asked) as question:
        text = repr(question.quote)
    assert "may leave one group and enter another" in text
    assert "the larger of a draw with other answers and two draws with a person more or fewer" in text
    assert "2 times as much as one" in text


def test_one_charge_and_one_entry_pay_for_all_groups(tmp_path: Any) -> None:
    with Ledger.create(tmp_path / "a.ledger", budget=PureDP(1)) as ledger:
        first = select_each(PLURALITY, TOWNS, epsilon="3/4", ledger=ledger, request_id="one", **ASKED)
        again = select_each(PLURALITY, TOWNS, epsilon="3/4", ledger=ledger, request_id="one", **ASKED)
        assert first == again
        assert ledger.spent == PureDP("3/4")
        (entry,) = ledger.entries()
        assert "plurality of dish for each city" in entry.reason
        other = ASKED | {"groups": [*CITIES, "Bonn"]}
        with pytest.raises(RequestChanged):
            select_each(PLURALITY, TOWNS, epsilon="3/4", ledger=ledger, request_id="one", **other)
        with pytest.raises(RequestChanged):
            top_k_each(PLURALITY, TOWNS, k=1, epsilon="3/4", ledger=ledger, request_id="one", **ASKED)
        with pytest.raises(BudgetExhausted, match="for each city"):
            select_each(PLURALITY, TOWNS, epsilon="3/4", ledger=ledger, **ASKED)
        with prepare(PLURALITY, TOWNS, epsilon="1/4", **ASKED) as question:
            assert question.dry_run(ledger).price == PureDP("1/4")
        assert ledger.spent == PureDP("3/4")


# ---- silence of empty groups -----------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [{"epsilon": "1/2"}, {"rho": "1/8"}])
def test_auto_is_the_least_quorum_that_keeps_all_empty_groups_silent_together(budget: Any) -> None:
    with prepare(PLURALITY, EMPTY, quorum="auto", **ASKED, **budget) as question:
        quote = question.quote
    assert quote.quorum is not None
    noise: Any = quote.noise
    silent = [
        enclosed_law([0, 0, 0, score], noise=noise, scale=quote.scale)[3,]
        for score in (quote.quorum, quote.quorum - 1)
    ]
    assert silent[0].low ** 3 >= Fraction(99, 100) > silent[1].high ** 3


def test_an_empty_table_names_no_winner_and_without_a_quorum_it_names_some() -> None:
    silent = select_each(PLURALITY, EMPTY, epsilon=1, quorum=1000, **ASKED)
    assert [*silent.by_group.values()] == [None] * 3
    loud = select_each(PLURALITY, EMPTY, epsilon=1, quorum=None, **ASKED)
    assert set(loud.by_group.values()) <= set(DISHES)


@pytest.mark.parametrize("quorum", [2**63 - 1, 2**63, -(2**63) - 1, 10**30, -(10**30)])
def test_a_quorum_of_any_length_is_compared_exactly(quorum: int) -> None:
    found = select_each(PLURALITY, TOWNS, epsilon=1000, quorum=quorum, **ASKED).by_group
    assert all((label is None) == (quorum > 0) for label in found.values())


@pytest.mark.parametrize(
    "problem",
    [
        dpselect.pricing(value="x", between=(0, 9)),
        dpselect.window(value="x", width=1, between=(0, 9)),
        dpselect.threshold(value="x", label="dish", yes="tea", between=(0, 9)),
    ],
    ids=lambda problem: problem.name,
)
def test_between_bounds_an_empty_group_is_silent_too(problem: Any) -> None:
    assert prepare(problem, EMPTY, epsilon=1, quorum="auto", **ASKED).quote.quorum is not None
    assert select_each(problem, EMPTY, epsilon=10, quorum=10_000, **ASKED).by_group == dict.fromkeys(CITIES)
    found = select_each(problem, TOWNS, epsilon=10, quorum=150, **ASKED).by_group
    assert [found[city] is None for city in CITIES] == [False, False, True]


@pytest.mark.parametrize(
    "problem",
    [
        QUARTER,
        dpselect.quantile(value="x", at="1/4", between=(0, 9)),
        dpselect.quantiles(value="x", at=["1/4", "1/2"], between=(0, 9)),
    ],
)
def test_what_has_no_quorum_is_asked_without_one_and_a_number_is_refused(problem: Any) -> None:
    assert select_each(problem, EMPTY, epsilon=1, **ASKED).quorum is None
    with pytest.raises(InvalidParameter, match="quorum"):
        select_each(problem, EMPTY, epsilon=1, quorum=5, **ASKED)


@pytest.mark.parametrize("groups", [1, 2, 10_000])
def test_draws_that_are_each_as_sure_as_said_are_sure_together(groups: int) -> None:
    each = confidence_of_each(Fraction(99, 100), groups)
    assert each**groups >= Fraction(99, 100) > (each - Fraction(1, 10**12)) ** groups


def test_the_accuracy_is_that_of_one_group_and_beside_it_that_of_all() -> None:
    quote = prepare(PLURALITY, EMPTY, epsilon=1, **ASKED).quote
    alone = prepare(PLURALITY, EMPTY, epsilon=1).quote
    assert quote.accuracy == alone.accuracy
    assert quote.accuracy_of_all.within > quote.accuracy.within
    assert quote.accuracy_of_all.confidence == quote.accuracy.confidence
    assert quote.accuracy_of_all.within <= within("exponential", 1, 3, 1, 1 - Fraction(1, 300))
    assert alone.accuracy_of_all == alone.accuracy
    assert "in all of them together" in repr(quote)


# ---- what is written -------------------------------------------------------------------------------------


def test_a_release_of_groups_is_written_as_a_table_and_read_back() -> None:
    release = select_each(PLURALITY, TOWNS, epsilon=50, **ASKED)
    several = top_k_each(PLURALITY, TOWNS, k=2, epsilon=50, **ASKED)
    for each in (release, several):
        assert Release.from_json(each.to_json()) == each
    facts = json.loads(release.to_json())
    assert facts["groups"] == {"Rome": "tea", "Oslo": "soup", "Lima": None}
    assert (facts["winners"], facts["by"], facts["groups_per_person"]) == ([], "city", 1)
    assert json.loads(several.to_json())["groups"] == {"Rome": ["tea", "pie"], "Oslo": ["soup"], "Lima": []}
    assert repr(release).splitlines()[1:4] == ["  Rome  tea", "  Oslo  soup", "  Lima  no clear winner"]
    assert "<tr><th>Rome</th><td>tea</td></tr>" in release._repr_html_()
    assert [*release.to_dict().items()][:4] == [
        ("group", "Rome"),
        ("group_winner", "tea"),
        ("group_2", "Oslo"),
        ("group_2_winner", "soup"),
    ]
    rows = [*csv.DictReader(io.StringIO(csv_text(several, (), won=several.winners)))]
    assert [(row["group"], row["rank"], row["winner"]) for row in rows] == [
        ("Rome", "1", "tea"),
        ("Rome", "2", "pie"),
        ("Oslo", "1", "soup"),
        ("Lima", "", ""),
    ]


def test_quantiles_of_groups_say_which_one_each_answer_is() -> None:
    quartiles = dpselect.quantiles(value="x", at=["1/4", "3/4"], between=(0, 9))
    release = select_each(quartiles, TOWNS, epsilon=10, people=5000, **ASKED)
    rows = [*csv.DictReader(io.StringIO(csv_text(release, (), won=release.winners)))]
    assert [(row["rank"], row["at"], row["people"]) for row in rows] == [
        ("1", "1/4", "5000"),
        ("2", "3/4", "5000"),
    ] * 3
    facts = release.to_dict()
    assert (facts["at"], facts["at_2"], facts["people"]) == ("1/4", "3/4", 5000)
    unpaid = [*csv.DictReader(io.StringIO(csv_text(release, None)))]
    assert [(row["group"], row["at"], row["winner"]) for row in unpaid] == [(city, "", "") for city in CITIES]


def test_a_release_of_groups_has_no_one_label() -> None:
    release = select_each(PLURALITY, EMPTY, epsilon=10, **ASKED)
    assert release.labels == ()
    with pytest.raises(InvalidParameter, match="by_group"):
        _ = release.label
    with pytest.raises(InvalidParameter, match="no groups"):
        _ = select(PLURALITY, EMPTY, epsilon=1).by_group


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts["group_labels"]["winners"].pop(),
        lambda facts: facts["groups"].update(Rome="pie"),
        lambda facts: facts.update(groups_per_person=4),
        lambda facts: facts["group_labels"].update(several=True),
        lambda facts: facts.pop("by"),
        lambda facts: facts["group_labels"]["winners"][0].append("pie"),
        lambda facts: facts.update(labels=["tea"], winners=["tea"]),
    ],
)
def test_what_no_version_wrote_of_groups_is_refused(change: Any) -> None:
    facts = json.loads(select_each(PLURALITY, TOWNS, epsilon=10, **ASKED).to_json())
    change(facts)
    with pytest.raises(InvalidParameter, match="must be a release"):
        Release.from_json(json.dumps(facts))


def test_fewer_winners_than_were_drawn_are_refused_where_no_quorum_may_have_won() -> None:
    facts = json.loads(top_k_each(PLURALITY, TOWNS, k=2, epsilon=10, quorum=None, **ASKED).to_json())
    facts["group_labels"]["winners"][0].pop()
    facts["groups"]["Rome"].pop()
    with pytest.raises(InvalidParameter, match="must be a release"):
        Release.from_json(json.dumps(facts))


def test_answers_of_all_groups_that_no_ledger_can_keep_are_refused_before_they_are_paid_for(
    tmp_path: Path,
) -> None:
    """The winner of one group would be kept."""
    long = dpselect.plurality(candidate="dish", candidates=["tea" * 50_000, "pie"])
    asked: dict[str, Any] = {"epsilon": "1/2", "request_id": "towns", "by": "city"}
    with Ledger.create(tmp_path / "town.ledger", budget=PureDP(1)) as ledger:
        with pytest.raises(InvalidParameter, match="k must be so small that a ledger can keep 3 labels"):
            select_each(long, EMPTY, ledger=ledger, groups=CITIES, **asked)
        assert ledger.verify() == 0
        select_each(long, EMPTY, ledger=ledger, groups=CITIES[:1], **asked)
        assert ledger.verify() == 1


def test_many_groups_are_shown_in_part() -> None:
    names = [f"town {i}" for i in range(100)]
    text = repr(select_each(PLURALITY, EMPTY, epsilon=1, by="city", groups=names))
    assert "  … 80 more" in text
    assert "town 19" in text
    assert "town 20" not in text


def test_what_would_act_on_a_screen_is_written_by_its_number() -> None:
    release = select_each(PLURALITY, EMPTY, epsilon=1, by="city", groups=["a\u202eb", "<b>"])
    assert "\u202e" not in repr(release)
    assert "<b>" not in release._repr_html_().replace("<br>", "")


# ---- refusals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"by": "city", "groups": None}, "groups must be given with by"),
        ({"by": "city", "groups": []}, "groups must hold at least one"),
        ({"by": "city", "groups": ["a", "a"]}, "groups must be different"),
        ({"by": "city", "groups": "Rome"}, "groups must be a list"),
        ({"by": "", "groups": ["a"]}, "by must be the name of a column"),
        ({"by": "citty", "groups": ["a"]}, "Did you mean 'city'"),
        ({"by": "x", "groups": ["a"]}, "groups must be numbers"),
        ({**ASKED, "groups_per_person": 0}, "groups_per_person must be"),
        ({**ASKED, "groups_per_person": 4}, "at most the number of groups, 3"),
        ({**ASKED, "gap": True}, "gap does not go with groups"),
        ({**ASKED, "counts": True, "quorum": None}, "counts does not go with groups"),
        ({**ASKED, "quorum": "1/2"}, "multiple of 1"),
    ],
)
def test_what_is_no_question_of_groups_is_refused(asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        select_each(PLURALITY, EMPTY, epsilon=1, **asked)


def test_groups_need_a_column_a_table_and_people() -> None:
    with pytest.raises(InvalidParameter, match="name it with by"):
        prepare(PLURALITY, EMPTY, epsilon=1, groups=CITIES)
    own = dpselect.custom(candidates=["a", "b"], sensitivity=1)
    with pytest.raises(InvalidParameter, match="Scores have none"):
        prepare(own, Scores([1, 2]), epsilon=1, **ASKED)
    rows = Table(EMPTY.source, unit=None)
    with pytest.raises(InvalidParameter, match="each row is a person"):
        select_each(PLURALITY, rows, epsilon=1, groups_per_person=2, **ASKED)
    assert select_each(PLURALITY, rows, epsilon=1, quorum=900, **ASKED).by_group["Rome"] is None


def test_the_same_groups_make_the_same_question() -> None:
    one, turned = groups_of("city", ["a", "b"]), groups_of("city", ["b", "a"])
    assert one.digest(PLURALITY) == turned.digest(PLURALITY) != PLURALITY.digest
    others = [groups_of("town", ["a", "b"]), groups_of("city", ["a"]), groups_of("city", ["a", "b"], 2)]
    assert len({each.digest(PLURALITY) for each in (one, *others)}) == 4
