"""No clear winner: what a quorum costs, when it wins, and how that is told. dpselect.release.quorum."""

import itertools
import json
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped] # it comes without types
import pyarrow as pa
import pytest

import dpselect
from dpselect import Ledger, PureDP, Release, Scores, Table, prepare, select, top_k
from dpselect.engines.protocol import SALT_BYTES
from dpselect.errors import InvalidParameter, RequestChanged
from dpselect.problems import Problem
from dpselect.release.quorum import runs_with_quorum
from dpselect.selection.runs import Runs
from dpselect.utility.enclosed_laws import enclosed_law
from tests.engines.asking import asked
from tests.selection.run_laws import law

pytestmark = pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")

NAMES = ["tea", "pie", "soup"]
PLURALITY = dpselect.plurality(candidate="dish", candidates=NAMES)
PRICING = dpselect.pricing(value="x", prices=[1, 2, 3])
BETWEEN = [
    dpselect.pricing(value="x", between=(1, 3), step=1),
    dpselect.window(value="x", width=2, between=(0, 4), step=1),
    dpselect.threshold(value="x", label="dish", yes="tea", between=(0, 4), step=1),
]
PROBLEMS = [
    PLURALITY,
    PRICING,
    *BETWEEN,
    dpselect.approval_voting(candidate="dish", candidates=NAMES),
    dpselect.most_common(column="dish", candidates=NAMES, rows_per_person=2),
    dpselect.borda(candidate="dish", rank="rank", candidates=NAMES),
    dpselect.weighted_sum(candidate="dish", candidates=NAMES, value="x", bounds=(2, 3), unit=1),
    dpselect.weighted_sum(candidate="dish", candidates=NAMES, value="x", bounds=(-1, 2), unit=1),
]


def table(*rows: tuple[str, str, int, float]) -> Table:
    names, kinds = ("who", "dish", "rank", "x"), (pa.string(), pa.string(), pa.int64(), pa.float64())
    columns = [[row[place] for row in rows] for place in range(4)]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return Table(pa.table(arrays, names=list(names)), unit="who")


EMPTY = table()
MANY = [(f"p{i}", ("tea", "pie")[i % 2], 1, 2.0 + i % 2) for i in range(80)]


def runs_of(problem: Problem, data: Table) -> tuple[Runs, ...]:
    with data.open() as engine:
        return problem.runs(engine.counts(problem.request(engine.schema, unit=data.unit), b"1" * SALT_BYTES))


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: f"{problem.name} {problem.facts}")
def test_one_person_moves_no_two_of_all_scores_and_a_constant_further_apart(problem: Problem) -> None:
    """All of these scores are sums over people, so people alone show what one person can do."""
    rows = [("p", dish, rank, x) for dish in NAMES for rank, x in ((1, 3.0), (2, -5.0))]
    several = [(), *((row,) for row in rows), *itertools.combinations(rows, 2)]
    moves = {tuple(score * problem.unit for score in asked(problem, table(*some))) for some in several}
    assert problem.beside_a_constant is not None
    more, other = problem.beside_a_constant
    assert max(map(range_with_constant, moves)) == more
    changes = [
        [a - b for a, b in zip(one, two, strict=True)] for one, two in itertools.product(moves, repeat=2)
    ]
    assert max(map(range_with_constant, changes)) <= other


def range_with_constant(changes: Iterable[Fraction]) -> Fraction:
    return max(*changes, Fraction(0)) - min(*changes, Fraction(0))


@pytest.mark.parametrize("problem", BETWEEN, ids=lambda problem: problem.name)
def test_between_bounds_the_quorum_is_one_number_more(problem: Problem) -> None:
    with prepare(problem, table(*MANY), epsilon=1, quorum=50) as question:
        scale = question.quote.scale
    scores = [score * problem.unit for score in asked(problem, table(*MANY))]
    expected = enclosed_law([*scores, Fraction(50)], noise="gumbel", scale=scale)
    runs = runs_with_quorum(runs_of(problem, table(*MANY)), Fraction(50), problem)
    for output, (low, high) in law(runs, scale / problem.unit).items():
        found = expected[output,]
        assert low <= found.high
        assert high >= found.low


