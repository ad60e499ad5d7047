"""The two other libraries: an environment of their own, and what was measured in it.

Started there as ``python -m benchmarks.peers NAME PATTERN NOISE LARGEST``, this file measures; it imports no
dpselect.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
import threading
import venv
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from benchmarks.patterns import FLOATS, INTEGERS, Scores
from benchmarks.timing import Contestant, medians, seconds

CHECKOUT = Path(__file__).resolve().parents[1]
PLACE = CHECKOUT / ".venv-bench"
PYTHON = PLACE / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

PINS = {
    "opendp": ["opendp==0.16.0"],
    "diffprivlib": ["diffprivlib==0.6.6", "scikit-learn==1.8.*"],
}
PATTERNS = {pattern.name: pattern for pattern in (FLOATS, INTEGERS)}
NOISES = ("Gumbel", "exponential")
LONGEST = 10.0
"""A draw that would take longer, in seconds, is not waited for."""

Maker: TypeAlias = Callable[[Scores, str], Contestant]


class PeerRow(NamedTuple):
    """One draw of a peer, and ``scores.max()`` in the same process."""

    peer: str
    n: int
    pattern: str
    noise: str
    draw: float
    maximum: float


# ---- in the benchmark's own process ----------------------------------------------------------------------


def install(peer: str) -> str | None:
    """Install a peer, unless it is there; give its version, or None if that cannot be done."""
    wanted = [*PINS[peer], f"numpy=={np.__version__}"]
    if not _is_there(wanted):
        print(f"  installing {', '.join(wanted)} in {PLACE.name}", flush=True)
        pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
        try:
            if not PYTHON.exists():
                venv.create(PLACE, with_pip=True)
            subprocess.run(pip, check=True, cwd=CHECKOUT)  # noqa: S603  a command that is written here
        except (OSError, subprocess.CalledProcessError):
            print(f"  {peer} could not be installed; going on without it", flush=True)
            return None
    return wanted[0].split("==")[1]


def _is_there(wanted: list[str]) -> bool:
    """Ask the environment whether it holds what is wanted."""
    if not PYTHON.exists():
        return False
    command = [str(PYTHON), "-m", "benchmarks.peers", "has", *wanted]
    return subprocess.run(command, check=False, cwd=CHECKOUT).returncode == 0  # noqa: S603  the same


def measured_peer(peer: str, largest: int) -> Iterator[PeerRow]:
    """Measure a peer in processes of its own; yield what they tell, when they tell it."""
    for pattern in PATTERNS:
        for noise in NOISES:
            arguments = [peer, pattern, noise, str(largest)]
            command = [str(PYTHON), "-W", "ignore", "-m", "benchmarks.peers", *arguments]
            with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
                for line in process.stdout or ():
                    yield PeerRow(*json.loads(line))
            if process.returncode:
                print(f"  {peer} failed on {pattern}; going on with what it told", flush=True)


# ---- in the peers' environment ---------------------------------------------------------------------------


def opendp(scores: Scores, noise: str) -> Contestant:
    """Make one draw of opendp's noisy max: from the array to the index."""
    dp: Any = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    kind, atoms = ("f64", {"nan": False}) if scores.dtype.kind == "f" else ("i64", {})
    measure = dp.zero_concentrated_divergence() if noise == "Gumbel" else dp.max_divergence()
    domain = dp.vector_domain(dp.atom_domain(T=kind, **atoms))
    return partial(dp.m.make_noisy_max(domain, dp.linf_distance(T=kind), measure, 1.0), scores)


def diffprivlib(scores: Scores, noise: str) -> Contestant:
    """Make one draw of diffprivlib: its mechanism is built from the scores, so building it is part of it."""
    mechanisms: Any = importlib.import_module("diffprivlib.mechanisms")
    mechanism = mechanisms.Exponential if noise == "Gumbel" else mechanisms.PermuteAndFlip

    def draw() -> object:
        return mechanism(epsilon=1.0, sensitivity=0.5, utility=scores.tolist()).randomise()

    return draw


MAKERS: dict[str, Maker] = {"opendp": opendp, "diffprivlib": diffprivlib}


def tell(peer: str, pattern: str, noise: str, largest: int) -> None:
    """Print a line for each row, with ever more scores, until one draw takes too long."""
    n, expected = 10, 0.0
    while n <= largest and expected < LONGEST:
        scores = PATTERNS[pattern].scores(n, 1)
        draw = MAKERS[peer](scores, noise)
        once = seconds_or_exit(draw)
        times = medians({"draw": draw, "maximum": scores.max})
        print(json.dumps(PeerRow(peer, n, pattern, noise, times["draw"], times["maximum"])), flush=True)
        more = 100 if n < 10**5 else 10
        n, expected = n * more, once * more


def seconds_or_exit(draw: Contestant) -> float:
    """Time the first draw; if it takes too long, nothing larger is worth a try, and this process ends."""
    patience = threading.Timer(LONGEST, os._exit, [0])
    patience.start()
    once = seconds(draw, 1)
    patience.cancel()
    return once


def has(wanted: list[str]) -> bool:
    """Say whether this environment holds all that is wanted."""
    for requirement in wanted:
        name, _, version = requirement.partition("==")
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return False
        if not f"{found}.".startswith(version.rstrip("*").rstrip(".") + "."):
            return False
    return True


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["has", *requirements]:
            sys.exit(not has(requirements))
        case [peer, pattern, noise, largest]:
            tell(peer, pattern, noise, int(largest))
