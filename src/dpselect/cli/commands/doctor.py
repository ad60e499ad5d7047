"""The command ``doctor``: what of the optional world is found on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from dpselect import __version__
from dpselect.cli import console
from dpselect.cli.declaration import command, examples

CORE = ["numpy", "python-flint", "duckdb", "sqlglot", "click", "rich"]
EXTRAS = {
    "arrow": ("pyarrow", "Arrow files, Polars tables"),
    "plot": ("matplotlib", "plots"),
    "postgres": ("psycopg", "tables and ledgers in PostgreSQL"),
    "spark": ("pyspark", "--engine spark"),
    "studio": ("starlette", "dpselect studio"),
}
SOCKETS = ["/var/run/postgresql", "/run/postgresql", "/tmp"]  # noqa: S108 - where PostgreSQL puts its sockets
PORT = 5432
"""The port of a PostgreSQL server, unless it was told another."""


@command(name="doctor", epilog=examples("doctor", "doctor --json"))
@click.option("--json", "as_json", is_flag=True, help="Write JSON (docs/reference/json.md).")
def doctor_command(*, as_json: bool) -> None:
    """Say which extras, Java and PostgreSQL servers are found.

    Nothing is read, sent or changed; servers are only looked for on this machine.
    """
    with console.working("looking around"):
        facts = _facts()
    if as_json:
        console.write_json(facts)
        return
    console.write_facts({"dpselect": f"{facts['version']} on Python {facts['python']}, {facts['platform']}"})
    rows = [[name, found or "missing", ""] for name, found in facts["core"].items()]
    rows += [
        [f"[{extra}]", each["version"] or f"not installed: pip install 'dpselect[{extra}]'", each["for"]]
        for extra, each in facts["extras"].items()
    ]
    rows.append(["Java", facts["java"] or "not found: install Java 17 or newer", "--engine spark"])
    servers = ", ".join(facts["postgres"]["servers"]) or "none is listening on this machine"
    rows.append(["PostgreSQL", servers, "running servers"])
    rows.append(["", facts["postgres"]["programs"] or "not installed: apt install postgresql", "programs"])
    console.write_table(["what", "found", "for"], rows, right=())


def _facts() -> dict[str, Any]:
    import platform

    return {
        "version": __version__,
        "python": platform.python_version(),
        "platform": sys.platform,
        "core": {name: _version(name) for name in CORE},
        "extras": {
            extra: {"package": package, "version": _version(package), "for": purpose}
            for extra, (package, purpose) in EXTRAS.items()
        },
        "java": _java(),
        "postgres": {"servers": _servers(), "programs": _programs()},
    }


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _java() -> str | None:
    import shutil
    import subprocess

    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{home}/bin") if home else None
    program = program or shutil.which("java")
    if program is None:
        return None
    try:
        asked = subprocess.run(  # noqa: S603 - Java, as the path has it
            [program, "-version"], check=False, capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (asked.stderr or asked.stdout).strip().splitlines()
    return lines[0] if asked.returncode == 0 and lines else None


def _servers() -> list[str]:
    import socket

    found = [
        str(path)
        for folder in SOCKETS
        if Path(folder).is_dir() and not Path(folder).is_symlink()
        for path in sorted(Path(folder).glob(".s.PGSQL.*"))
        if path.suffix != ".lock"
    ]
    try:
        with socket.create_connection(("127.0.0.1", PORT), timeout=0.5):
            found.append(f"127.0.0.1:{PORT}")
    except OSError:
        pass
    return found


def _programs() -> str | None:
    import shutil

    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    known = [folder for folder in folders if (folder / "initdb").exists()]
    on_path = shutil.which("initdb")
    return str(known[0]) if known else str(Path(on_path).parent) if on_path else None
