"""F7: bytes of strangers never end the process, show a row or a traceback, whatever the format."""

from pathlib import Path

import pytest

from tests.engines import mutants

EXITS = {"0", "2", "4"}
"""Answered; refused by name or header; opened and refused."""


@pytest.mark.parametrize("form", mutants.FORMATS)
def test_f7_a_broken_file_is_refused_in_a_sentence(form: str, tmp_path: Path) -> None:
    """Few here, thousands in the slow run; for a database a process starts with each."""
    seen = mutants.verdicts(form, 8 if form.endswith("db") else 20, tmp_path)
    assert set(seen) <= EXITS
    assert seen["4"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("form", mutants.FORMATS)
def test_f7_two_thousand_broken_files_are_refused_in_a_sentence(form: str, tmp_path: Path) -> None:
    assert set(mutants.verdicts(form, 2000, tmp_path, seed=1)) <= EXITS
