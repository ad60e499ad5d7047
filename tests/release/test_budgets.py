"""What a budget buys: scale, price and accuracy of each problem, exactly; and who is charged what."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpselect
from dpselect import ZCDP, ApproxDP, Ledger, PureDP, Release, RenyiDP, Scores, Table
from dpselect.accounting import convert
from dpselect.accounting.closed_forms import bounded_range_rho
from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems import Problem
from dpselect.release.drawing import Wishes
from dpselect.release.quoting import quoted
from tests.release.elections import Watched

ROWS = "who,dish,rank,offer,stars\n1,pie,1,2.50,3\n2,soup,2,0.99,5\n3,pie,1,1,\n"

# Name, problem, d_Range under add_remove and change_one (proofs in problems/), re-derived in tests/problems.
PROBLEMS: list[tuple[Problem, Any, Any]] = [
    (dpselect.approval_voting(candidate="dish", candidates=["pie", "soup", "tea"]), 1, 2),
    (dpselect.plurality(candidate="dish", candidates=["pie", "soup"]), 1, 2),
    (dpselect.borda(candidate="dish", rank="rank", candidates=["pie", "soup", "tea"]), 2, 4),
    (dpselect.most_common(column="dish", candidates=["pie", "soup"], rows_per_person=3), 3, 6),
    (dpselect.pricing(value="offer", prices=["0.99", "1.99", "2.49"]), "1.99", "2.49"),
    (dpselect.quantile(value="stars", at="1/4", candidates=[1, 2, 3, 4]), "3/2", 2),
    (dpselect.quantile(value="stars", at="1/2", between=(0, 5), step="0.5"), 1, 2),
    (
        dpselect.weighted_sum(candidate="dish", candidates=["pie", "soup"], value="stars", bounds=(-1, 4)),
        5,
        10,
    ),
]
CASES = [
    pytest.param(problem, relation, Fraction(reach), id=f"{problem.name}-{relation}")
    for problem, *reaches in PROBLEMS
    for relation, reach in zip(("add_remove", "change_one"), reaches, strict=True)
]
OWN = dpselect.custom(candidates=["a", "b", "c"], range_sensitivity=1)
EVEN = Scores([0, 0, 0])
unmetered = pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    return Table(tmp_path / "rows.csv", unit="who")


@pytest.mark.parametrize(("problem", "relation", "reach"), CASES)
def test_of_every_problem_scale_price_and_accuracy_are_those_of_the_proofs(
    problem: Problem,
    relation: Neighbours,
    reach: Fraction,
    table: Table,
    tmp_path: Path,
) -> None:
    n = len(problem.outputs)
    with Ledger.create(tmp_path / "a.ledger", budget=ZCDP(100), neighbours=relation) as ledger:
        for k in (1, 2):
            draws = min(k, n - 1)
            pure = dpselect.top_k(problem, table, k=k, epsilon="1/3", ledger=ledger, neighbours=relation)
            # Exponential noise costs k d / scale, Laplace noise l1 / scale: of borda that is less.
            laplace = (problem.name, relation, k) == ("borda", "change_one", 2)
            assert pure.scale == (Fraction(6) if laplace else draws * reach) / Fraction(1, 3)
            noise = "laplace" if laplace else "gumbel" if k == 1 and problem.has_runs else "exponential"
            assert (pure.price, pure.mechanism, pure.measure) == (PureDP("1/3"), noise, "max_divergence")
            assert pure.accuracy == dpselect.accuracy(problem, epsilon="1/3", k=k, neighbours=relation)
            rho = Fraction(draws, 8 * 9)
            gumbel = dpselect.top_k(problem, table, k=k, rho=rho, ledger=ledger, neighbours=relation)
            assert draws * bounded_range_rho(reach / gumbel.scale) <= rho
            assert draws * bounded_range_rho(reach / (gumbel.scale * Fraction("0.9999"))) > rho
            assert gumbel.scale < 3 * reach  # less noise than for (d / scale)^2 / 8
            assert (gumbel.price, gumbel.mechanism) == (ZCDP(rho), "gumbel")
            assert gumbel.measure == "zero_concentrated_divergence"
            within = dpselect.accuracy(problem, rho=rho, k=k, neighbours=relation, mechanism="gumbel")
            assert gumbel.accuracy == within
            for release in (pure, gumbel):
                assert set(release.labels) <= set(problem.outputs)
                assert len(set(release.labels)) == k == release.accuracy.k
                assert (release.neighbours, release.unit, release.problem) == (
                    relation,
                    "who",
                    problem.digest,
                )
                assert release.version == dpselect.__version__
                assert Release.from_json(release.to_json()) == release


def test_one_candidate_costs_nothing_in_any_currency(ledger: Watched) -> None:
    alone = dpselect.custom(candidates=["tea"], sensitivity=1)
    release = dpselect.select(alone, Scores([31]), epsilon=5, ledger=ledger)
    assert (release.label, release.price) == ("tea", PureDP(0))
    assert release.scale == release.accuracy.within == 0
    assert ledger.spent == PureDP(0)
    assert [entry.loss for entry in ledger.entries()] == [PureDP(0)]


@unmetered
@pytest.mark.parametrize("budget", [ZCDP(1), ApproxDP(1, "1e-6"), RenyiDP({2: 1, 8: 3})], ids=repr)
def test_one_candidate_costs_nothing_without_a_ledger(budget: Any) -> None:
    alone = dpselect.custom(candidates=["tea"], sensitivity=1)
    release = dpselect.select(alone, Scores([31]), budget=budget)
    assert type(release.price) is type(budget)
    facts = json.loads(release.to_json())["loss"]
    assert facts in ({"rho": "0"}, {"epsilon": "0", "delta": "0"}, {"renyi": {"2": "0", "8": "0"}})
    assert Release.from_json(release.to_json()) == release


def test_scores_that_no_person_can_change_cost_nothing(table: Table, ledger: Watched) -> None:
    same = dpselect.weighted_sum(candidate="dish", candidates=["pie", "soup"], value="stars", bounds=(0, 0))
    release = dpselect.select(same, table, epsilon=1, ledger=ledger)
    assert (release.price, release.label) == (PureDP(0), "pie")
    assert release.scale == 0


def test_all_candidates_can_win_and_the_last_place_is_free(ledger: Watched) -> None:
    release = dpselect.top_k(OWN, EVEN, k=3, epsilon=1, ledger=ledger)
    assert set(release.labels) == {"a", "b", "c"}
    assert release.scale == 2


@pytest.mark.parametrize("k", [0, -1, 4, True, 1.0, "1", None])
def test_a_number_of_winners_that_cannot_be_is_refused(k: Any, ledger: Watched) -> None:
    with pytest.raises(InvalidParameter, match="k must be a whole number from 1 to 3"):
        dpselect.top_k(OWN, EVEN, k=k, epsilon=1, ledger=ledger)
    assert ledger.spent == PureDP(0)


@pytest.mark.parametrize(
    "budgets",
    [
        {},
        {"epsilon": None},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 1, "budget": PureDP(1)},
        {"rho": 1, "budget": PureDP(1)},
        {"epsilon": 1, "rho": 1, "budget": PureDP(1)},
    ],
    ids=str,
)
def test_exactly_one_budget_is_given(budgets: dict[str, Any], ledger: Watched) -> None:
    with pytest.raises(InvalidParameter, match="exactly one of epsilon, rho and budget must be given"):
        dpselect.select(OWN, EVEN, ledger=ledger, **budgets)


@pytest.mark.parametrize(
    ("budgets", "sentence"),
    [
        ({"epsilon": "0,5"}, "epsilon must be a finite number; got '0,5'"),
        ({"epsilon": 0}, "epsilon must be a positive number; got 0"),
        ({"epsilon": -1}, "epsilon must be"),
        ({"epsilon": float("nan")}, "epsilon must be"),
        ({"epsilon": float("inf")}, "epsilon must be a finite number; got inf"),
        ({"epsilon": True}, "epsilon must be"),
        ({"rho": 0}, "rho must be a positive number; got 0"),
        ({"rho": float("inf")}, "rho must be a finite number; got inf"),
        ({"budget": 1}, "budget must be a loss; got 1"),
        ({"budget": ApproxDP(0, "1e-6")}, "epsilon must be above zero"),
        ({"budget": RenyiDP(lambda alpha: alpha)}, "a Rényi budget must be a table"),
    ],
)
def test_a_budget_that_is_none_is_refused(budgets: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        dpselect.select(OWN, EVEN, **budgets)


@unmetered
@pytest.mark.parametrize(
    ("budget", "measure"),
    [
        (ApproxDP(1, "1e-6"), "approximate(max_divergence)"),
        (RenyiDP({2: "1/2", 16: 2}), "renyi_divergence"),
        (ZCDP("1/8"), "zero_concentrated_divergence"),
    ],
    ids=repr,
)
def test_other_budgets_buy_gumbel_noise_within_them(budget: Any, measure: str) -> None:
    release = dpselect.top_k(OWN, EVEN, k=2, budget=budget)
    assert (release.price, release.mechanism, release.measure) == (budget, "gumbel", measure)
    measures: dict[str, Any] = {
        "approximate(max_divergence)": dpselect.approximate(dpselect.max_divergence()),
        "renyi_divergence": dpselect.renyi_divergence(),
        "zero_concentrated_divergence": dpselect.zero_concentrated_divergence(),
    }

    def fits(scale: Fraction) -> bool:
        domain = dpselect.vector_domain(dpselect.atom_domain(float), size=3)
        metric = dpselect.range_distance()
        made = dpselect.make_report_noisy_top_k(domain, metric, measures[measure], 2, scale)
        return made.check(1, budget)

    assert fits(release.scale)
    assert not fits(release.scale * Fraction(999, 1000))


@unmetered
def test_a_pure_budget_is_an_epsilon() -> None:
    release = dpselect.select(OWN, EVEN, budget=PureDP("1/2"))
    assert release.mechanism == "exponential"
    assert release.scale == 2


@pytest.mark.parametrize("budget", [ApproxDP(1, "1e-6"), RenyiDP({2: 1})], ids=repr)
def test_a_ledger_is_not_charged_what_it_does_not_hold(budget: Any, ledger: Watched) -> None:
    sentence = r"a ledger holds epsilon or rho, with a delta|this ledger takes PureDP; got ApproxDP"
    with pytest.raises((InvalidParameter, IncomparableLosses), match=sentence):
        dpselect.select(OWN, EVEN, budget=budget, ledger=ledger)
    assert ledger.spent == PureDP(0)


RELATIONS: list[tuple[Neighbours, Neighbours]] = [("add_remove", "change_one"), ("change_one", "add_remove")]


@pytest.mark.parametrize(("theirs", "ours"), RELATIONS)
@pytest.mark.parametrize("budget", [PureDP(1), ZCDP(1)], ids=str)
def test_e12_a_release_between_other_neighbours_is_refused_before_the_charge_and_before_the_data(
    theirs: Neighbours, ours: Neighbours, budget: PureDP | ZCDP, tmp_path: Path
) -> None:
    def never() -> list[int]:
        raise AssertionError

    with Ledger.create(tmp_path / "a.ledger", budget=budget, neighbours=theirs) as ledger:
        for data in (EVEN, Scores(never)):
            for request in (None, "r1"):
                asked: dict[str, Any] = {"epsilon": "1/8", "neighbours": ours, "request_id": request}
                with pytest.raises(ValueError, match=rf"those of the ledger, '{theirs}', .*; got '{ours}'\."):
                    dpselect.select(OWN, data, ledger=ledger, **asked)
                with pytest.raises(InvalidParameter, match=f"Ask with neighbours {theirs}. Or keep") as found:
                    dpselect.top_k(OWN, data, k=2, ledger=ledger, **asked)
        path, way_out = tmp_path / "b.ledger", str(found.value).partition("keep another ledger: ")[2]
        assert way_out == f'Ledger.create(path, neighbours="{ours}").'
        with Ledger.create(path, neighbours=ours) as other:
            dpselect.select(OWN, EVEN, epsilon="1/8", neighbours=ours, ledger=other)
        assert ledger.verify() == 0
        dpselect.select(OWN, EVEN, epsilon="1/8", neighbours=theirs, ledger=ledger)
        assert ledger.verify() == 1


def test_e12_half_of_each_kind_would_bound_no_loss(table: Table) -> None:
    """What the refusal is for: with one person's answers changed, a price for add_remove is doubled."""
    vote = PROBLEMS[0][0]
    halves = [
        quoted(vote, table, 1, PureDP("1/2"), Wishes(neighbours=relation))[1] for relation, _ in RELATIONS
    ]
    reach = vote.d_range("change_one") / vote.unit
    first, second = [measurement.map(reach) for measurement in halves]
    assert (first, second) == (1, Fraction(1, 2))  # together 3/2, of a budget of 1


