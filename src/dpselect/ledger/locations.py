"""Which database a path or a URL means: a file on a local disk, or a PostgreSQL database."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from dpselect.errors import InvalidParameter
from dpselect.ledger.database import LedgerDatabase

Place: TypeAlias = str | os.PathLike[str]
"""A path, or a URL that begins with postgresql://."""

POSTGRES_URLS = ("postgresql://", "postgres://")
NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs"}
)
"""File systems whose locks do not hold between machines."""
MOST_BYTES_OF_FILE_NAME = 200
"""The names of companion files (anchor, log) are longer, and systems allow 255 bytes."""


def database_at(place: Place) -> LedgerDatabase:
    """Choose the database for a path or a URL. A database that is not used is not imported."""
    if isinstance(place, str) and place.startswith(POSTGRES_URLS):
        from dpselect.ledger.postgres import PostgresDatabase  # noqa: PLC0415 - needs an extra

        return PostgresDatabase(place)
    from dpselect.ledger.sqlite import SqliteDatabase  # noqa: PLC0415 - not needed with a server

    return SqliteDatabase(local_file(place, "the ledger", instead=" or a URL"))


def local_file(place: Place, name: str, *, instead: str = "") -> Path:
    """Read a path; refuse other values, missing folders and network file systems.

    ``instead`` says what else the caller would have taken.
    """
    url = f",{instead} that begins with postgresql://" if instead else ""
    way_out = f"Write a path such as 'food.ledger'{url}."
    if not isinstance(place, str | os.PathLike) or not isinstance(os.fspath(place), str):
        raise InvalidParameter.must_be(name, f"at a path{instead}", got=place, way_out=way_out)
    text = os.fspath(place)
    if not text or text.startswith(":") or "://" in text or not text.isprintable():
        hidden = text if "@" not in text else "a URL of another kind"
        raise InvalidParameter.must_be(name, f"at a path{instead}", got=hidden, way_out=way_out)
    path = Path(os.path.realpath(text))
    if len(path.name.encode()) > MOST_BYTES_OF_FILE_NAME or path.is_dir() or not path.parent.is_dir():
        raise InvalidParameter.must_be(name, "a file in a folder that is there", got=text, way_out=way_out)
    kind = file_system(path, mounts())
    if kind in NETWORK_FILE_SYSTEMS:
        raise InvalidParameter(
            f"{name} must lie on a local disk; {str(path)!r} is on {kind}, where locks do not hold between "
            "machines. Put it on a local disk, or in PostgreSQL."
        )
    return path


def mounts() -> str:
    """Read the system's table of mounted file systems; empty on systems without one."""
    try:
        return Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def file_system(path: Path, table: str) -> str:
    """Name the kind of file system that holds a path: the deepest mount counts, of equals the last.

    >>> file_system(Path("/data/a.ledger"), "server:/x /data nfs4 rw 0 0")
    'nfs4'
    """
    best, kind = -1, ""
    for row in table.splitlines():
        _, point, found, *_ = [*row.split(" "), "", "", ""]
        folder = Path(point.replace("\\040", " "))
        if path.is_relative_to(folder) and len(folder.parts) >= best:
            best, kind = len(folder.parts), found
    return kind
