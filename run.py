#!/usr/bin/env python3
"""All that a checkout needs, with nothing but Python: ``python3 run.py demo``, ``python3 run.py test``.

Builds ``.venv`` beside this file, unless it is there and up to date, and runs the verb in it. ``.venv``
belongs to this file: one that was left unfinished, or was made by another Python, is thrown away.

An old Python must get a sentence and not a syntax error, so this file keeps to the grammar of Python 3.6.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

OLDEST = (3, 11)
ALL = "dev"
"""The extra of developers, which has all others in it that a verb needs."""
CHECKOUT = Path(__file__).resolve().parent
SKIPPED = "DPSELECT_SKIPPED"
"""The variable that tells pytest where to write how many tests it skipped (tests/conftest.py)."""
MEMORY, SPARE_BYTES = "/dev/shm", 4 << 30  # noqa: S108 - a folder of our own is made in it
"""A file system in memory, and how much must be free there for all that the tests write."""


class Step(NamedTuple):
    """One command: its name in the summary, and what the Python of ``.venv`` is given to run."""

    name: str
    arguments: "list[str]"


class Verb(NamedTuple):
    """One word after ``run.py``: the extra it needs installed, its steps, and what it is for."""

    extra: str
    steps: "list[Step]"
    purpose: str


RULES = Step("ruff check", ["-m", "ruff", "check", "."])
FORMAT = Step("ruff format", ["-m", "ruff", "format", "--check", "."])
TYPES = Step("mypy", ["-m", "mypy"])
PYTEST = ["-m", "pytest", "-n", "auto", "--maxprocesses=8", "--dist=worksteal", "--durations=10"]
# These wait for other processes, for disks and for ticks a quarter of the time: one worker more uses it.
ONE_MORE = "--numprocesses=" + str(min((os.cpu_count() or 1) + 1, 8))
# Coverage is asked of the code that decides what is released; tracing the other tests would only slow them.
EXACT = [
    *("src/dpselect/exact", "src/dpselect/selection", "src/dpselect/privacy"),
    *("tests/exact", "tests/selection", "tests/privacy"),
    *(
        "tests/mechanisms/test_" + what + ".py"
        for what in ("counts", "gaps", "laplace", "laws", "refusals", "series", "repetition_counts")
    ),
]
COVERED = Step("pytest, exactness", [*PYTEST, "--cov", *EXACT])
OTHERS = Step("pytest, the rest", [*PYTEST, ONE_MORE, *("--ignore=" + part for part in EXACT)])
SLOW = Step("pytest", [*PYTEST, "-m", "slow"])
DOCS = Step("pytest", ["-m", "pytest", "tests/repository/test_readme_runs.py"])

VERBS = {
    "demo": Verb("", [Step("demo", ["-m", "dpselect", "demo"])], "the main job, on a made-up election"),
    "studio": Verb(
        "studio", [Step("studio", ["-m", "dpselect", "studio", "--demo"])], "the pages, on made-up data"
    ),
    "test": Verb("dev", [RULES, FORMAT, TYPES, COVERED, OTHERS], "lint, check types, run the tests"),
    "lint": Verb("dev", [RULES, FORMAT], "rules and format (ruff)"),
    "types": Verb("dev", [TYPES], "types (mypy, strict)"),
    "slow": Verb("dev", [SLOW], "the tests that take long"),
    "bench": Verb("dev", [Step("benchmarks", ["-m", "benchmarks"])], "how fast it is on this machine"),
    "docs": Verb("dev", [DOCS], "run the code in README and docs, and follow their links"),
    "reviewed": Verb(
        "",
        [Step("reviewed", ["-m", "dpselect.audit.proofs"])],
        "NAME: record that the proof of NAME was read against its code",
    ),
    "renamed": Verb(
        "",
        [Step("renamed", ["-m", "dpselect.audit.renames"])],
        "MAP.json: record the proofs whose code has changed in nothing but names",
    ),
}
WITHOUT_ARGUMENTS = ("lint", "types", "docs")
WITH_ONE_ARGUMENT = {"reviewed": "NAME", "renamed": "MAP.json"}

# The first words of those lines of pip and uv that tell how far they are.
WORTH_SHOWING = ("Obtaining", "Collecting", "Downloading", "Building", "Installing", "Resolved", "Prepared")


class Installer(NamedTuple):
    """A way to fill ``.venv``: the command that makes it, and the one that installs a requirement in it."""

    name: str
    make: "list[str]"
    install: "list[str]"


class SetupError(Exception):
    """What stands between this checkout and a working ``.venv``, and what to do about it."""


def main(words: "list[str]") -> int:
    """Run the verb that the words ask for; return the exit code."""
    too_old = complaint(sys.version_info[:3])
    if too_old:
        print(too_old, file=sys.stderr)
        return 1
    misread = misreading(words)
    if misread:
        print(misread, file=sys.stderr)
        return 2
    verb, arguments = VERBS[words[0]], words[1:]
    try:
        if not is_ready(CHECKOUT, verb.extra):
            set_up(CHECKOUT, verb.extra, installers(CHECKOUT))
        return run_steps(planned(words[0], arguments))
    except SetupError as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130


def complaint(version: "tuple[int, ...]") -> "str | None":
    """Say what to do about a Python that is too old; None when it is not."""
    if version >= OLDEST:
        return None
    return (
        f"dpselect needs Python {OLDEST[0]}.{OLDEST[1]} or newer; "
        f"this is Python {'.'.join(str(part) for part in version)}. "
        "Install a newer one (from python.org, your package manager, or `uv python install 3.13`), "
        "then call it by its name: python3.13 run.py demo"
    )


def misreading(words: "list[str]") -> "str | None":
    """Say how to call this file, when it was called otherwise; None when the words make sense."""
    if not words or words[0] not in VERBS:
        got = f"got '{words[0]}'" if words else "got none"
        verbs = "\n".join(f"  {name:10}{verb.purpose}" for name, verb in VERBS.items())
        return f"python3 run.py takes a verb; {got}. The verbs:\n{verbs}"
    if words[0] in WITH_ONE_ARGUMENT and len(words) != 2:
        what = WITH_ONE_ARGUMENT[words[0]]
        return f"{words[0]} takes one {what}; got {len(words) - 1}. Call: python3 run.py {words[0]} {what}"
    if words[0] in WITHOUT_ARGUMENTS and len(words) > 1:
        return f"{words[0]} takes no arguments; got '{words[1]}'. Call: python3 run.py {words[0]}"
    return None


def planned(name: str, arguments: "list[str]") -> "list[Step]":
    """List the steps of a verb, the arguments handed to the last of them."""
    *before, last = VERBS[name].steps
    if name == "test" and arguments:
        # Some of the tests cannot cover all of the code: coverage is asked of the whole run only.
        before, last = [RULES, FORMAT, TYPES], Step("pytest", PYTEST)
    return [*before, Step(last.name, last.arguments + arguments)]


def run_steps(steps: "list[Step]") -> int:
    """Run every step, also after one that failed; return the exit code of the first that did."""
    python = str(python_in(CHECKOUT))
    codes, summary = [], []
    for step in steps:
        if len(steps) > 1:
            print(f"--- {step.name}", flush=True)
        started = time.monotonic()
        with tempfile.TemporaryDirectory(dir=fast_folder() if "pytest" in step.arguments else None) as folder:
            Path(folder).chmod(0o711)  # a server of the tests runs as another user
            count = Path(folder, "skipped")
            env = dict(environment(), **{SKIPPED: str(count)})
            if "pytest" in step.arguments:
                env["TMPDIR"] = folder
            codes.append(subprocess.call([python, *step.arguments], cwd=str(CHECKOUT), env=env))
            skipped = f", {count.read_text(encoding='utf-8')} skipped" if count.exists() else ""
        verdict = "FAILED" if codes[-1] else "ok"
        summary.append(f"{step.name} {verdict} ({time.monotonic() - started:.0f} s{skipped})")
    if len(steps) > 1:
        print("--- " + ", ".join(summary), flush=True)
    return next((code for code in codes if code), 0)


def fast_folder() -> "str | None":
    """Name a place for the files of tests, many thousands, where making and removing one takes no time."""
    if Path(MEMORY).is_dir() and shutil.disk_usage(MEMORY).free >= SPARE_BYTES:
        return MEMORY
    return None


def environment() -> "dict[str, str]":
    """Return the environment without what would let packages of other places in, or send ours there."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return dict(kept, PIP_USER="0", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")


