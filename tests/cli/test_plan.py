"""``plan``: figures of the lecture (docs/sources.md), without data."""

from __future__ import annotations

from fractions import Fraction

from tests.cli.commands import Call

LECTURE = "plan --n 100 --sensitivity 1 --epsilon 0.5 --confidence 0.99"


def test_the_lectures_election_is_planned_to_its_figures(call: Call) -> None:
    planned = call(f"{LECTURE} --neighbours change_one --json")
    assert (planned.code, planned.err) == (0, "")
    assert planned.json["accuracy"] == {
        "exponential": "34.01",
        "gumbel": "36.77",
        "laplace": None,
        "lecture": "36.85",
        "unit": "votes",
    }
    assert planned.json["price"] == "1/2"
    assert planned.json["lead_needed"]["exponential"] == "35"


def test_without_change_one_it_is_half_of_that(call: Call) -> None:
    accuracy = call(f"{LECTURE} --json").json["accuracy"]
    assert [accuracy[noise] for noise in ("exponential", "gumbel", "lecture")] == ["17.01", "18.39", "18.43"]


def test_a_plan_in_words_has_the_same_figures(call: Call) -> None:
    said = call(f"{LECTURE} --neighbours change_one").out
    assert all(
        figure in said for figure in ("34.01", "36.77", "36.85", "at most a factor of 1.65", "epsilon 0.5")
    )


def test_a_plan_shows_what_other_budgets_would_buy(call: Call) -> None:
    said = call("plan --n 100 --epsilon 1").out.splitlines()
    rows = [
        line.split()[:2] for line in said if "this plan" in line or line.strip().startswith(("0.25", "4 "))
    ]
    # 8.5 at epsilon 1: halves and doubles with the budget, each rounded up on its own
    assert rows == [["0.25", "34.01"], ["1", "8.51"], ["4", "2.13"]]
    assert "by Gumbel noise" in call("plan --n 100 --rho 1/8").out


def test_a_plan_turns_accuracy_into_epsilon(call: Call) -> None:
    planned = call("plan --n 100 --within 17.01 --json").json
    assert Fraction(1, 2) - Fraction(1, 1000) < Fraction(planned["price"]) <= Fraction(1, 2)
    assert float(planned["accuracy"]["exponential"]) <= 17.01


def test_a_plan_in_rho_is_for_gumbel_noise(call: Call) -> None:
    planned = call("plan --n 100 --rho 1/8 --json").json
    assert planned["measure"] == "zero_concentrated_divergence"
    assert planned["accuracy"] == {
        "exponential": None,
        "gumbel": "9.13",
        "laplace": None,
        "lecture": None,
        "unit": "votes",
    }


def test_prices_and_candidates_can_be_planned_for(call: Call) -> None:
    priced = call("plan --prices 0.01:1.99:0.01 --epsilon 1 --json").json
    assert (priced["n"], priced["accuracy"]["unit"]) == (199, "revenue")
    assert call("plan --candidates names.txt --epsilon 1 --json").json["n"] == 4
    assert call("plan --n 4 --epsilon 1 --measured-in likes --json").json["accuracy"]["unit"] == "likes"


def test_a_small_sensitivity_keeps_its_digits(call: Call) -> None:
    accuracy = call("plan --n 100 --sensitivity 1/1000 --epsilon 0.5 --neighbours change_one --json").json[
        "accuracy"
    ]
    assert accuracy["exponential"] == "0.03401"


def test_a_bound_on_people_makes_a_plan_for_prices_sharper(call: Call) -> None:
    songs = "plan --prices 0.01:1.99:0.01 --epsilon 1 --json"
    without, few = call(songs).json, call(f"{songs} --people 50").json
    for noise in ("exponential", "gumbel"):
        for figure in ("accuracy", "lead_needed"):
            assert Fraction(few[figure][noise]) < Fraction(without[figure][noise])
    assert few["accuracy"]["lecture"] == without["accuracy"]["lecture"]
    for other in (
        "plan --n 3 --epsilon 1",
        "plan --prices 1,2 --within 1",
        "plan --prices 1,2 --k 2 --rho 1",
    ):
        refused = call(f"{other} --people 50")
        assert (refused.code, "--people" in refused.err) == (2, True)


def test_a_plan_knows_laplace_noise_where_one_person_moves_all_scores_together_by_little(call: Call) -> None:
    planned = call("plan --n 2000 --k 100 --epsilon 1 --together 1 --json").json
    assert float(planned["accuracy"]["laplace"]) < 30
    assert float(planned["accuracy"]["exponential"]) > 1000
    assert int(planned["lead_needed"]["laplace"]) <= 30
    said = call("plan --n 2000 --k 100 --epsilon 1 --together 1").out
    assert "by Laplace noise" in said
    within = call("plan --n 2000 --k 100 --within 30 --together 1 --json").json
    assert Fraction(within["price"]) < 1
    prices = call("plan --prices 1,2,3 --epsilon 1 --k 2 --json").json
    assert prices["accuracy"]["laplace"] is not None
    assert call("plan --prices 1,2,3 --epsilon 1 --together 1").code == 2
    assert call("plan --n 5 --epsilon 1 --together 1/2").code == 2
