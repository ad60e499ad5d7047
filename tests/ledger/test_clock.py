"""The clock of the system, set to years that Python cannot count in nanoseconds."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpselect.ledger.fields import system_clock

# What every program asks for the time, some seconds away from the truth.
SHIFTED = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += atoll(getenv("SHIFT"));
    return failed;
}
time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""
YEAR = 31_556_952
PAY = """
import sys
from dpselect import Ledger, PureDP, Scores, custom, select
with Ledger.create(sys.argv[1]) as ledger:
    ledger.charge(PureDP("1/4"), reason="by hand", request_id="r1")
    ledger.store("r1", "tea")
    both = custom(candidates=["a", "b"], sensitivity=1)
    select(both, Scores([0, 0]), epsilon="1/4", ledger=ledger, request_id="r2")
with Ledger.open(sys.argv[1]) as ledger:
    print(ledger.verify(), ledger.spent, *(entry.time.year for entry in ledger.entries()))
"""


@pytest.fixture
def shift(tmp_path: Path) -> Path:
    """A library that sets the clock for one process."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("install a C compiler: it makes the clock of a process")
    (tmp_path / "shift.c").write_text(SHIFTED, encoding="utf-8")
    made = tmp_path / "shift.so"
    command = [compiler, "-shared", "-fPIC", "-o", str(made), str(tmp_path / "shift.c"), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return made


@pytest.mark.parametrize(
    ("year", "written"), [(1900, 1900), (1600, 1600), (-100, 1), (2262, 2262), (2300, 2300), (12_000, 9999)]
)
def test_e14_a_ledger_survives_a_system_clock_of_any_year(
    tmp_path: Path, shift: Path, year: int, written: int
) -> None:
    seconds = (year - time.gmtime().tm_year) * YEAR
    environment = {"LD_PRELOAD": str(shift), "SHIFT": str(seconds), "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", PAY, str(tmp_path / "a.ledger")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.stderr == ""
    count, _, spent, *years = done.stdout.split()
    assert (count, spent, len(years)) == ("2", "0.5", 2)
    assert all(abs(int(each) - written) <= 1 for each in years)


def test_e14_a_table_that_cannot_be_read_in_such_a_year_is_refused_with_the_reason_and_free_of_charge(
    tmp_path: Path, shift: Path
) -> None:
    (tmp_path / "v.csv").write_text("voter,dish\n1,a\n", encoding="utf-8")
    environment = {"LD_PRELOAD": str(shift), "SHIFT": str(300 * YEAR), "PYTHONPATH": ":".join(sys.path)}

    def run(line: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dpselect", *line.split()]
        return subprocess.run(
            command, check=False, capture_output=True, text=True, env=environment, cwd=tmp_path
        )

    assert run("ledger create a.ledger --epsilon 1").returncode == 0
    asked = run("vote v.csv --unit voter --choice dish --candidates a,b --epsilon 1/2 --ledger a.ledger")
    assert (asked.returncode, asked.stdout) == (1, "")
    assert "the clock of the system must be set to a year that Python can count" in asked.stderr
    assert '"spent": "0"' in run("ledger show a.ledger --json").stdout


def test_the_clock_of_the_system_says_whole_minutes_of_now() -> None:
    before, now, after = time.time(), system_clock().timestamp(), time.time()
    assert before - 60 < now <= after
    assert now % 60 == 0
