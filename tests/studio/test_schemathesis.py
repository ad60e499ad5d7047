"""Another program's eye on the served document: schemathesis asks whatever it says, and what it does not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.studio.running import furnish, running, write_meals

NOT_SAID = "positive_data_acceptance,negative_data_rejection"
"""A schema cannot say what fits the columns of a table, nor that a number is taken where a text is."""


@pytest.mark.slow
@pytest.mark.parametrize("who", ["ada", "cleo"])
def test_the_studio_is_as_its_document_says_to_schemathesis(tmp_path: Path, who: str) -> None:
    beside = Path(sys.executable).with_name("schemathesis")
    program = str(beside) if beside.exists() else shutil.which("schemathesis")
    if program is None:
        pytest.skip("the document is read by schemathesis, and there is none: pip install schemathesis")
    folder = tmp_path.resolve()
    with running(folder) as run:
        furnish(run, write_meals(folder / "meals.csv"))
        words = (
            f"run http://127.0.0.1:{run.port}/openapi.json --max-examples 10 --no-color --checks all "
            f"--exclude-checks {NOT_SAID} --phases examples,coverage,fuzzing"
        )
        key = ["--header", f"Authorization: Bearer {run.keys[who]}"]
        told = subprocess.run(
            [program, *words.split(), *key], check=False, capture_output=True, text=True, cwd=folder
        )
        assert run.as_("cleo").get("/api/keys").status in (200, 401)
    assert told.returncode == 0, told.stdout