@pytest.mark.parametrize("problem", BETWEEN, ids=lambda problem: problem.name)
@pytest.mark.parametrize("noise", [None, "exponential"])
def test_between_bounds_an_empty_table_is_silent_and_a_clear_winner_wins(
    problem: Problem, noise: Any
) -> None:
    assert select(problem, EMPTY, epsilon=1, noise=noise, quorum=1000).label is None
    assert select(problem, table(*MANY), epsilon=10, noise=noise, quorum=20).label is not None
    auto = prepare(problem, EMPTY, epsilon=1, noise=noise, quorum="auto").quote
    drawn: Any = auto.noise
    assert auto.quorum is not None
    silent = [
        enclosed_law([0] * problem.count + [score], noise=drawn, scale=auto.scale)[problem.count,][0]
        for score in (auto.quorum, auto.quorum - problem.unit)
    ]
    assert silent[0] >= Fraction(99, 100) > silent[1]


def test_the_price_with_a_quorum_covers_a_pair_that_the_price_without_one_does_not() -> None:
    """One person who would pay 3 joins many who would pay 1: the highest price's score moves by 3."""
    with prepare(PRICING, EMPTY, epsilon=1, quorum=0) as question:
        scale = question.quote.scale
    assert (scale, PRICING.d_range("add_remove")) == (Fraction(3), Fraction(2))
    before, after = [-90, -90, -90, 0], [-89, -88, -87, 0]  # the quorum wins all but surely
    losses = []
    for noise in ("gumbel", "exponential"):
        laws = [enclosed_law(scores, noise=noise, scale=scale) for scores in (before, after)]
        losses.append(math.log(float(laws[1][2,][1] / laws[0][2,][0])))
    assert all(2 / 3 < loss <= 1.000001 for loss in losses)


@pytest.mark.parametrize("budget", [{"epsilon": "1/2"}, {"rho": "1/8"}])
def test_auto_is_the_least_that_keeps_an_empty_table_silent(budget: dict[str, Any]) -> None:
    with prepare(PLURALITY, EMPTY, quorum="auto", **budget) as question:
        quote = question.quote
    assert quote.quorum is not None
    assert quote.noise != "laplace"
    silent = [
        enclosed_law([0, 0, 0, score], noise=quote.noise, scale=quote.scale)[3,][0]
        for score in (quote.quorum, quote.quorum - 1)
    ]
    assert silent[0] >= Fraction(99, 100) > silent[1]


@pytest.mark.parametrize(("n", "k", "groups"), [(3, 1, 1), (100, 10, 1), (100, 10, 3), (1000, 3, 200)])
def test_auto_is_the_least_with_laplace_noise_too(n: int, k: int, groups: int) -> None:
    """The several best of a plurality take Laplace noise; the first one drawn is the quorum or is not."""
    names = [f"group {i}" for i in range(groups)]
    asked_of: dict[str, Any] = {} if groups == 1 else {"by": "dish", "groups": names}
    dish = dpselect.plurality(candidate="dish", candidates=[f"dish {i}" for i in range(n)])
    quote = prepare(dish, EMPTY, k=k, epsilon="1/10", noise="laplace", quorum="auto", **asked_of).quote
    assert quote.quorum is not None
    silent = [
        silent_with_laplace_noise(n, float((quote.quorum - less) / quote.scale)) ** groups for less in (0, 1)
    ]
    assert silent[0] >= 0.99 > silent[1]


def silent_with_laplace_noise(n: int, lead: float) -> float:
    """P(no one of n Laplace numbers exceeds another one by more than the lead), by quadrature."""

    def below(z: float) -> float:
        return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2

    def silent(z: float) -> float:
        return math.exp(-abs(z)) / 2 * below(z + lead) ** n

    pieces = sorted({-60 - lead, -2 * lead, -lead, 3 - lead, 6 - lead, -lead / 2, 0.0, 4.0, 60.0})
    return float(mpmath.quad(silent, pieces))


def test_when_the_quorum_wins_there_is_no_label() -> None:
    release = select(PLURALITY, EMPTY, epsilon=1, quorum=1000)
    assert release.label is None
    assert release.labels == ()
    assert release.quorum == 1000
    sentence = "no clear winner: no candidate has clearly more than 1000 votes"
    assert sentence in repr(release).replace(",", "")
    assert "no clear winner" in release._repr_html_()
    facts = json.loads(release.to_json())
    assert (facts["winners"], facts["quorum"]) == ([], "1000")
    assert Release.from_json(release.to_json()) == release
    assert release.to_dict()["quorum"] == "1000"
    assert "winner" not in release.to_dict()


