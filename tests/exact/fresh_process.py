"""Scripts that fork or hang do so in a Python of their own."""

import subprocess
import sys
import textwrap

PATIENCE = 60
"""Seconds until a process counts as hanging."""


def output_of(script: str) -> list[str]:
    """Run the script to its end, and give the lines that it printed."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
