"""``doctor`` says what of the optional world is there."""

from __future__ import annotations

import pytest

from tests.cli.commands import Call


def test_a_doctor_finds_what_is_there(call: Call) -> None:
    found = call("doctor --json").json
    assert found["core"]["click"]
    assert set(found["extras"]) == {"arrow", "plot", "postgres", "spark", "studio"}
    said = call("doctor")
    assert (said.code, said.err) == (0, "")
    assert "PostgreSQL" in said.out


def test_a_doctor_finds_nothing_where_nothing_is(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert call("doctor --json").json["java"] is None
    assert "not found: install Java 17" in call("doctor").out