# ---- .venv -----------------------------------------------------------------------------------------------


def python_in(checkout: Path) -> Path:
    """Return the path of the Python of ``.venv``."""
    return checkout / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def stamp_in(checkout: Path) -> Path:
    """Return the path of the stamp, which is there only while ``.venv`` is finished."""
    return checkout / ".venv" / "dpselect-setup.json"


def read_stamp(checkout: Path) -> "dict[str, str]":
    """Read what ``.venv`` was built from; nothing when it is missing or not finished."""
    try:
        text = stamp_in(checkout).read_text(encoding="utf-8")
    except OSError:
        return {}
    return dict(json.loads(text))


def write_stamp(checkout: Path, extra: str, installer: str) -> None:
    """Record what ``.venv`` was built from: the last act of an installation."""
    stamp = dict(ingredients(checkout), extra=extra, installer=installer)
    unfinished = stamp_in(checkout).with_suffix(".new")
    unfinished.write_text(json.dumps(stamp, indent=1), encoding="utf-8")
    unfinished.replace(stamp_in(checkout))


def ingredients(checkout: Path) -> "dict[str, str]":
    """Say what an installation depends on: the Python, the place, Java, the packaging of pyproject."""
    import tomllib  # noqa: PLC0415  an old Python has none and must get as far as its complaint

    with (checkout / "pyproject.toml").open("rb") as file:
        tables = tomllib.load(file)
    packaging = [tables.get("build-system"), tables["project"], tables.get("tool", {}).get("hatch")]
    return {
        "python": sys.base_prefix + " " + sys.version,
        "checkout": str(checkout),
        "java": str(has_java()),
        "project": hashlib.sha256(json.dumps(packaging, sort_keys=True).encode()).hexdigest(),
    }


