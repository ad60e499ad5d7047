"""``verify`` proves what it says, and finds what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import pytest

from dpselect.audit import installation
from dpselect.audit.claims import Claim, Verdict, walked
from dpselect.audit.installation import claims
from dpselect.exact import samplers
from dpselect.exact.enclosures import Enclosure, exp
from dpselect.exact.randomness import Randomness
from dpselect.mechanisms import make_report_noisy_max_gumbel
from tests.cli.commands import Call
from tests.cli.test_reference import keys

ONLY = ("uniform_below", "bernoulli_exp", "report noisy max, Gumbel", "gumbel noise", "race")


def test_every_claim_about_this_installation_holds(call: Call) -> None:
    outcome = call("verify --json")
    assert (outcome.code, outcome.err) == (0, "")
    assert set(outcome.json) == keys("verify")
    assert outcome.json["holds"] is True
    found = outcome.json["claims"]
    assert {claim["subject"] for claim in found} == {"sampler", "mechanism", "price", "proof"}
    assert all(claim["holds"] for claim in found)
    walked = [claim for claim in found if claim["depth"]]
    assert len(walked) == 26
    assert all(claim["open"].startswith("2^-") for claim in walked)


def some() -> list[Claim]:
    return [claim for claim in claims() if claim.name in ONLY][:6]


def test_a_claim_that_does_not_hold_is_shown_and_ends_with_1(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = Claim("sampler", "loaded dice", "never", 3, lambda: Verdict(holds=False, open=Fraction(1, 8)))
    monkeypatch.setattr(installation, "claims", lambda _: iter([*some(), bad]))
    outcome = call("verify")
    assert outcome.code == 1
    assert "WRONG" in outcome.out
    assert "1 of 7 do not" in outcome.err


def failing(name: str) -> Iterator[Claim]:
    return (claim for claim in claims() if claim.name == name and not claim.check().holds)


def loaded(n: int, source: Randomness) -> int:
    """Dice that prefer small numbers: a word taken modulo n."""
    return sum(source.word() << i for i in range(6)) % n


def never(x: Fraction, source: Randomness) -> bool:
    """A coin that never falls: it contradicts nothing, and leaves everything open."""
    while source.word() < 2:
        pass
    return bool(x)


def test_a_wrong_sampler_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samplers, "uniform_below", loaded)
    assert len(list(failing("uniform_below"))) == 4


def test_a_sampler_that_never_ends_is_found() -> None:
    short = partial(walked, depth=4)  # 48 bits of an endless coin would take years
    verdict = short(
        partial(never, Fraction(1)),
        lambda _: Enclosure(Fraction(0), Fraction(1)),
        [],
        most_open=Fraction(1, 2),
    )
    assert not verdict.holds
    assert verdict.open == 1


def test_a_wrong_scale_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = make_report_noisy_max_gumbel
    monkeypatch.setattr(
        installation,
        "make_report_noisy_max_gumbel",
        lambda domain, metric, scale: right(domain, metric, scale * Fraction(101, 100)),
    )
    assert len(list(failing("report noisy max, Gumbel"))) == 4


def test_a_price_that_is_too_low_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = exp
    monkeypatch.setattr(installation, "exp", lambda x, *more: right(x * Fraction(1, 3), *more))
    assert list(failing("exponential noise"))


def test_code_that_moved_under_its_proof_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpselect.audit.proofs.digest", lambda source: str(len(source)))
    assert list(failing("race"))
