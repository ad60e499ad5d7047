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
    assert (few["people"], without["people"]) == (50, None)
    said = call("plan --prices 0.01:1.99:0.01 --epsilon 1 --people 50").out
    assert "0.99 or more, on every data set of up to 50 people:" in " ".join(said.split())
    for other in (
        "plan --n 3 --epsilon 1",
        "plan --at 0.5 --between 0:9 --epsilon 1",
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


QUARTILES = "plan --at 0.25,0.5,0.75 --between 0:500000 --step 500"


def test_quantiles_can_be_planned_for(call: Call) -> None:
    planned = call(f"{QUARTILES} --people 10000 --epsilon 1 --json").json
    assert (planned["n"], planned["k"], planned["people"]) == (1001, 3, 10_000)
    assert planned["at"] == ["0.25", "0.5", "0.75"]
    assert 50 < float(planned["accuracy"]["gumbel"]) < 80
    assert 2 < float(planned["accuracy"]["typical"]) < 4
    assert set(planned["lead_needed"].values()) == {None, "people"}
    said = call(f"{QUARTILES} --epsilon 1").out
    assert "the 0.25, 0.5, 0.75 quantiles, each one of 1,001 numbers from 0 to 500000" in said
    assert "up to 17,179,869,184 people" in said
    assert "typically" in said
    median = call("plan --at 0.5 --between 0:120 --rho 1/8")
    assert (median.code, "one of 121 numbers" in median.out, "typically" in median.out) == (0, True, False)
    assert call("plan --at 0.5 --between 0:120 --rho 1/8 --json").json["accuracy"]["typical"] is None


def test_a_plan_turns_an_error_of_ranks_into_epsilon(call: Call) -> None:
    planned = call(f"{QUARTILES} --people 10000 --within 50 --json").json
    assert float(planned["accuracy"]["gumbel"]) <= 50
    again = call(
        f"{QUARTILES} --people 10000 --epsilon {Fraction(planned['price']) * Fraction(99, 100)} --json"
    )
    assert float(again.json["accuracy"]["gumbel"]) > 50
    one = call("plan --at 0.5 --between 0:120 --within 10 --json").json
    assert float(one["accuracy"]["gumbel"]) <= 10
    priced = "plan --prices 0.01:1.99:0.01 --within 20 --json"
    sharper = call(f"{priced} --people 100").json
    assert Fraction(sharper["price"]) < Fraction(call(priced).json["price"])
    assert float(sharper["accuracy"]["exponential"]) <= 20


def test_a_plan_for_quantiles_refuses_what_means_nothing_there(call: Call) -> None:
    for words, option in (
        ("--at 0.5 --epsilon 1", "--between"),
        ("--at 0.5 --between 0:9 --n 3 --epsilon 1", "--n "),
        ("--at 0.5 --between 0:9 --plot a.png --epsilon 1", "--plot"),
        ("--at 0.5 --between 0:9 --k 2 --epsilon 1", "--k"),
        ("--at 0.5,0.25 --between 0:9 --epsilon 1", "--at"),
        ("--at 0.25,0.5 --between 0:9 --within 1", "Give --people"),
        ("--at 0.25,0.5 --between 0:9 --within 30 --people 20", "--within"),
        ("--at 0.5 --between 0:9", "--epsilon"),
        ("--n 3 --between 0:9 --epsilon 1", "--between"),
        ("--n 3 --step 2 --epsilon 1", "--step"),
    ):
        refused = call(f"plan {words}")
        assert (refused.code, option in refused.err, refused.out) == (2, True, "")
