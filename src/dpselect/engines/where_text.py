"""A filter as a person writes it: SQL's own words, cut into tokens by sqlglot and read by a grammar of ours.

    condition := condition OR condition | condition AND condition | NOT condition | ( condition ) | predicate
    predicate := COLUMN | value OP value | COLUMN IS [NOT] NULL | COLUMN [NOT] IN (literal, ...)
               | COLUMN [NOT] BETWEEN literal AND literal
    value     := COLUMN | literal                 OP := = | <> | != | < | <= | > | >=
    literal   := 'text' | number | TRUE | FALSE | DATE 'text' | TIME 'text' | TIMESTAMP 'text'

There is no other word. What is read is a tree of values of ours: nothing of the text reaches an engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal

from sqlglot import tokenize
from sqlglot.tokenizer_core import Token, TokenType

from dpselect.engines.conditions import (
    MOMENTS,
    Comparison,
    Condition,
    Connection,
    Constant,
    Flag,
    IsNull,
    Membership,
    Name,
    Negation,
    Operator,
    not_a_filter,
)
from dpselect.errors import shown
from dpselect.exact.numbers import rational
from dpselect.silence import run_or_none

LONGEST_FILTER = 10_000
"""Characters of a filter."""
DEEPEST = 50
"""Parentheses and NOTs inside each other."""
MOST_LITERALS = 1_000
"""Literals of a filter."""

OPERATORS: dict[str, Operator] = {
    "=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="
}  # fmt: skip
FLIPPED: dict[Operator, Operator] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TYPED = {TokenType.DATE: "date", TokenType.TIME: "time", TokenType.TIMESTAMP: "timestamp"}
_TRUTHS = {TokenType.TRUE: True, TokenType.FALSE: False}
_RESERVED = re.compile(
    "ALL|ANALYZE|AND|ANY|ARRAY|AS|ASC|BETWEEN|BINARY|CASE|COLLATE|COLUMN|CONSTRAINT|"
    "CREATE|CROSS|CURRENT_CATALOG|CURRENT_DATE|CURRENT_SCHEMA|CURRENT_TIME|CURRENT_TIMESTAMP|"
    "CURRENT_USER|DEFAULT|DESC|DISTINCT|DIV|ELSE|END|ESCAPE|EXCEPT|EXISTS|FALSE|FETCH|FOR|"
    "FROM|FULL|GLOB|GRANT|HAVING|ILIKE|IN|INNER|INTERSECT|INTERVAL|INTO|IS|ISNULL|JOIN|"
    "LATERAL|LEFT|LIKE|LIMIT|LOCALTIME|LOCALTIMESTAMP|NATURAL|NOT|NOTNULL|NULL|OFFSET|ON|"
    "OR|OUTER|OVERLAPS|REFERENCES|REGEXP|RETURNING|RIGHT|RLIKE|SELECT|SESSION_USER|SOME|"
    "TABLE|TABLESAMPLE|THEN|TRUE|UNION|UNIQUE|USING|VALUES|WHEN|WHERE|WINDOW|WITH|XOR",
    re.IGNORECASE,
)
"""Words of SQL: a column of such a name stands in double quotes."""
_NUMBER = re.compile(r"([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
FILTER_WORDS = (
    "A filter has columns, literals, =, <>, <, <=, >, >=, IN, BETWEEN, IS NULL, AND, OR, NOT and parentheses."
)


def parsed(text: object) -> Condition:
    """Read a filter, or refuse it by the name of what is not allowed."""
    if not isinstance(text, str) or not text.strip():
        raise not_a_filter(f"must be a condition on columns, such as \"origin = 'JFK'\"; got {shown(text)}.")
    if len(text) > LONGEST_FILTER:
        raise not_a_filter(f"must have at most {LONGEST_FILTER:,} characters; got {len(text):,}.")
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise not_a_filter("must be text that can be stored: no NUL character, no lone surrogate.")
    tokens = run_or_none(lambda: tokenize(text))
    if tokens is None:
        raise not_a_filter("must be SQL whose quotes are closed; this is not.")
    _must_be_whole(text, tokens)
    reader = _Reader(text, tokens)
    found = reader.condition()
    if reader.left:
        raise not_a_filter(f"must be one condition; {reader.here} is left over after it. {FILTER_WORDS}")
    return found


def _must_be_whole(text: str, tokens: Sequence[Token]) -> None:
    """See that between tokens there is white space alone: a comment is none."""
    place = 0
    for token in [*tokens, None]:
        between = text[place : len(text) if token is None else token.start]
        if between.strip(" \t\r\n") or (token is not None and token.comments):
            raise not_a_filter(f"must not have a comment, or signs that SQL does not know. {FILTER_WORDS}")
        if token is not None and token.token_type == TokenType.NOT and text[token.start] == "!":
            raise not_a_filter("must not have '!' alone. Write NOT.")
        place = place if token is None else token.end + 1


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text, self.tokens, self.place, self.depth, self.literals = text, list(tokens), 0, 0, 0

    @property
    def left(self) -> bool:
        return self.place < len(self.tokens)

    @property
    def here(self) -> str:
        """Show the token that is next."""
        return shown(self._raw(self.tokens[self.place])) if self.left else "its end"

    def _raw(self, token: Token) -> str:
        return self.text[token.start : token.end + 1]

    def _kind(self, ahead: int = 0) -> TokenType | None:
        place = self.place + ahead
        return self.tokens[place].token_type if place < len(self.tokens) else None

    def _takes(self, *kinds: TokenType) -> bool:
        """Take the next tokens, if they are of these kinds."""
        if all(self._kind(ahead) == kind for ahead, kind in enumerate(kinds)):
            self.place += len(kinds)
            return True
        return False

    def _must_take(self, kind: TokenType, what: str) -> None:
        if not self._takes(kind):
            raise not_a_filter(f"must have {what} before {self.here}. {FILTER_WORDS}")

    # ---- conditions ----------------------------------------------------------------------------------------

    def condition(self) -> Condition:
        return self._connected("OR", TokenType.OR, self._all)

    def _all(self) -> Condition:
        return self._connected("AND", TokenType.AND, self._negated)

    def _connected(
        self, word: Literal["AND", "OR"], kind: TokenType, part: Callable[[], Condition]
    ) -> Condition:
        parts = [part()]
        while self._takes(kind):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Connection(word, tuple(parts))

    def _negated(self) -> Condition:
        self.depth += 1
        if self.depth > DEEPEST:
            raise not_a_filter(
                f"must have at most {DEEPEST} parentheses and NOTs inside each other; got more."
            )
        if self._takes(TokenType.NOT):
            found: Condition = Negation(self._negated())
        elif self._takes(TokenType.L_PAREN):
            found = self.condition()
            self._must_take(TokenType.R_PAREN, "a closing parenthesis")
        else:
            found = self._predicate()
        self.depth -= 1
        return found

    def _predicate(self) -> Condition:
        first = self._value()
        if isinstance(first, Name):
            if self._takes(TokenType.IS, TokenType.NULL):
                return IsNull(first)
            if self._takes(TokenType.IS, TokenType.NOT, TokenType.NULL):
                return Negation(IsNull(first))
            negated = self._kind() == TokenType.NOT and self._kind(1) in (TokenType.IN, TokenType.BETWEEN)
            self.place += negated
            found = self._membership(first)
            if found is not None:
                return Negation(found) if negated else found
        operator = OPERATORS.get(self._raw(self.tokens[self.place])) if self.left else None
        if operator is None:
            if isinstance(first, Name) and self._kind() in (
                None, TokenType.AND, TokenType.OR, TokenType.R_PAREN
            ):  # fmt: skip
                return Flag(first)
            raise not_a_filter(f"must not have {self.here} there. {FILTER_WORDS}")
        self.place += 1
        second = self._value()
        if isinstance(first, Name):
            return Comparison(first, operator, second)
        if isinstance(second, Name):
            return Comparison(second, FLIPPED[operator], first)
        raise not_a_filter("must compare columns; it compares two literals. Leave that out.")

    def _membership(self, column: Name) -> Condition | None:
        if self._takes(TokenType.BETWEEN):
            low = self._literal()
            self._must_take(TokenType.AND, "AND")
            return Connection(
                "AND", (Comparison(column, ">=", low), Comparison(column, "<=", self._literal()))
            )
        if not self._takes(TokenType.IN):
            return None
        self._must_take(TokenType.L_PAREN, "an opening parenthesis")
        listed = [self._literal()]
        while self._takes(TokenType.COMMA):
            listed.append(self._literal())
        self._must_take(TokenType.R_PAREN, "a closing parenthesis")
        return Membership(column, tuple(listed))

    # ---- values --------------------------------------------------------------------------------------------

    def _value(self) -> Name | Constant:
        kind, follows = self._kind(), self._kind(1)
        if kind is None:
            raise not_a_filter(f"must be a whole condition; it ends too early. {FILTER_WORDS}")
        token = self.tokens[self.place]
        raw = self._raw(token)
        if follows == TokenType.L_PAREN and token.text.isidentifier():
            raise not_a_filter(f"must not have a function; got {shown(f'{raw}(…)')}. {FILTER_WORDS}")
        if kind == TokenType.IDENTIFIER and raw == _quoted(token.text, '"') and token.text:
            self.place += 1
            return Name(token.text)
        is_typed = kind in _TYPED and follows == TokenType.STRING
        if raw.isidentifier() and not _RESERVED.fullmatch(raw) and not is_typed:
            self.place += 1
            return Name(raw)
        return self._literal()

    def _literal(self) -> Constant:
        self.literals += 1
        if self.literals > MOST_LITERALS:
            raise not_a_filter(f"must have at most {MOST_LITERALS:,} literals; got more.")
        kind = self._kind()
        if kind is None:
            raise not_a_filter(f"must be a whole condition; it ends too early. {FILTER_WORDS}")
        token = self.tokens[self.place]
        if kind in _TRUTHS:
            self.place += 1
            return _TRUTHS[kind]
        if kind == TokenType.NULL:
            raise not_a_filter(
                "must not compare with NULL, which is never true. Write IS NULL or IS NOT NULL."
            )
        if kind in _TYPED and self._kind(1) == TokenType.STRING:
            self.place += 1
            _, read, example = MOMENTS[_TYPED[kind]]
            text = self._text()
            found = run_or_none(lambda: read(text))
            if found is None or getattr(found, "tzinfo", None) is not None:
                raise not_a_filter(f"must have dates and times in ISO form without a zone; write {example}.")
            return found
        if kind == TokenType.STRING and self._raw(token) == _quoted(token.text, "'"):
            return self._text()
        number = self._number()
        if number is None:
            quotes = " Write a column of that name in double quotes." if token.text.isidentifier() else ""
            raise not_a_filter(f"must not have {self.here} there.{quotes} {FILTER_WORDS}")
        return number

    def _text(self) -> str:
        token = self.tokens[self.place]
        if self._raw(token) != _quoted(token.text, "'"):
            raise not_a_filter(f"must have text between single quotes; got {self.here}.")
        self.place += 1
        return str(token.text)

    def _number(self) -> Fraction | None:
        """Read a sign or none, and the digits right behind it."""
        kinds = (TokenType.DASH, TokenType.PLUS)
        ahead = int(self._kind() in kinds)
        parts = 2 if self._kind(ahead) == TokenType.DOT else 1
        tokens = self.tokens[self.place : self.place + ahead + parts]
        if len(tokens) < ahead + parts or tokens[-1].token_type != TokenType.NUMBER:
            return None
        digits = self.text[tokens[ahead].start : tokens[-1].end + 1]
        value = run_or_none(lambda: rational(digits, "where")) if _NUMBER.fullmatch(digits) else None
        if value is None:
            return None
        self.place += ahead + parts
        return -value if tokens[0].token_type == TokenType.DASH else value


def _quoted(text: Any, quote: str) -> str:
    return f"{quote}{str(text).replace(quote, quote * 2)}{quote}"
