"""A folder for rows that an engine cannot hold in memory: ours alone, and gone when we are done.

A process that lives holds a lock on its folder; the system releases it when the process dies, however.
So a folder whose lock can be taken was left behind, and the first folder made by a later process removes it.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import re
import shutil
import tempfile
import weakref
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import TracebackType

from dpselect.errors import SHORTAGES

LOCKED, UNLOCKED = "dpselect-rows-", "dpselect-unlocked-"
SPARE_FILES, SPARE_BYTES = 16, 2**28
"""What must be left for an engine to begin at all: DuckDB aborts where it cannot open or map anything."""
_LEFT = re.compile(rf"{LOCKED}[a-z0-9_]{{8}}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass
class _Folder:
    """A folder while it is made: known before it is there, so that an interrupt leaves none behind."""

    path: str = ""
    lock: int | None = None
    in_use: bool = False


class PrivateFolder:
    """A new folder; it is removed at the end, at the latest when the process ends."""

    def __init__(self) -> None:
        """Make it, after what dead processes left in the same place is gone."""
        _must_have_room()
        _tidy_once(tempfile.gettempdir(), os.getpid())
        folder = _Folder()
        self._end = weakref.finalize(self, _remove, folder, os.getpid())  # before there is one to remove
        _make(folder)
        self.path = folder.path

    def __enter__(self) -> str:
        """Give its path."""
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove it."""
        self._end()


def tidy(place: str) -> None:
    """Remove the folders of ours whose processes are dead, without looking into a file.

    Only what is a folder (no link), bears our kind of name, belongs to this user, and has no living owner.
    """
    with suppress(OSError), os.scandir(place) as entries:
        left = [entry.path for entry in entries if _LEFT.fullmatch(entry.name)]
        for path in left:
            with suppress(OSError):
                _remove_if_left(path)


def _must_have_room() -> None:
    """Refuse, while it is free, what an engine would answer by ending the whole process."""
    mmap.mmap(-1, SPARE_BYTES).close()
    opened: list[int] = []
    try:
        while len(opened) < SPARE_FILES:
            opened.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    finally:
        for each in opened:
            os.close(each)


@cache
def _tidy_once(place: str, process: int) -> None:
    del process
    tidy(place)


def _remove_if_left(path: str) -> None:
    lock = os.open(path, _FOLDER)
    try:
        if os.fstat(lock).st_uid == os.geteuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _must_be_there(path, lock)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)


def _make(folder: _Folder) -> None:
    """Make a folder and lock it; another process that tidies up may remove it before it is locked."""
    while not folder.in_use:
        _make_directory(folder, LOCKED)
        try:
            folder.lock = _locked(folder.path)
            folder.in_use = True
        except (FileNotFoundError, BlockingIOError):
            continue  # removed by another process that tidies up: the next one
        except OSError as error:
            os.rmdir(folder.path)  # noqa: PTH106 - as it was made
            if error.errno in SHORTAGES:
                raise
            # No locks on this file system: no process can tell whether we live, so none may remove it.
            _make_directory(folder, UNLOCKED)
            folder.in_use = True


def _make_directory(folder: _Folder, prefix: str) -> None:
    """Make a directory for its owner alone, under a name that is kept first."""
    while True:
        folder.path = tempfile.mktemp(prefix=prefix)  # noqa: S306 - a name that is taken is refused below
        with suppress(FileExistsError):
            os.mkdir(folder.path, 0o700)  # noqa: PTH102 - as it is removed
            return


def _locked(path: str) -> int:
    """Lock a folder that was just made."""
    lock = os.open(path, _FOLDER)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _must_be_there(path, lock)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _must_be_there(path: str, lock: int) -> None:
    """Refuse a name that does not stand for the folder that is open: a link, or another folder by now."""
    if not os.path.samestat(os.lstat(path), os.fstat(lock)):
        raise FileNotFoundError


def _remove(folder: _Folder, owner: int) -> None:
    """Remove a folder, also if it is interrupted; not from a fork, whose parent still uses it."""
    if os.getpid() != owner:
        return
    try:
        _remove_content(folder)
    except BaseException:
        _remove_content(folder)
        raise
    finally:
        if folder.lock is not None:
            os.close(folder.lock)


def _remove_content(folder: _Folder) -> None:
    """Remove what is there; of a folder that was not finished, only the empty directory."""
    if folder.in_use:
        shutil.rmtree(folder.path, ignore_errors=True)
        return
    with suppress(OSError):
        os.rmdir(folder.path)  # noqa: PTH106 - as it was made
