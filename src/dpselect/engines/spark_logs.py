"""Spark's logs on the driver: silent while rows are read, because a task that fails quotes the row.

No level is touched: before all loggers of the Java process stands a filter that denies everything, and what
was set there is still set when the filter is taken away. It is held by count, so that releases at the same
time share it, and let go of only when the tasks of the release have ended, because they log their end.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from dpselect.engines.temporary_change import TemporaryChange

TALKATIVE = ("DataFrameQueryContextLogger", "SQLQueryContextLogger", "py4j.clientserver", "py4j.java_gateway")
"""Where PySpark writes errors before it raises them, and Py4J all that Java says."""
BACKEND = "org.apache.logging.slf4j.Log4jLoggerFactory"
LONGEST_WAIT, PAUSE = 60.0, 0.01
"""Seconds: tasks that were told to stop have a minute; after that the logs stay silent."""


def can_be_silenced(session: Any) -> bool:
    """Say whether Spark logs through Log4j 2, the one that we know how to hush."""
    java = session.sparkContext._jvm  # noqa: SLF001 - PySpark has no public way to its logs
    return bool(java.org.slf4j.LoggerFactory.getILoggerFactory().getClass().getName() == BACKEND)


@contextmanager
def silenced(session: Any) -> Iterator[None]:
    """Keep the driver from writing what an error says, which may quote a row, to its logs."""
    context = session.sparkContext
    tag = f"dpselect-{uuid4().hex}"
    java = _java(context._gateway)  # noqa: SLF001 - PySpark has no public way to its logs
    _PYTHON.begin()
    try:
        java.begin()
        try:
            context.addJobTag(tag)
            yield
        finally:
            if _ended(context, tag):
                java.end()
    finally:
        _PYTHON.end()


def hush_for_good(session: Any) -> None:
    """Silence the logs of a Java process that is ours alone."""
    _java(session.sparkContext._gateway).begin()  # noqa: SLF001 - no public way


def _ended(context: Any, tag: str) -> bool:
    """Stop what is left of our jobs, and wait until their last task has told its end."""
    with suppress(Exception):  # of a Java process that is gone nothing is put back
        context.removeJobTag(tag)
        context.cancelJobsWithTag(tag)
        deadline = time.monotonic() + LONGEST_WAIT
        while time.monotonic() < deadline:
            if not _busy(context, tag):
                return True
            time.sleep(PAUSE)
    return False


def _busy(context: Any, tag: str) -> bool:
    """Say whether a job of ours runs, or a task of one; first the listeners hear all that has happened."""
    scala = context._jsc.sc()  # noqa: SLF001 - PySpark finds jobs by group only, and a group may be the caller's
    scala.listenerBus().waitUntilEmpty(int(LONGEST_WAIT * 1000))
    tracker = context.statusTracker()
    for job in scala.statusTracker().getJobIdsForTag(tag):
        info = tracker.getJobInfo(job)
        if info is None:
            continue
        if info.status not in ("SUCCEEDED", "FAILED"):
            return True
        stages = [tracker.getStageInfo(stage) for stage in info.stageIds]
        if any(stage is not None and stage.numActiveTasks for stage in stages):
            return True
    return False


def _java(gateway: Any) -> TemporaryChange:
    """Find the one hold of a Java process."""
    with _LOCK:
        return _JAVA.setdefault(gateway, TemporaryChange(partial(_hush_java, gateway)))


def _hush_java(gateway: Any) -> Callable[[], None]:
    log4j = gateway.jvm.org.apache.logging.log4j
    contexts = log4j.LogManager.getFactory().getSelector().getLoggerContexts()
    undo = [_denied(log4j, context.getConfiguration()) for context in contexts]

    def put_back() -> None:
        for each in undo:
            each()

    return put_back


def _denied(log4j: Any, configuration: Any) -> Callable[[], None]:
    deny = log4j.core.filter.DenyAllFilter.newBuilder().build()
    before = configuration.getFilter()
    configuration.addFilter(deny)
    if before is not None:  # the first filter that decides wins, so ours stands alone
        configuration.removeFilter(before)

    def put_back() -> None:
        if before is not None:
            configuration.addFilter(before)
        configuration.removeFilter(deny)

    return put_back


def _hush_python() -> Callable[[], None]:
    loggers = [logging.getLogger(name) for name in TALKATIVE]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True

    def put_back() -> None:
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was

    return put_back


_LOCK = Lock()
_PYTHON = TemporaryChange(_hush_python)
_JAVA: WeakKeyDictionary[Any, TemporaryChange] = WeakKeyDictionary()