def test_a_top_k_is_cut_where_the_quorum_comes_out() -> None:
    rows = [
        (f"{dish} {i}", dish, 1, 0.0) for dish, people in (("tea", 900), ("pie", 500)) for i in range(people)
    ]
    assert top_k(PLURALITY, table(*rows), k=3, epsilon=10, quorum=200).labels == ("tea", "pie")
    assert top_k(PLURALITY, table(*rows), k=3, epsilon=10, quorum=700).labels == ("tea",)
    assert len(top_k(PLURALITY, table(*rows), k=3, epsilon=10, quorum=-500).labels) == 3


def test_a_quorum_makes_a_choice_of_one_candidate_and_of_an_order() -> None:
    alone = dpselect.plurality(candidate="dish", candidates=["tea"])
    assert select(alone, EMPTY, epsilon=1).price == PureDP(0)
    assert select(alone, EMPTY, epsilon=1, quorum="auto").price == PureDP(1)
    all_three = prepare(PLURALITY, EMPTY, k=3, epsilon=1, quorum="auto", noise="exponential").quote
    assert all_three.scale == 3
    assert "only their order" not in str(all_three.accuracy)


@pytest.mark.parametrize(
    "problem",
    [
        dpselect.borda(candidate="dish", rank="rank", candidates=["tea"]),
        dpselect.pricing(value="x", prices=[0]),
        dpselect.weighted_sum(candidate="dish", candidates=NAMES, value="x", bounds=(0, 0), unit=1),
    ],
    ids=lambda problem: problem.name,
)
def test_auto_wins_where_no_score_can_be_above_zero(problem: Problem) -> None:
    """Nothing is hidden there, so no noise is drawn, and a quorum of zero would lose the tie."""
    for data in (EMPTY, table(*MANY)):
        release = select(problem, data, epsilon=1, quorum="auto")
        assert (release.label, release.price, release.quorum) == (None, PureDP(0), problem.unit)


def test_own_scores_have_a_quorum_if_one_score_is_bounded() -> None:
    own = dpselect.custom(candidates=["a", "b"], sensitivity=1)
    assert select(own, Scores([500.5, 3]), epsilon=1, quorum="7/2").label == "a"
    assert select(own, Scores({"a": 0, "b": 1}), epsilon=1, quorum=500).label is None
    spread = dpselect.custom(candidates=["a", "b"], range_sensitivity=1)
    with pytest.raises(InvalidParameter, match="range_sensitivity= does not say it"):
        select(spread, Scores([1, 2]), epsilon=1, quorum=5)


@pytest.mark.parametrize("sensitivity", ["1/1000", 1, 7_000_000])
def test_auto_fits_own_scores_however_small_they_are(sensitivity: Any) -> None:
    own = dpselect.custom(candidates=["a", "b"], sensitivity=sensitivity, monotonic=True)
    quote = prepare(own, Scores([0, 0]), epsilon=1, quorum="auto").quote
    assert quote.quorum is not None
    silent = [
        enclosed_law([0, 0, score], noise="exponential", scale=quote.scale)[2,][0]
        for score in (quote.quorum, quote.quorum * Fraction(99_999, 100_000))
    ]
    assert silent[0] >= Fraction(99, 100) > silent[1]


@pytest.mark.parametrize(
    ("problem", "wishes", "sentence"),
    [
        (
            dpselect.quantile(value="x", at="1/2", candidates=[1, 2]),
            {"quorum": 5},
            "no meaning for quantile",
        ),
        (dpselect.quantile(value="x", at="1/2", between=(0, 9), step=1), {"quorum": "auto"}, "no meaning"),
        (PLURALITY, {"quorum": "1/2"}, "quorum must be a multiple of 1"),
        (PLURALITY, {"quorum": "many"}, "quorum"),
        (PLURALITY, {"quorum": 5, "gap": True}, "quorum does not go with gap"),
    ],
)
def test_what_a_quorum_cannot_be_is_refused(problem: Problem, wishes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        select(problem, EMPTY, epsilon=1, **wishes)


def test_the_same_request_with_another_quorum_is_another_question(tmp_path: Any) -> None:
    with Ledger.create(tmp_path / "a.ledger", budget=PureDP(5)) as ledger:
        asked_first = select(PLURALITY, EMPTY, epsilon=1, quorum=500, ledger=ledger, request_id="one")
        again = select(PLURALITY, EMPTY, epsilon=1, quorum=500, ledger=ledger, request_id="one")
        assert again == asked_first
        with pytest.raises(RequestChanged):
            select(PLURALITY, EMPTY, epsilon=1, quorum=501, ledger=ledger, request_id="one")
        assert "quorum 500" in next(iter(ledger.entries())).reason
