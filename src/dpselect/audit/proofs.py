"""Proofs bound to code: a proof lies beside its module and names the digest of the code that was read.

``python3 run.py reviewed NAME`` records the digest, once a reader has read code and proof together.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpselect.errors import InvalidParameter

PACKAGE = Path(__file__).parents[1]
Span = tuple[tuple[int, int], tuple[int, int]]
"""From (row, column) to (row, column): rows from 1, columns from 0."""

FIELDS = frozenset({"proves", "digest", "relies on", "tested by"})
_FIELD = re.compile(r"^(proves|digest|relies on|tested by): *(.*)$", re.MULTILINE)
_DIGEST = re.compile(r"^digest:.*$", re.MULTILINE)


@dataclass(frozen=True)
class Proof:
    """One ``*.proof.md``: what it proves, of which code, resting on what."""

    path: Path
    proves: str
    recorded: str
    relies_on: tuple[str, ...]
    tested_by: tuple[str, ...]

    @property
    def code(self) -> Path:
        """The module beside the proof."""
        return self.path.with_name(self.path.name.removesuffix(".proof.md") + ".py")

    @property
    def digest(self) -> str:
        """The digest of the code as it is now."""
        return digest(self.code.read_text(encoding="utf-8"))

    @property
    def complaint(self) -> str | None:
        """What to do if the code has moved since it was read."""
        if self.digest == self.recorded:
            return None
        name = self.code.stem
        return f"{self.proves} changed: read its proof again, then record it: python3 run.py reviewed {name}"


def proofs(package: Path = PACKAGE) -> Iterator[Proof]:
    """Find every proof of the package."""
    for path in sorted(package.rglob("*.proof.md")):
        head = dict(_FIELD.findall(path.read_text(encoding="utf-8").split("\n---\n")[0]))
        missing = FIELDS - head.keys()
        if missing:
            raise InvalidParameter(f"{path.name} must begin with {', '.join(sorted(missing))}.")
        yield Proof(
            path, head["proves"], head["digest"], _names(head["relies on"]), _names(head["tested by"])
        )


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def digest(source: str) -> str:
    """Give the SHA-256 of the code: comments, docstrings, blank lines and trailing space do not count.

    They are cut out by position and nothing is printed anew, so every version of Python agrees.

    >>> digest("x = 1  # one") == digest("x = 1")
    True
    """
    lines = source.split("\n")
    for (row, column), (last_row, end) in sorted(
        [*_docstrings(source, lines), *_comments(source)], reverse=True
    ):
        remains = lines[row - 1][:column] + lines[last_row - 1][end:]
        lines[row - 1 : last_row] = [remains, *[""] * (last_row - row)]
    code = "\n".join(line.rstrip() for line in lines if line.strip())
    return hashlib.sha256(code.encode()).hexdigest()


def _docstrings(source: str, lines: list[str]) -> Iterator[Span]:
    """Find every statement that is only a string. The tree counts columns in bytes, we in characters."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str()), end_lineno=int(last), end_col_offset=int(end)):
                first = node.lineno
                start = len(lines[first - 1].encode()[: node.col_offset].decode())
                yield (first, start), (last, len(lines[last - 1].encode()[:end].decode()))


def _comments(source: str) -> Iterator[Span]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start, token.end


def reviewed(name: str, package: Path = PACKAGE) -> str:
    """Record that code and proof were read together; give the digest."""
    for proof in proofs(package):
        if name in (proof.code.stem, proof.proves):
            text = proof.path.read_text(encoding="utf-8")
            proof.path.write_text(_DIGEST.sub(f"digest: {proof.digest}", text, count=1), encoding="utf-8")
            return proof.digest
    known = ", ".join(proof.code.stem for proof in proofs(package))
    raise InvalidParameter.must_be("NAME", "a module with a proof", got=name, way_out=f"There are: {known}.")


if __name__ == "__main__":
    try:
        sys.stdout.write(f"recorded {reviewed(sys.argv[1])}\n")
    except InvalidParameter as refused:
        sys.exit(str(refused))