def is_ready(checkout: Path, extra: str) -> bool:
    """Tell whether ``.venv`` was finished from the same ingredients and holds the extra."""
    stamp = read_stamp(checkout)
    same = all(stamp.get(name) == value for name, value in ingredients(checkout).items())
    return same and (extra in ("", stamp["extra"]) or stamp["extra"] == ALL) and python_in(checkout).exists()


def installers(checkout: Path) -> "list[Installer]":
    """List the installers of this machine, the preferred one first; there must be one."""
    python = str(python_in(checkout))
    found = []
    if shutil.which("uv"):
        make = ["uv", "venv", "--python", sys.executable, ".venv"]
        found.append(Installer("uv", make, ["uv", "pip", "install", "--python", python]))
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if not missing:
        make = [sys.executable, "-m", "venv", ".venv"]
        found.append(Installer("pip", make, [python, "-m", "pip", "install", "--progress-bar", "off"]))
    if not found:
        raise SetupError(
            f"Python must have its module {missing[0]} to make .venv; {sys.executable} has none. "
            "On Debian and Ubuntu: sudo apt install python3-venv. Elsewhere: install Python from "
            "python.org, or install uv. Then run the same command again."
        )
    return found


def set_up(checkout: Path, extra: str, installers: "list[Installer]") -> None:
    """Bring ``.venv`` up to date with the first installer that can."""
    print(f"Setting up {checkout / '.venv'}: the first time, and when its ingredients change.", flush=True)
    started = time.monotonic()
    before, now = read_stamp(checkout), ingredients(checkout)
    same_base = all(before.get(name) == now[name] for name in ("python", "checkout"))
    keeper = before.get("installer") if same_base and python_in(checkout).exists() else None
    if before:
        stamp_in(checkout).unlink()  # from here to the last line .venv is not to be trusted
    problems = []
    for installer in sorted(installers, key=lambda installer: installer.name != keeper):
        try:
            if installer.name != keeper and throw_away(checkout):
                watch("making .venv", installer.make, checkout)
            watch("installing", [*installer.install, "--editable", requirement(extra)], checkout)
        except SetupError as problem:
            print(f"{installer.name} could not do it.", flush=True)
            problems.append(str(problem))
        else:
            write_stamp(checkout, extra, installer.name)
            print(f"Set up by {installer.name} in {time.monotonic() - started:.0f} s.", flush=True)
            return
    problems.append("Nothing was installed. Is the network there? Then run the same command again.")
    raise SetupError("\n\n".join(problems))


def requirement(extra: str) -> str:
    """Name what is installed; a developer gets Spark too, where there is the Java that it needs."""
    if not extra:
        return "."
    return f".[{extra},spark]" if extra == "dev" and has_java() else f".[{extra}]"


def has_java() -> bool:
    """Tell whether this machine has a Java to run Spark with."""
    return shutil.which("java") is not None


def throw_away(checkout: Path) -> bool:
    """Remove ``.venv``, unless this very Python runs in it; tell whether a new one must be made."""
    venv = checkout / ".venv"
    if Path(sys.prefix).resolve() == venv.resolve():
        return False
    if venv.exists():
        shutil.rmtree(str(venv))
    return True


def watch(doing: str, command: "list[str]", checkout: Path) -> None:
    """Run a command and show that it lives; if it fails, raise with the end of what it said."""
    said: list[str] = []
    with subprocess.Popen(
        command,
        cwd=str(checkout),
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        errors="replace",
    ) as process:

        def listen() -> None:
            for line in process.stdout or ():
                said.append(line.strip())  # noqa: PERF401  one by one, while they are being shown

        ear = threading.Thread(target=listen)
        ear.start()
        try:
            narrate(doing, said, ear)
        except BaseException:
            process.terminate()
            raise
        finally:
            ear.join()
        code = process.wait()
    if code:
        raise SetupError("\n".join([*said[-15:], f"Failed: {' '.join(command)}"]))


def narrate(doing: str, said: "list[str]", ear: threading.Thread) -> None:
    """Show what was said last, and for how long it has been going on, until nothing more will be said."""
    started = shown_at = time.monotonic()
    shown, on_screen = "", sys.stdout.isatty()
    while ear.is_alive():
        ear.join(0.1)
        now = time.monotonic()
        news = next((line for line in reversed(said[-50:]) if line.split(" ")[0] in WORTH_SHOWING), doing)
        line = f"  {now - started:3.0f} s  {news.split(' (from')[0]}"
        if on_screen:
            print("\r" + line[:78].ljust(78), end="", flush=True)
        elif news != shown or now - shown_at > 5:
            print(line[:110], flush=True)
            shown, shown_at = news, now
    if on_screen:
        print("\r" + " " * 78 + "\r", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
