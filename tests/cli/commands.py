"""Running commands: in this process, where that is enough, or in one of its own."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from dpselect.cli.runner import run_command

VOTE = "vote ballots.csv --unit voter --choice candidate --candidates names.txt"
PRICE = "price survey.parquet --unit buyer --value wtp --prices 0.01:1.99:0.01"
MEDIAN = "quantile pay.csv --unit person --value salary --at 0.5 --between 0:100000 --step 500"


@dataclass(frozen=True)
class Outcome:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def refused(self, code: int, *words: str) -> None:
        """Hold it against the rules of refusals: one line, no traceback, nothing on standard output."""
        assert self.code == code, self.err
        assert self.err.startswith("dpselect: ")
        assert self.err.count("\n") == 1
        assert "Traceback" not in self.err
        assert not self.out
        for word in words:
            assert word in self.err


Call: TypeAlias = Callable[..., Outcome]


def in_this_process(capsys: pytest.CaptureFixture[str], words: Sequence[str]) -> Outcome:
    """Run words, or the words of a line."""
    capsys.readouterr()
    given = [part for word in words for part in (shlex.split(word) if len(words) == 1 else [word])]
    code = run_command(given)
    said = capsys.readouterr()
    return Outcome(code, said.out, said.err)


def in_a_process(line: str, folder: Path, **more: Any) -> Outcome:
    """Run a line in a process of its own, its output piped."""
    done = subprocess.run(
        [sys.executable, "-m", "dpselect", *shlex.split(line)],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        **more,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)
