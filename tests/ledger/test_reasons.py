"""The reason of a charge: what is written down, and what people are shown of it."""

from __future__ import annotations

import pytest

from dpselect.ledger.fields import MOST_CHARACTERS_OF_REASON, reason_text
from dpselect.ledger.reasons import is_of_question, question_name, question_reason, shown_reason
from dpselect.privacy.losses import ZCDP, ApproxDP, PureDP, RenyiDP, WritableLoss

DIGEST = "0123456789abcdef" * 4


def written(name: str = "approval_voting of dish", price: WritableLoss | None = None, k: int = 3) -> str:
    loss = PureDP("1/2") if price is None else price
    return question_reason(name, k=k, n=10, price=loss, neighbours="add_remove", digest=DIGEST)


def test_a_reason_names_the_columns_and_the_data_set() -> None:
    assert question_name("custom", []) == "custom"
    assert question_name("borda", ["dish", "rank"]) == "borda of dish and rank"
    assert question_name("mode", ["dish"], "orders") == "mode of dish in orders"
    assert written() == f"approval_voting of dish, 3 of 10, epsilon 0.5, add_remove, question {DIGEST}"


def test_people_are_shown_what_does_not_stand_beside_it() -> None:
    assert shown_reason(written(), "epsilon") == "approval_voting of dish, 3 of 10"
    assert shown_reason(written(), "rho") == "approval_voting of dish, 3 of 10, epsilon 0.5"
    assert shown_reason(written(price=ZCDP("1/3")), "rho") == "approval_voting of dish, 3 of 10"
    name = "mode of a, question b, epsilon 2, add_remove"
    assert shown_reason(written(name), "epsilon") == f"{name}, 3 of 10"


def test_what_earlier_versions_wrote_is_shown_likewise() -> None:
    for price in ("epsilon 1/2", "epsilon 0.333334 (rounded up)"):
        reason = f"approval_voting, 3 of 10, {price}, add_remove, question {DIGEST}"
        assert shown_reason(reason, "epsilon") == "approval_voting, 3 of 10"
        assert is_of_question(reason, k=3, n=10, digest=DIGEST)


@pytest.mark.parametrize("reason", ["songs", "which dish, question 12ab", f"question {DIGEST}"])
def test_what_a_person_wrote_is_shown_as_it_is(reason: str) -> None:
    assert shown_reason(reason, "epsilon") == reason
    assert not is_of_question(reason, k=3, n=10, digest=DIGEST)


def test_a_question_is_told_from_others_by_its_winners_and_its_digest() -> None:
    assert is_of_question(written(), k=3, n=10, digest=DIGEST)
    assert not is_of_question(written(), k=3, n=11, digest=DIGEST)
    assert not is_of_question(written(k=13), k=3, n=10, digest=DIGEST)
    assert not is_of_question(written(), k=3, n=10, digest="f" * 64)


def test_details_belong_to_the_question() -> None:
    more = ("laplace noise", "decimal ','")
    reason = question_reason(
        "mode of dish", k=1, n=3, price=PureDP(1), neighbours="add_remove", digest=DIGEST, details=more
    )
    assert shown_reason(reason, "epsilon") == "mode of dish, 1 of 3, laplace noise, decimal ','"
    assert is_of_question(reason, k=1, n=3, digest=DIGEST, details=more)
    assert not is_of_question(reason, k=1, n=3, digest=DIGEST)


def test_a_reason_is_one_line_that_a_ledger_takes_whatever_the_names_are() -> None:
    name = question_name("borda", ["a\x1b[2J\n" * 200, "b\u202e"], "c" * 200)
    reason = reason_text(written(name, price=PureDP("1/3") * 10**100))
    assert len(reason) < MOST_CHARACTERS_OF_REASON / 2
    assert "…" in reason
    assert "epsilon" not in reason  # too long: the entry has it
    assert question_name("mode", ["x" * 60]) == f"mode of {'x' * 60}"
    assert len(question_name("mode", ["x" * 61])) == len(f"mode of {'x' * 60}")


@pytest.mark.parametrize("price", [RenyiDP({2: 1}), PureDP(float("inf"))])
def test_a_price_that_is_no_number_is_left_out(price: WritableLoss) -> None:
    assert written(price=price) == f"approval_voting of dish, 3 of 10, add_remove, question {DIGEST}"
    assert shown_reason(written(price=price), "epsilon") == "approval_voting of dish, 3 of 10"
    assert ", epsilon 1, " in written(price=ApproxDP(1, "1e-6"))
