"""Disks as a power cut leaves them: what recorder.c wrote down, replayed up to a moment.

What was synced before the cut is there. Of what was not synced, a disk may have all, nothing, some, or half
of a write. Names of files (new ones, links, renames, removals) are there at once, as in the journal of a file
system.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

SECTOR = 512
HOWS = ("all", "nothing", "log alone", "some")
"""What of that which was not synced a disk may have."""


class Op(NamedTuple):
    """What was done to a file: made (c), written, cut (t), synced, linked, moved (m), or unlinked (u)."""

    what: str
    name: str
    offset: int
    data: bytes
    recorded: int
    """Bytes of the record up to its end."""


@dataclass
class Disk:
    """A file as a disk has it: what is safe, and what may still be lost."""

    safe: bytearray = field(default_factory=bytearray)
    waiting: list[Op] = field(default_factory=list)

    def after(self, kept: Iterable[Op]) -> bytes:
        found = bytearray(self.safe)
        for op in kept:
            _apply(found, op)
        return bytes(found)


def _apply(content: bytearray, op: Op) -> None:
    if op.what == "t":
        del content[op.offset :]
        content.extend(bytes(op.offset - len(content)))
        return
    content.extend(bytes(max(0, op.offset - len(content))))
    content[op.offset : op.offset + len(op.data)] = op.data


def recorded(record: Path, folder: Path) -> Iterator[Op]:
    """Read what was written down about the files of a folder; they are named from there on."""
    data, at = record.read_bytes(), 0

    def name(path: bytes) -> str:
        return str(Path(path.decode()).relative_to(folder))

    while at < len(data):
        what = chr(data[at])
        length, offset, size = struct.unpack_from("=3q", data, at + 1)
        path = data[at + 25 : at + 25 + length]
        at += 25 + length + size
        written = data[at - size : at]
        yield Op(what, name(path), offset, name(written).encode() if what in "lm" else written, at)


def written(story: Iterable[Op], before: Path | None = None) -> tuple[dict[str, Disk], set[str]]:
    """Give the files as disks have them after a story, and which are gone. ``before`` holds earlier ones."""
    disks: dict[str, Disk] = {}
    gone: set[str] = set()

    def is_file(name: str) -> bool:
        return before is not None and name not in gone and (before / name).is_file()

    def disk(name: str) -> Disk:
        if name not in disks:
            disks[name] = Disk(bytearray((before / name).read_bytes() if before and is_file(name) else b""))
            gone.discard(name)
        return disks[name]

    for op in story:
        if op.what == "u":
            disks.pop(op.name, None)
            gone.add(op.name)
        elif op.what in "lm":
            other = op.data.decode()
            disks[op.name] = disk(other)
            gone.discard(op.name)
            if op.what == "m":
                del disks[other]
                gone.add(other)
        elif op.what == "s":
            if op.name in disks or is_file(op.name):
                found = disk(op.name)
                found.safe, found.waiting = bytearray(found.after(found.waiting)), []
        else:
            disk(op.name).waiting.extend([op] if op.what in "wt" else [])
    return disks, gone


def coins(name: str) -> Iterator[int]:
    """Give numbers below 256 that are the same in every run."""
    number = 0
    while True:
        yield from hashlib.sha256(f"{name} {number}".encode()).digest()
        number += 1


def kept(disk: Disk, how: str, dice: Iterator[int], *, is_log: bool = False, torn: bool = True) -> list[Op]:
    """Choose what a disk has of the writes that were not synced."""
    if how == "all" or (how == "log alone" and is_log):
        return disk.waiting
    if how in ("nothing", "log alone"):
        return []
    some = [op for op in disk.waiting if next(dice) < 128]
    if some and torn and some[-1].what == "w":
        half = SECTOR * (next(dice) % (len(some[-1].data) // SECTOR + 1))
        some[-1] = some[-1]._replace(data=some[-1].data[:half])
    return some
