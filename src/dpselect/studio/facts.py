"""What the studio tells in JSON: of offers, answers, ledgers, data sets and keys. Exact numbers are text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from dpselect.engines.schema import WORDS, Schema
from dpselect.exact.rounding import exact_text
from dpselect.ledger import Account, Entry, Ledger
from dpselect.ledger.budget import Currency
from dpselect.studio.data_sets import DataSet
from dpselect.studio.keys import KeyFacts
from dpselect.studio.lane import Job


def amount_of(loss: Currency) -> str:
    """Write the number of a loss exactly."""
    return exact_text(loss.parts()[0])


def job_facts(job: Job) -> dict[str, Any]:
    """Write a question and, once it has one, its answer."""
    found: dict[str, Any] = {
        "id": job.id,
        "state": job.state,
        "data_set": job.asked.data_set,
        "question": job.asked.question,
        "column": job.asked.column,
        "price": job.asked.epsilon,
        "date": date_of(job.time),
    }
    if job.state == "done" and job.answer is not None:
        release = json.loads(job.answer)
        found["answer"] = release.get("groups", release["winners"])
        found["release"] = release
    if job.state == "refused":
        found["error"] = job.answer
    return found


def account_json(account: Account) -> dict[str, Any]:
    """Write a share."""
    return {
        "analyst": account.name,
        "share": amount_of(account.share),
        "spent": amount_of(account.spent),
        "remaining": amount_of(account.remaining),
        "reserved": account.reserved,
        "closed": account.closed,
    }


def ledger_facts(data_set: DataSet, ledger: Ledger) -> dict[str, Any]:
    """Write a ledger for those who may read all of it."""
    return {
        **_head(data_set, ledger),
        "budget": amount_of(ledger.budget),
        "spent": amount_of(ledger.spent),
        "remaining": amount_of(ledger.remaining),
        "accounts": [account_json(each) for each in ledger.accounts()],
        "entries": entries_json(ledger.entries()),
    }


def own_ledger_facts(data_set: DataSet, ledger: Ledger, account: Account) -> dict[str, Any]:
    """Write an analyst's own part of a ledger."""
    own = (each for each in ledger.entries() if each.account == account.name and each.act == "charge")
    return {**_head(data_set, ledger), **account_json(account), "entries": own_entries_json(own)}


def _head(data_set: DataSet, ledger: Ledger) -> dict[str, Any]:
    return {
        "data_set": data_set.name,
        "unit": ledger.unit,
        "neighbours": ledger.neighbours,
        "symbol": ledger.budget.symbol,
    }


def entries_json(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Write entries, each as one object."""
    return [
        {
            "number": each.number,
            "date": each.time.date().isoformat(),
            "account": each.account,
            "act": each.act,
            "loss": amount_of(each.loss),
            "total": amount_of(each.total),
            "reason": each.reason,
            "request_id": each.request_id,
            "digest": each.digest,
        }
        for each in entries
    ]


def own_entries_json(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Write an analyst's own entries: without numbers and totals, which tell of others."""
    return [
        {
            "date": each.time.date().isoformat(),
            "loss": amount_of(each.loss),
            "reason": each.reason,
            "request_id": each.request_id,
        }
        for each in entries
    ]


def schema_facts(schema: Schema) -> list[dict[str, str]]:
    """Write the public columns: names and kinds."""
    return [{"name": each.name, "kind": each.kind, "holds": WORDS[each.kind]} for each in schema.columns]


def data_set_facts(
    data_set: DataSet,
    schema: Schema,
    ledger: Ledger,
    lists: dict[str, list[str]],
    bounds: dict[str, dict[str, str]],
) -> dict[str, Any]:
    """Write what is public of a data set."""
    return {
        "name": data_set.name,
        "about": data_set.about,
        "unit": data_set.unit,
        "neighbours": ledger.neighbours,
        "columns": schema_facts(schema),
        "candidates": lists,
        "bounds": bounds,
    }


def key_json(key: KeyFacts) -> dict[str, Any]:
    """Write a key, without its secret."""
    return {
        "id": key.id,
        "name": key.name,
        "role": key.role,
        "state": key.state,
        "expires": None if key.expires is None else date_of(key.expires),
    }


def date_of(seconds: float) -> str:
    """Write the day of a time, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
