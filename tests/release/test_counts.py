"""A release with noisy counts: free where Laplace noise is chosen, refused elsewhere, written and read.

What is under test: dpselect.release.drawing, dpselect.release.result, dpselect.release.json_form,
dpselect.release.flat_form.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpselect
from dpselect import Ledger, PureDP, Release, Scores, Table, prepare
from dpselect.errors import InvalidParameter, RequestChanged
from dpselect.release.flat_form import csv_text
from dpselect.utility.worst_case import whole_laplace_distance

NAMES = [f"n{i}" for i in range(30)]
VOTES = dpselect.plurality(candidate="dish", candidates=NAMES)
APPROVAL = dpselect.approval_voting(candidate="dish", candidates=NAMES)
pytestmark = pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    people = [place for place in range(10) for _ in range(1000 - 90 * place)]
    rows = "".join(f"{who},n{place}\n" for who, place in enumerate(people))
    (tmp_path / "rows.csv").write_text("who,dish\n" + rows, encoding="utf-8")
    return Table(tmp_path / "rows.csv", unit="who")


def test_counts_are_whole_near_the_truth_and_in_the_order_of_the_winners(table: Table) -> None:
    release = dpselect.top_k(VOTES, table, k=10, epsilon=1, counts=True)
    assert (release.mechanism, release.scale, release.price) == ("laplace", Fraction(1), PureDP(1))
    assert release.labels == tuple(NAMES[:10])
    assert all(type(count) is int for count in release.counts)
    assert list(release.counts) == sorted(release.counts, reverse=True)
    assert all(abs(count - (1000 - 90 * place)) < 45 for place, count in enumerate(release.counts))
    assert f"about {release.counts[0]}, " in repr(release)
    assert " votes" in repr(release)
    plain = dpselect.top_k(VOTES, table, k=10, epsilon=1)
    assert (plain.counts, plain.counted, plain.scale) == ((), False, release.scale)
    assert release.accuracy.within <= 30


def test_gaps_with_counts_are_the_differences_of_the_counts(table: Table) -> None:
    release = dpselect.top_k(VOTES, table, k=10, epsilon=1, counts=True, gap=True)
    counts = release.counts
    assert list(release.gaps[:-1]) == [ours - theirs for ours, theirs in pairwise(counts)]
    assert 13 < release.gap_margin < 15
    assert release.sure_leads[0] == release.gaps[0] - release.gap_margin
    assert "lead" in repr(release)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"k": 1}, 'this question takes exponential noise. Write noise="laplace"'),
        ({"problem": APPROVAL}, "takes exponential noise. One person may move any number of scores here"),
        ({"noise": "gumbel"}, "this question takes gumbel noise"),
        ({"epsilon": None, "rho": 1}, "in epsilon alone"),
        ({"epsilon": None, "rho": 1, "noise": "laplace"}, "in epsilon alone"),
        ({"counts": 1}, "counts must be True or False"),
        (
            {"problem": dpselect.pricing(value="dish", prices=["0.5", 1, 2]), "k": 2, "noise": "laplace"},
            "do not",
        ),
        ({"k": 30, "gap": True}, "runner-up"),
    ],
)
def test_counts_that_are_not_free_are_refused_before_the_charge(
    asked: dict[str, Any], sentence: str, table: Table, tmp_path: Path
) -> None:
    question: dict[str, Any] = {"problem": VOTES, "k": 10, "epsilon": 1, "counts": True} | asked
    with Ledger.create(tmp_path / "a.ledger", budget=PureDP(9)) as ledger:
        with pytest.raises(InvalidParameter, match=sentence):
            dpselect.top_k(question.pop("problem"), table, ledger=ledger, **question)
        assert ledger.spent == PureDP(0)
    own = dpselect.custom(candidates=["a", "b"], sensitivity=1)
    with pytest.raises(InvalidParameter, match="counts are free with Laplace noise alone"):
        dpselect.select(own, Scores([1, 2]), epsilon=1, counts=True)
    between = dpselect.quantile(value="dish", at="1/2", between=(0, 9), step=1)
    with pytest.raises(InvalidParameter, match="those of quantile do not"):
        dpselect.select(between, table, epsilon=1, counts=True)


@pytest.mark.parametrize("k", [2, 3, 10, 29, 30])
def test_counts_cost_no_accuracy(k: int, table: Table) -> None:
    """The reason of the noise compares promises, so the promise with counts is the one that it speaks of."""
    with prepare(VOTES, table, k=k, epsilon=1, counts=True) as counted:
        with_counts = counted.quote
    with prepare(VOTES, table, k=k, epsilon=1) as plain:
        assert with_counts.accuracy == plain.quote.accuracy
        assert with_counts.noise_reason == plain.quote.noise_reason


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("behind", [0, 1, 2, 5, 20])
def test_whole_noise_lets_the_worse_of_two_win_no_more_often_than_laplace_noise(
    behind: int, scale: float
) -> None:
    """Sum the law of two discrete Laplace numbers, ties by a coin, against (2 + x) exp(-x) / 4."""
    reach = np.arange(-1500, 1501)
    law = np.exp(-np.abs(reach) / scale)
    law /= law.sum()
    ahead = np.concatenate(([0.0], np.cumsum(law[::-1])))[::-1]  # P(Z >= reach), and 0 beyond the end
    first = np.minimum(np.arange(len(reach)) + behind, len(reach))
    worse_wins = float((law * (ahead[first] + ahead[np.minimum(first + 1, len(reach))]) / 2).sum())
    x = behind / scale
    assert worse_wins <= (2 + x) * np.exp(-x) / 4 + 1e-12
    assert worse_wins == pytest.approx(np.exp(-x) * (1 + behind * np.tanh(1 / (2 * scale))) / 2, abs=1e-12)


def test_one_winner_may_name_laplace_noise_to_have_its_count(table: Table) -> None:
    release = dpselect.select(VOTES, table, epsilon=1, noise="laplace", counts=True)
    assert abs(release.counts[0] - 1000) < 45


def test_the_same_request_with_counts_is_another_request(table: Table, tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "a.ledger", budget=PureDP(9)) as ledger:
        kept: dict[str, Any] = {"k": 10, "epsilon": 1, "ledger": ledger, "request_id": "a"}
        first = dpselect.top_k(VOTES, table, counts=True, **kept)
        assert dpselect.top_k(VOTES, table, counts=True, **kept).counts == first.counts
        with pytest.raises(RequestChanged):
            dpselect.top_k(VOTES, table, **kept)
        with pytest.raises(RequestChanged):
            dpselect.top_k(VOTES, table, counts=True, gap=True, **kept)
        assert ledger.spent == PureDP(1)


def test_counts_are_written_and_read_and_what_is_no_count_is_refused(table: Table) -> None:
    release = dpselect.top_k(VOTES, table, k=10, epsilon=1, counts=True)
    facts = json.loads(release.to_json())
    assert Release.from_json(release.to_json()) == release
    mistakes: list[dict[str, Any]] = [
        {"counts": []},
        {"counts": ["1"]},
        {"counts": ["01"] * 10},
        {"counts": None},
    ]
    for wrong in mistakes:
        with pytest.raises(InvalidParameter):
            Release.from_json(json.dumps(facts | wrong))
    flat = release.to_dict()
    assert (flat["count"], flat["count_2"]) == release.counts[:2]
    header, first, *_ = csv_text(release, release.labels, counts=release.counts).splitlines()
    assert header.startswith("rank,winner,count,price")
    assert first.startswith(f"1,n0,{release.counts[0]},")
    both = dpselect.top_k(VOTES, table, k=10, epsilon=1, counts=True, gap=True)
    assert csv_text(both, both.labels, both.gaps, both.counts).startswith("rank,winner,count,gap,price")
    with prepare(VOTES, table, k=10, epsilon=1, counts=True) as question:
        assert csv_text(question.quote, None).splitlines()[1].startswith(",,,1,")


@pytest.mark.parametrize(("n", "k", "scale"), [(30, 3, 1.0), (30, 3, 0.4), (8, 7, 5.0)])
def test_the_promise_for_whole_noise_holds_in_the_worst_case(n: int, k: int, scale: float) -> None:
    """k candidates tie at the top, all others lie just beyond the promise; coins decide every tie."""
    promised = scale * float(whole_laplace_distance(n - k, k, Fraction(1, 10)))
    generator = np.random.default_rng(3)
    decay = 1 - np.exp(-1 / scale)
    whole = generator.geometric(decay, (5000, n)) - generator.geometric(decay, (5000, n))
    noise = whole + generator.random((5000, n))
    behind = int(promised) + 1
    assert ((noise[:, k:].max(axis=1) - behind) >= noise[:, :k].min(axis=1)).mean() <= 0.1
    near = int(promised / 3)
    assert ((noise[:, k:].max(axis=1) - near) >= noise[:, :k].min(axis=1)).mean() > 0.1