def test_e12_what_does_not_say_whose_loss_it_adds_up_is_no_ledger(ledger: Watched) -> None:
    class Silent:
        dataset = unit = None
        charge, store, answer = ledger.charge, ledger.store, ledger.answer

    others: list[Any] = [Silent(), type("None", (Silent,), {"neighbours": None})()]
    for silent in others:
        with pytest.raises(InvalidParameter, match=r"^ledger must be a Ledger; got"):
            dpselect.select(OWN, EVEN, epsilon="1/8", ledger=silent)
    assert ledger.verify() == 0


def test_an_epsilon_is_charged_to_a_ledger_of_rho_by_conversion(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "rho.ledger", budget=ZCDP(1)) as ledger:
        release = dpselect.select(OWN, EVEN, epsilon="1/2", ledger=ledger)
        assert release.price == PureDP("1/2")
        assert ledger.spent == convert(PureDP("1/2"), ZCDP)


def test_a_rho_is_not_charged_to_a_ledger_of_epsilon(ledger: Watched) -> None:
    looked: list[int] = []
    with pytest.raises(IncomparableLosses):
        dpselect.select(OWN, Scores(lambda: looked.append(1)), rho="1/8", ledger=ledger)
    assert ledger.spent == PureDP(0)
    assert looked == []


