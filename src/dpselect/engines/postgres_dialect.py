"""PostgreSQL's SQL with every function, operator, type and collation named by its schema.

PostgreSQL looks names up along ``search_path``, and takes the operator or function whose types fit best,
wherever on the path it is: a user who may create one could otherwise put it in the place of the server's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres

LONGEST_NUMBER = 1000
"""Bytes. No number that the patterns know is as long; and a pattern fails on 256 megabytes of text."""


def _operator(sign: str) -> Callable[[Any, Any], str]:
    return lambda writer, node: writer.binary(node, f"OPERATOR(pg_catalog.{sign})")


def _function(name: str) -> Callable[[Any, Any], str]:
    return lambda writer, node: writer.func(f"pg_catalog.{name}", node.this, normalize=False)


def _called(name: str, *parts: str) -> Callable[[Any, Any], str]:
    return lambda writer, node: writer.func(
        f"pg_catalog.{name}", *(node.args[part] for part in parts), normalize=False
    )


def _matches(writer: Any, node: Any) -> str:
    text, match = writer.sql(node, "this"), _operator("~")(writer, node)
    short = f"pg_catalog.octet_length({text}) OPERATOR(pg_catalog.<=) {LONGEST_NUMBER}"
    return f"CASE WHEN {short} THEN {match} ELSE FALSE END"


def _is_in(writer: Any, node: Any) -> str:
    listed = ", ".join(writer.sql(each) for each in node.expressions)
    return f"{writer.sql(node, 'this')} OPERATOR(pg_catalog.=) ANY (ARRAY[{listed}])"


def _hash(writer: Any, node: Any) -> str:
    """Hash the bytes in UTF-8, and order the digits as such, whatever the database's own ways are."""
    # The encoding of a database in SQL_ASCII is not known: its bytes are taken as they are.
    unknown = "pg_catalog.getdatabaseencoding() OPERATOR(pg_catalog.=) 'SQL_ASCII'"
    encoding = f"CASE WHEN {unknown} THEN 'SQL_ASCII' ELSE 'UTF8' END"
    hashed = f"pg_catalog.convert_to({writer.sql(node, 'this')}, {encoding})"
    return f'pg_catalog.md5({hashed}) COLLATE pg_catalog."C"'


class PostgresByCatalogue(Postgres):
    """PostgreSQL, where no name is looked up."""

    class Generator(Postgres.Generator):  # type: ignore[misc,valid-type]  # a class, kept in a variable
        """Writes the nodes that our queries are made of."""

        TYPE_MAPPING = {  # noqa: RUF012 - as sqlglot has it
            **Postgres.Generator.TYPE_MAPPING,
            exp.DataType.Type.TEXT: "pg_catalog.text",
            exp.DataType.Type.DATE: "pg_catalog.date",
        }
        TRANSFORMS = {  # noqa: RUF012 - as sqlglot has it
            **Postgres.Generator.TRANSFORMS,
            exp.EQ: _operator("="),
            exp.NEQ: _operator("<>"),
            exp.LT: _operator("<"),
            exp.LTE: _operator("<="),
            exp.GT: _operator(">"),
            exp.GTE: _operator(">="),
            exp.Add: _operator("+"),
            exp.Mul: _operator("*"),
            exp.Mod: _operator("%"),
            exp.BitwiseXor: _operator("#"),
            exp.BitwiseAnd: _operator("&"),
            exp.BitwiseRightShift: _operator(">>"),
            exp.DPipe: _operator("||"),
            exp.In: _is_in,
            exp.RegexpLike: _matches,
            exp.MD5: _hash,
            exp.Explode: _function("unnest"),
            exp.Count: _function("count"),
            exp.Min: _function("min"),
            exp.Abs: _function("abs"),
            exp.Translate: _called("translate", "this", "from_", "to"),
            exp.Replace: _called("replace", "this", "expression", "replacement"),
            exp.Trim: _called("btrim", "this", "expression"),
            exp.RowNumber: lambda _writer, _node: "pg_catalog.row_number()",
            exp.Collate: lambda writer, node: (
                f"{writer.sql(node, 'this')} COLLATE pg_catalog.{writer.sql(node, 'expression')}"
            ),
        }


DIALECT = PostgresByCatalogue.__name__.lower()
"""The dialect's name in sqlglot."""
