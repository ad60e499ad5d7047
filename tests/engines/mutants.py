"""Broken copies of a file of each format, and a process that is asked about them."""

import gzip
import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

CANARY = "8675309"
FORMATS = ("csv", "csv.gz", "parquet", "arrow", "feather", "jsonl", "duckdb", "believed.duckdb", "db")
"""A ``db`` is the bytes of a Parquet file under the name of a database: a wrong one. A ``believed.duckdb`` is
a database whose checksums are right again, so that DuckDB believes what was changed."""
HEADER_BYTES, HEADERS, BLOCK_BYTES = 4096, 3, 262144
"""How a DuckDB database begins, and what follows: each part after a checksum of 8 bytes."""
LATE_SECONDS = 150
"""More than opening and one query of a small database may take together."""
CHILD = f"""
import contextlib, gzip, io, sys
from dpselect.cli.runner import run_command

def header(path):
    # The first line of a CSV is public, also where its end was lost and rows follow in it.
    with contextlib.suppress(Exception), (gzip.open if path.endswith("gz") else open)(path, "rb") as file:
        return file.readline().decode(errors="replace") if ".csv" in path else ""
    return ""

for path in map(str.strip, sys.stdin):
    words = ["vote", path, "--unit", "guest", "--choice", "dish", "--candidates", "tea,pie", "--epsilon", "1"]
    words += ["--columns", "guest:text,dish:text"] if path.endswith("jsonl") else []
    words += ["--table", "ballots"] if path.endswith("db") else []
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = run_command(words)
    except BaseException as error:
        code = "raised " + type(error).__name__
    shown = "{CANARY}" in said.getvalue() and "{CANARY}" not in header(path)
    leaked = shown or "Traceback" in said.getvalue()
    print("leaked" if leaked else code, flush=True)
"""


def original(form: str, folder: Path) -> bytes:
    """Write a good file of a format, and give its bytes."""
    dishes = ["tea", "pie", f"SSN {CANARY}"]
    rows = [(f"{CANARY}-{i}", dishes[i % 3], i / 7) for i in range(300)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("guest", "dish", "stars"))}
    text = "guest,dish,stars\n" + "".join(f'{guest},"{dish}",{stars}\n' for guest, dish, stars in rows)
    table, path = pa.table(columns), folder / f"original.{form}"
    if form == "csv":
        path.write_text(text, encoding="utf-8")
    elif form == "csv.gz":
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    elif form in ("parquet", "db"):
        pyarrow.parquet.write_table(table, path, row_group_size=100)
    elif form == "arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
    elif form == "feather":
        pyarrow.feather.write_feather(table, path, compression="zstd")
    elif form == "jsonl":
        lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        with duckdb.connect(str(path)) as connection:
            connection.register("given", table)
            connection.execute("CREATE TABLE ballots AS SELECT * FROM given")
    return path.read_bytes()


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Change, insert, remove or repeat some bytes, or cut the file short."""
    bytes_, place = bytearray(content), chance.randrange(len(content))
    length = chance.choice([1, 1, 2, 4, 8, 64, 1000])
    match chance.randrange(6):
        case 0:
            for _ in range(length):
                bytes_[chance.randrange(len(bytes_))] = chance.randrange(256)
        case 1:
            del bytes_[place : place + length]
        case 2:
            del bytes_[place:]
        case 3:
            bytes_[place:place] = chance.randbytes(length)
        case 4:
            extremes = [b"\xff" * 8, bytes(8), (2**31 - 1).to_bytes(8, "little"), (2**63).to_bytes(8, "big")]
            bytes_[place : place + 8] = chance.choice(extremes)
        case _:
            other = chance.randrange(len(bytes_))
            bytes_[place : place + length] = bytes_[other : other + length]
    return bytes(bytes_)


def believed(content: bytes, chance: random.Random) -> bytes:
    """Change what is used of one header or block of a DuckDB database, and its checksum with it."""
    parts = [(at, at + HEADER_BYTES) for at in range(0, HEADERS * HEADER_BYTES, HEADER_BYTES)]
    parts += [(at, at + BLOCK_BYTES) for at in range(HEADERS * HEADER_BYTES, len(content), BLOCK_BYTES)]
    first, last = chance.choice(parts)
    used = content[first + 8 : last].rstrip(b"\0") + bytes(8)
    changed = mutated(used, chance)[: last - first - 8].ljust(last - first - 8, b"\0")
    return content[:first] + checksum(changed) + changed + content[last:]


def checksum(content: bytes) -> bytes:
    """Give the checksum of DuckDB's format: products modulo 2**64 of words, joined by exclusive or."""
    products = np.frombuffer(content, "<u8") * np.uint64(0xBF58476D1CE4E5B9)
    return (int(np.bitwise_xor.reduce(products)) ^ 5381).to_bytes(8, "little")


def verdicts(form: str, count: int, folder: Path, seed: int = 0) -> Counter[str]:
    """Ask about ``count`` broken copies; give how often each exit code, signal or leak was seen."""
    content, chance = original(form, folder), random.Random(seed)
    seen: Counter[str] = Counter()
    left, changed = count, believed if form.startswith("believed") else mutated
    while left:
        with subprocess.Popen(
            [sys.executable, "-c", CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        ) as child:
            if child.stdin is None or child.stdout is None:
                raise RuntimeError
            while left:
                path = folder / f"copy.{form}"
                path.write_bytes(changed(content, chance))
                begun = time.monotonic()
                child.stdin.write(f"{path}\n")
                left -= 1
                if not (verdict := child.stdout.readline().strip()):
                    break
                seen[verdict if time.monotonic() < begun + LATE_SECONDS else "late"] += 1
            else:
                break
        seen[f"died: {child.returncode}"] += 1
    return seen
