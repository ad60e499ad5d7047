"""Which files a source means: a file, a glob, a folder, or a list of these; of which format they are.

The files of a folder are those below it, without what is hidden: names that begin with a point or an
underscore. Folders in it that are called ``key=value`` (hive partitions) give a column ``key`` of text, in
which every row of their files has the value. The value stands in the path as URLs write it; the empty one and
``__HIVE_DEFAULT_PARTITION__`` are NULL. That is a function of the path alone: no type is guessed from values.
"""

from __future__ import annotations

import glob as globs
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes

from dpselect.engines.reading import Reading
from dpselect.errors import SHOWN_CHARACTERS, InvalidParameter, shown
from dpselect.silence import run_or_none

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "json",
    ".ndjson": "json",
    ".jsonl.gz": "json",
    ".ndjson.gz": "json",
    ".duckdb": "database",
    ".ddb": "database",
    ".db": "database",
}
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers")
"""Files of spreadsheets, which no engine reads."""
IN_FOLDERS = ("csv", "parquet")
"""What a folder may hold."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
KEPT_ELSEWHERE = {"_delta_log": "a Delta table", ".hoodie": "a Hudi table"}
"""Folders in which others say which files of a table are still its own."""

Partitions = tuple[tuple[str, str | None], ...]
"""The keys of a file's folders, and their values."""


@dataclass(frozen=True)
class FoundFiles:
    """Files by their full paths, each once, and their format."""

    paths: tuple[str, ...]
    form: str
    keys: tuple[str, ...] = ()
    values: tuple[tuple[str | None, ...], ...] = ()
    """For each key, the value of each file."""
    folder: str | None = None
    """The folder that they were found in, if one was given alone."""


def found_files(source: str | Sequence[str], reading: Reading) -> FoundFiles:
    """Find the files of a path, a glob or a folder, or of several; refuse what is no table."""
    given = [source] if isinstance(source, str) else list(source)
    if not given:
        raise _no_table("name at least one file; the list is empty.")
    found: list[tuple[str, Partitions]] = []
    first: dict[tuple[int, int], int] = {}
    for place, each in enumerate(given, start=1):
        words = _end_of(each) if isinstance(source, str) else f"path {place} of {len(given)}"
        for path, partitions in _below(each, words):
            identity = _identity(path)
            if identity not in first:
                found.append((path, partitions))
            if first.setdefault(identity, place) != place:
                raise _no_table(
                    f"name each file once; {shown(Path(path).name)} is named twice: its rows "
                    "would count twice. Leave one out."
                )
    in_folders = [each for each in given if Path(each).is_dir()]
    form = _format([path for path, _ in found], given, reading, in_folders=bool(in_folders))
    keys = {tuple(key for key, _ in partitions) for _, partitions in found}
    if len(keys) != 1:
        raise _no_table(
            "be files of the same partitions (folders called key=value); theirs differ. Name "
            "those that have the same, or name files by a glob: they have no partitions then."
        )
    values = tuple(
        tuple(value for _, value in column) for column in zip(*(each for _, each in found), strict=True)
    )
    folder = str(Path(given[0]).resolve()) if in_folders and len(given) == 1 else None
    return FoundFiles(tuple(path for path, _ in found), form, keys.pop(), values, folder)


def format_of(paths: Sequence[str], *, said_to_be_csv: bool) -> str | None:
    """Give the one format of files, None if there is none; text is a CSV where an option says so."""
    forms = {_form(path, said_to_be_csv=said_to_be_csv) for path in paths}
    return forms.pop() if len(forms) == 1 else None


def _no_table(words: str) -> InvalidParameter:
    """Say what a source must be."""
    return InvalidParameter(f"source must {words}", parameter="source")


def _below(path: str, words: str) -> list[tuple[str, Partitions]]:
    """List the files that a path means, in order, with the partitions that they lie in."""
    if Path(path).is_file():
        return [(str(Path(path).resolve()), ())]
    if Path(path).is_dir():
        return _in_folder(path, words)
    matched = globs.glob(path, recursive=True)  # noqa: PTH207 - Path.glob has no absolute patterns
    files = sorted({str(Path(each).resolve()) for each in matched if Path(each).is_file()})
    if not files and matched:
        raise _no_table(
            f"be files, or folders by their names; {words} matches folders alone. Name the "
            "folder above them, or a list of folders."
        )
    if not files:
        raise _no_table(f"be a file that is there; got {words}. Check the path and its spelling.")
    return [(each, ()) for each in files]


