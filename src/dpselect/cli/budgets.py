"""A loss on the command line: --epsilon or --rho, with --delta or without; and how losses are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.ledger.budget import Currency
    from dpselect.privacy.losses import ZCDP, PureDP


def given_loss(epsilon: str | None, rho: str | None, delta: str | None, *, example: str) -> Currency:
    """Read the one loss that is given: a price, or the budget of a new ledger."""
    _must_be_one(epsilon, rho, example)
    return _beside(plain_loss(epsilon, rho), delta)


def given_limit(epsilon: str | None, rho: str | None, delta: str | None, *, example: str) -> Currency:
    """Read the one limit that is given: a share, or a changed budget. Zero stops all charges."""
    from dpselect.privacy.losses import ZCDP, PureDP

    _must_be_one(epsilon, rho, example)
    return _beside(PureDP(str(epsilon)) if rho is None else ZCDP(rho), delta)


def _must_be_one(epsilon: str | None, rho: str | None, example: str) -> None:
    if (epsilon is None) == (rho is None):
        got = "none" if rho is None else "both"
        raise UserError(f"exactly one of --epsilon and --rho must be given; got {got}. Write {example}.")


def _beside(loss: PureDP | ZCDP, delta: str | None) -> Currency:
    from dpselect.privacy.losses import ApproxDP, ApproxZCDP, PureDP

    if delta is None:
        return loss
    return ApproxDP(loss.amount, delta) if isinstance(loss, PureDP) else ApproxZCDP(loss.amount, delta)


def plain_loss(epsilon: str | None, rho: str | None) -> PureDP | ZCDP:
    """Read an epsilon, or the rho that stands in its place; refuse zero, which buys nothing."""
    from dpselect.exact.numbers import positive
    from dpselect.privacy.losses import ZCDP, PureDP

    if rho is not None:
        return ZCDP(positive(rho, "rho"))
    return PureDP(positive(str(epsilon), "epsilon"))


def amounts(**losses: Currency) -> dict[str, Any]:
    """Write losses for JSON: the numbers by their names, and under "delta" their deltas, if they have one."""
    from dpselect.privacy.amounts import amount_text

    written: dict[str, Any] = {name: amount_text(loss.amount) for name, loss in losses.items()}
    deltas = {name: amount_text(loss.parts()[1]) for name, loss in losses.items() if loss.parts()[1:]}
    return {**written, "delta": deltas} if deltas else written
