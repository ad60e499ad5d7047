"""Asking an engine as a release does: open, check, count, score."""

from dpselect import Table
from dpselect.problems import Problem
from tests.engines.reference import SALT


def asked(problem: Problem, table: Table, salt: bytes = SALT) -> list[int]:
    """Give the exact scores, in the order of the outputs."""
    with table.open() as engine:
        request = problem.request(engine.schema, unit=table.unit)
        return [int(score) for score in problem.scores(engine.counts(request, salt))]
