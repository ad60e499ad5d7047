"""An engine that forgets one thing is caught by the contract: each wrong request gives other scores."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from dpselect import Table
from dpselect.engines.protocol import CountsRequest
from tests.engines import loading
from tests.engines.cases import CASES, Case
from tests.engines.reference import SALT

FORGOTTEN: dict[str, dict[str, Any]] = {
    "duplicates are counted": {"distinct": False},
    "nothing is bounded": {"most": None},
    "one row more is kept": {"most": 4},
    "the bound is on the person alone": {"within": ()},
    "every row is a person": {"person": None},
}


def wrong(case: Case, request: CountsRequest, table: Table, salt: bytes = SALT) -> bool:
    with table.open() as engine:
        scores = case.problem.scores(engine.counts(request, salt))
    return [int(score) for score in scores] != case.points


@pytest.mark.parametrize("change", FORGOTTEN.values(), ids=list(FORGOTTEN))
def test_what_an_engine_forgets_is_noticed(change: dict[str, Any]) -> None:
    assert any(map(partial(noticed_by, change=change), CASES))


def noticed_by(case: Case, change: dict[str, Any]) -> bool:
    table = Table(loading.arrow(case.kinds, case.rows), unit=case.unit)
    with table.open() as engine:
        request = case.problem.request(engine.schema, unit=case.unit)
    changed = replace(request, **change)
    return changed != request and wrong(case, changed, table)


def test_another_salt_is_noticed() -> None:
    case = next(case for case in CASES if case.name == "plurality: people with many rows, bounded")
    table = Table(loading.arrow(case.kinds, case.rows), unit=case.unit)
    with table.open() as engine:
        request = case.problem.request(engine.schema, unit=case.unit)
    assert any(wrong(case, request, table, bytes([number] * 16)) for number in range(3))
    assert not wrong(case, request, table)
