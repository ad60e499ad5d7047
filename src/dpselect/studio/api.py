"""The API: every page once more, in JSON, for bearer keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.responses import Response

from dpselect.errors import DpselectError
from dpselect.studio import curator, facts, refusals
from dpselect.studio.asked_question import AskedQuestion
from dpselect.studio.classroom import Lesson
from dpselect.studio.data_sets import DataSet, DataSets
from dpselect.studio.front import Visit
from dpselect.studio.keys import Keys
from dpselect.studio.lane import Lane
from dpselect.studio.openapi import openapi_document
from dpselect.studio.plain_json import PlainJSON
from dpselect.studio.quotes import offer_of
from dpselect.studio.refusals import Refused
from dpselect.studio.requests import request_id_of

NOT_OF_THE_QUESTION = ("request_id",)


class Api:
    """What answers below ``/api``."""

    def __init__(self, keys: Keys, data_sets: DataSets, lane: Lane) -> None:
        """Take the parts of the studio."""
        self._keys, self._data_sets, self._lane = keys, data_sets, lane

    def document(self, visit: Visit) -> Response:
        """Describe the API itself."""
        del visit
        return PlainJSON(openapi_document())

    def classroom(self, visit: Visit) -> Response:
        """Give exact laws of public scores."""
        del self
        return PlainJSON(Lesson.read(visit.query).facts())

    # ---- asking ------------------------------------------------------------------------------------------

    def quote(self, visit: Visit) -> Response:
        """Price a question."""
        return PlainJSON(offer_of(_asked(visit), self._data_sets, visit.name).facts())

    def release(self, visit: Visit) -> Response:
        """Take a question; its answer comes at a tick."""
        request = request_id_of(visit.words.get("request_id"))
        offer = offer_of(_asked(visit), self._data_sets, visit.name)
        job = self._lane.submit(visit.name, request, offer)
        return PlainJSON(
            {"id": job.id, "state": job.state, "price": job.asked.epsilon},
            status_code=202,
            headers={"location": f"/api/releases/{job.id}"},
        )

    def answer(self, visit: Visit) -> Response:
        """Give the answer of a question, or say that it is not there yet."""
        job = self._lane.job(visit.name, visit.parts["id"])
        if job.state == "failed":
            return PlainJSON({"error": refusals.AFTER_THE_CHARGE}, status_code=503)
        status = {"computing": 202, "refused": 409}.get(job.state, 200)
        return PlainJSON(facts.job_facts(job), status_code=status)

    def history(self, visit: Visit) -> Response:
        """List the analyst's own questions."""
        return PlainJSON({"releases": [facts.job_facts(job) for job in self._lane.jobs(visit.name)]})

    # ---- looking -----------------------------------------------------------------------------------------

    def ledger(self, visit: Visit) -> Response:
        """Give the ledgers: an analyst sees the own part of each."""
        wanted = visit.query.get("data_set")
        found = [each for each in self._seen(visit) if wanted is None or each.name == wanted]
        if wanted is not None and not found:
            raise refusals.not_found()
        return PlainJSON({"ledgers": [_or_closed(partial(self._ledger, visit), each) for each in found]})

    def _ledger(self, visit: Visit, data_set: DataSet) -> dict[str, Any]:
        ledger = self._data_sets.ledger(data_set)
        account = self._data_sets.account(data_set, visit.name)
        if visit.key is not None and visit.key.role == "analyst" and account is not None:
            return facts.own_ledger_facts(data_set, ledger, account)
        return facts.ledger_facts(data_set, ledger)

    def _seen(self, visit: Visit) -> list[DataSet]:
        if visit.key is not None and visit.key.role == "analyst":
            return self._data_sets.of_analyst(visit.name)
        return self._data_sets.all()

    def data_sets(self, visit: Visit) -> Response:
        """List the data sets that the key may see."""
        return PlainJSON({"data_sets": [_or_closed(self._data_set, each) for each in self._seen(visit)]})

    def data_set(self, visit: Visit) -> Response:
        """Give one data set."""
        return PlainJSON(self._data_set(self._one_of(visit)))

    def _one_of(self, visit: Visit) -> DataSet:
        found = next((each for each in self._seen(visit) if each.name == visit.parts["name"]), None)
        if found is None:
            raise refusals.not_found()
        return found

    def _data_set(self, data_set: DataSet) -> dict[str, Any]:
        return facts.data_set_facts(
            data_set,
            self._data_sets.schema(data_set),
            self._data_sets.ledger(data_set),
            self._data_sets.lists(data_set),
            self._data_sets.bounds(data_set),
        )

    def audit(self, visit: Visit) -> Response:
        """Verify every ledger."""
        del visit
        return PlainJSON({"ledgers": [self._data_sets.verified(each) for each in self._data_sets.all()]})

    # ---- curating ----------------------------------------------------------------------------------------

    def register(self, visit: Visit) -> Response:
        """Register a data set."""
        return PlainJSON(
            self._data_set(curator.register_data_set(self._data_sets, visit.words)), status_code=201
        )

    def share(self, visit: Visit) -> Response:
        """Give an analyst a share."""
        account = curator.give_share(self._data_sets, self._keys, visit.parts["name"], visit.words)
        return PlainJSON(facts.account_json(account), status_code=201)

    def public_list(self, visit: Visit) -> Response:
        """Offer the public candidates of a column."""
        found = curator.offer_list(self._data_sets, visit.parts["name"], visit.words)
        return PlainJSON(self._data_set(found), status_code=201)

    def public_bounds(self, visit: Visit) -> Response:
        """Offer the public bounds of a column of numbers."""
        found = curator.offer_bounds(self._data_sets, visit.parts["name"], visit.words)
        return PlainJSON(self._data_set(found), status_code=201)

    def keys(self, visit: Visit) -> Response:
        """List the keys, without their secrets."""
        del visit
        return PlainJSON({"keys": [facts.key_json(each) for each in self._keys.all()]})

    def make_key(self, visit: Visit) -> Response:
        """Make a key; its secret is in this answer and nowhere else."""
        name, secret = curator.new_key(self._keys, visit.words)
        return PlainJSON({"name": name, "key": secret}, status_code=201)

    def revoke_key(self, visit: Visit) -> Response:
        """Revoke a key."""
        curator.revoke_key(self._keys, visit.parts["id"])
        return Response(status_code=204)


def _or_closed(told: Callable[[DataSet], dict[str, Any]], data_set: DataSet) -> dict[str, Any]:
    """Tell of one data set of several; one that is closed hides no other."""
    try:
        return told(data_set)
    except (DpselectError, Refused):
        return {"name": data_set.name, "data_set": data_set.name, "problem": refusals.DATA_SET_CLOSED}


def _asked(visit: Visit) -> AskedQuestion:
    return AskedQuestion.from_words(
        {name: value for name, value in visit.words.items() if name not in NOT_OF_THE_QUESTION}
    )