ONCE = """
import warnings
from dpselect import Scores, UnmeteredRelease, custom, select, top_k
own = custom(candidates=["a", "b"], sensitivity=1)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    FIRST(own, Scores([1, 2]), epsilon=1)  # this line is told
    select(own, Scores([1, 2]), epsilon=1)
    top_k(own, Scores([1, 2]), k=1, epsilon=1)
(warning,) = caught
assert warning.category is UnmeteredRelease
assert "nobody adds up" in str(warning.message)
print(warning.filename, warning.lineno)
"""


@pytest.mark.parametrize("first", ["select", "lambda *a, **b: top_k(*a, k=1, **b)"])
def test_a_release_without_a_ledger_is_warned_of_once_at_the_caller(first: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(ONCE.replace("FIRST", f"({first})"), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, check=False, text=True, timeout=60)
    assert done.stdout == f"{script} 7\n", done.stderr


# ---- questions that the data cannot be asked -------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "data", "sentence"),
    [
        ("dish", EVEN, "problem must be a selection problem; got a str"),
        (OWN, "rows.csv", r"table must be a Table, or Scores for custom\(...\); got a str. Write Table"),
        (OWN, [1, 2, 3], "table must be a Table, or Scores for custom"),
        (OWN, Table("rows.csv", unit="who"), "custom reads no table. Give Scores"),
        (PROBLEMS[0][0], EVEN, "approval_voting needs a Table; Scores belong to custom"),
        (dpselect.counting(3), EVEN, r"counting\(...\) is for planning"),
        (dpselect.counting(3), Table("rows.csv", unit="who"), r"counting\(...\) is for planning"),
        (OWN, Scores([1, 2]), "scores must be 3 in number"),
    ],
    ids=str,
)
def test_a_question_that_the_data_cannot_be_asked_is_refused(
    problem: Any,
    data: Any,
    sentence: str,
    ledger: Watched,
) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        dpselect.select(problem, data, epsilon=1, ledger=ledger)
    assert ledger.spent == PureDP(0)