def _in_folder(folder: str, words: str) -> list[tuple[str, Partitions]]:
    found = sorted(_walked(folder, ()))
    if not found:
        raise _no_table(f"be a folder with CSV or Parquet files in it; there is none in {words}.")
    return [(str(Path(path).resolve()), partitions) for path, partitions in found]


def _walked(folder: str, above: Partitions) -> Iterator[tuple[str, Partitions]]:
    """Give each file below a folder, in order."""
    entries = run_or_none(lambda: sorted(os.listdir(folder)))  # noqa: PTH208 - names are all that is wanted
    if entries is None:
        raise _no_table(
            f"be a folder in which you may read everything; {shown(Path(folder).name)} you may "
            "not. Ask for the right to."
        )
    for name, what in KEPT_ELSEWHERE.items():
        if name in entries:
            raise _no_table(
                f"be a folder whose files are all of the table; this one is {what}, which also "
                "keeps files of rows that were removed. Hand over a frame that reads it."
            )
    for name in entries:
        path = Path(folder, name)
        if name[0] == "." or (name[0] == "_" and "=" not in name):
            continue
        if path.is_file():
            yield str(path), above
        elif path.is_dir() and not path.is_symlink():
            yield from _walked(str(path), (*above, *_partition(name)))
        else:
            raise _no_table(
                f"be a folder of files and folders; {shown(name)} in it is a link to a folder "
                "or to nothing, or a pipe. Move it away, or name it beside the folder."
            )


def _partition(name: str) -> Partitions:
    """Read ``key=value``; a folder of another name is none."""
    key, sign, value = name.partition("=")
    if not (key and sign):
        return ()
    return ((_plain(key), None if value in ("", NO_VALUE) else _plain(value)),)


def _plain(text: str) -> str:
    r"""Undo what URLs do to text; bytes that are no letter are written as ``\xff``, and so is NUL."""
    return unquote_to_bytes(os.fsencode(text)).decode("utf-8", "backslashreplace").replace("\0", r"\x00")


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)  # noqa: PTH116 - as it was listed
    return found.st_dev, found.st_ino


def _format(paths: Sequence[str], given: Sequence[str], reading: Reading, *, in_folders: bool) -> str:
    form = format_of(paths, said_to_be_csv=reading.is_of_csv)
    if form in IN_FOLDERS or (form is not None and not in_folders):
        return form
    if in_folders:
        suffixes = sorted({_suffix(path) or Path(path).name for path in paths})
        shown_ones = ", ".join(shown(each) for each in suffixes[:4]) + (", …" if len(suffixes) > 4 else "")
        raise _no_table(
            f"be a folder of CSV files or of Parquet files alone; it has {shown_ones}. Move the "
            "others away, or name the files by a glob, such as 'folder/*.csv'."
        )
    got = shown(Path(given[0]).name) if len(given) == 1 else "several"
    sheet = "Save it as CSV. " if _suffix(given[0]) in SHEETS else ""
    raise _no_table(
        f"be files of one known format; got {got}. {sheet}"
        f"The name must end in one of: {', '.join(FORMATS)}; or in .txt, with separator= or encoding=."
    )


def _form(path: str, *, said_to_be_csv: bool) -> str | None:
    known = {**FORMATS, ".txt": "csv", ".txt.gz": "csv"} if said_to_be_csv else FORMATS
    return known.get(_suffix(path))


def _suffix(path: str) -> str:
    name = Path(path).name.lower()
    return "".join(Path(name).suffixes[-2:]) if name.endswith(".gz") else Path(name).suffix


def _end_of(path: str) -> str:
    return repr(path if len(path) <= SHOWN_CHARACTERS else f"…{path[1 - SHOWN_CHARACTERS :]}")
