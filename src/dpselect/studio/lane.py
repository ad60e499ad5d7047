"""The lane: one release after the other, each begun and told at a public tick.

A job is a row of the studio's state, written before the analyst is told that it was taken. Its id is the
request id in the ledger, on the account of the analyst. So a job that is taken up again, after the process
was killed at whatever moment, finds its charge and its answer in the ledger: it is charged once, and drawn
at most once.

Begun at one tick and told at the next, an answer takes one tick, or as many as its question says (pace.py),
unless its data take longer to read.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dpselect.errors import BudgetExhausted, InvalidParameter
from dpselect.exact.numbers import positive
from dpselect.release import Release
from dpselect.silence import run_or_none
from dpselect.studio.asked_question import AskedQuestion
from dpselect.studio.data_sets import DataSets
from dpselect.studio.offer import Offer
from dpselect.studio.pace import ticks_of
from dpselect.studio.quotes import meant_by, question_of
from dpselect.studio.refusals import NOT_BEGUN, Refused, not_found
from dpselect.studio.state import State

JobState: TypeAlias = Literal["computing", "done", "refused", "failed"]
MOST_WAITING, MOST_TICKS_OF_ONE = 1_000, 50
"""Questions that wait; and the ticks that those of one analyst may take together, if there are several."""
SHOWN_JOBS = 200
"""Jobs that an analyst sees, the newest ones."""


@dataclass(frozen=True)
class Job:
    """A question that was asked: its words, how it stands, and its answer once it has one."""

    analyst: str
    id: str
    asked: AskedQuestion
    state: JobState
    answer: str | None
    """The release as JSON; or why it was refused, before it was charged."""
    time: float
    """When it was asked, in seconds."""

    @property
    def release(self) -> Release | None:
        """The answer, once there is one."""
        return Release.from_json(self.answer) if self.state == "done" and self.answer else None


class Lane:
    """The thread that releases, and the jobs that wait for it."""

    def __init__(self, state: State, data_sets: DataSets, tick: float) -> None:
        """Take up what was left when the studio was stopped; ``start`` begins."""
        self._state, self._data_sets, self._tick = state, data_sets, tick
        self._waiting: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="releases", daemon=True)
        for row in state.rows("select number from jobs where state = 'computing' order by number"):
            self._waiting.put(row["number"])

    def start(self) -> None:
        """Begin to release."""
        self._thread.start()

    def stop(self) -> None:
        """End after the present job, which may be paid for; what waits is taken up at the next start."""
        self._stopping.set()
        self._waiting.put(None)
        if self._thread.is_alive():
            self._thread.join()

    # ---- jobs --------------------------------------------------------------------------------------------

    def submit(self, analyst: str, request: str, offer: Offer) -> Job:
        """Take a question that is paid for under an id; under the same id the same question is taken once."""
        text = offer.paid.text()
        with self._state.writing():
            row = self._state.row("select * from jobs where analyst = ? and id = ?", [analyst, request])
            if row is None:
                self._must_have_room(analyst, offer.paid)
                if not offer.is_affordable:
                    raise Refused(
                        409,
                        f"this costs epsilon {offer.price_text}; your share does not afford it. Nothing was "
                        "charged. Ask for less, or ask your curator for more.",
                    )
                self._state.write(
                    "insert into jobs (analyst, id, data_set, words, state, asked) values (?, ?, ?, ?, ?, ?)",
                    [analyst, request, offer.data_set.name, text, "computing", self._state.now()],
                )
            elif row["words"] != text:
                raise Refused(409, "this request id belongs to another question of yours. Take a new one.")
            number = self._number(analyst, request)
        if row is None:
            self._waiting.put(number)
        return self.job(analyst, request)

    def job(self, analyst: str, request: str) -> Job:
        """Find a job of an analyst; those of others are not there."""
        row = self._state.row("select * from jobs where analyst = ? and id = ?", [analyst, request])
        if row is None:
            raise not_found()
        return Job(
            row["analyst"],
            row["id"],
            AskedQuestion.from_text(row["words"]),
            row["state"],
            row["answer"],
            row["asked"],
        )

    def jobs(self, analyst: str) -> list[Job]:
        """List the jobs of an analyst, the newest first."""
        rows = self._state.rows(
            "select id from jobs where analyst = ? order by number desc limit ?", [analyst, SHOWN_JOBS]
        )
        return [self.job(analyst, row["id"]) for row in rows]

    def _number(self, analyst: str, request: str) -> int:
        row = self._state.row("select number from jobs where analyst = ? and id = ?", [analyst, request])
        return int(row["number"]) if row is not None else 0

    def _must_have_room(self, analyst: str, asked: AskedQuestion) -> None:
        (waiting,) = self._state.rows("select count(*) from jobs where state = 'computing'")[0]
        rows = self._state.rows("select words from jobs where state = 'computing' and analyst = ?", [analyst])
        own = [AskedQuestion.from_text(row["words"]) for row in rows]
        ticks = sum(ticks_of(each, self._tick) for each in (*own, asked))
        if waiting >= MOST_WAITING or (own and ticks > MOST_TICKS_OF_ONE):
            raise Refused(429, "too many questions wait for their answers. Come again in a moment.")

    # ---- the thread --------------------------------------------------------------------------------------

    def _run(self) -> None:
        at_a_tick = False
        while True:
            if self._waiting.empty():
                at_a_tick = False
            number = self._waiting.get()
            if not at_a_tick:
                self._sleep_until_tick()
            if number is None or self._stopping.is_set():
                return
            began = time.monotonic()
            state, answer, ticks = self._outcome(number)
            self._sleep_until_tick(not_before=began + (ticks - 1) * self._tick)
            while not self._is_told(number, state, answer) and not self._stopping.is_set():
                self._sleep_until_tick()
            at_a_tick = True

    def _sleep_until_tick(self, *, not_before: float = 0.0) -> None:
        """Wait for the next multiple of the tick, or for the end."""
        now = time.monotonic()
        tick = math.floor(max(now, not_before) / self._tick + 1) * self._tick
        self._stopping.wait(max(0.0, tick - now))

    def _is_told(self, number: int, state: JobState, answer: str | None) -> bool:
        """Tell the analyst; say whether it could be written: the disk may have room at a later tick."""
        words = "update jobs set state = ?, answer = ? where number = ?"
        return run_or_none(lambda: self._state.write(words, [state, answer, number])) is not None

    def _outcome(self, number: int) -> tuple[JobState, str | None, int]:
        """Release a job, and say how many ticks that takes; what fails after the charge has a state alone."""
        job = run_or_none(lambda: self._state.rows("select * from jobs where number = ?", [number])[0])
        read = None if job is None else run_or_none(lambda: AskedQuestion.from_text(job["words"]))
        if job is None or read is None:  # it stands in the way of no other
            return "failed", None, 1
        asked, ticks = read, ticks_of(read, self._tick)
        found = run_or_none(lambda: self._released(job["analyst"], job["id"], asked))
        if found is not None:
            return *found, ticks
        charged = run_or_none(lambda: self._is_charged(job["analyst"], job["id"], asked))
        return ("refused", NOT_BEGUN, ticks) if charged is False else ("failed", None, ticks)

    def _is_charged(self, analyst: str, request: str, asked: AskedQuestion) -> bool:
        """Say whether the ledger has a charge for a request."""
        entries = self._data_sets.ledger(self._data_sets.find(asked.data_set)).entries()
        return any((entry.request_id, entry.account) == (request, analyst) for entry in entries)

    def _released(self, analyst: str, request: str, asked: AskedQuestion) -> tuple[JobState, str | None]:
        """Pay, look and draw, or find what was drawn for this request before."""
        data_set = self._data_sets.find(asked.data_set)
        ledger = self._data_sets.ledger(data_set)
        kept = ledger.answer(request, analyst)
        if kept is not None:
            return "done", kept
        try:
            schema, paid = self._data_sets.schema(data_set), positive(asked.epsilon, "epsilon")
            with question_of(meant_by(asked, schema), self._data_sets, data_set, paid) as question:
                return "done", question.release(ledger, request_id=request, account=analyst).to_json()
        except (BudgetExhausted, InvalidParameter, Refused) as refused:
            if self._is_charged(analyst, request, asked):
                return "failed", None
            if isinstance(refused, BudgetExhausted):
                return "refused", "your share does not afford this any more. Nothing was charged."
            return "refused", str(refused)
