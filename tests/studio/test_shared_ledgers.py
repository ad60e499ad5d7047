"""Several studios, one budget: their ledgers are in one PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from dpselect.errors import InvalidParameter
from dpselect.studio.settings import Settings
from tests.servers.postgres import Server, postgres_server
from tests.studio.running import NAMES, VOTE, Running, running, write_meals

__all__ = ["postgres_server"]

NEW = {"name": "meals", "unit": "guest", "epsilon": "1"}


@pytest.fixture
def two(tmp_path: Path, postgres_server: Server) -> Iterator[list[Running]]:
    """Two machines, each with a studio, its keys and its copy of the table; ada is on both."""
    with ExitStack() as stack:
        runs = []
        for name in ("one", "two"):
            folder = tmp_path.resolve() / name
            folder.mkdir()
            write_meals(folder / "meals.csv")
            run = stack.enter_context(running(folder, ledgers=postgres_server.url()))
            run.keys.update(cleo=run.studio.keys.create("cleo", "curator"))
            run.keys.update(ada=run.studio.keys.create("ada", "analyst"))
            runs.append(run)
        yield runs
    with ExitStack() as stack:  # the next test begins anew
        import psycopg

        connection = stack.enter_context(psycopg.connect(postgres_server.url(), autocommit=True))
        connection.execute('DROP SCHEMA IF EXISTS "dpselect_meals" CASCADE')


def path_of(run: Running) -> str:
    return str(run.studio.settings.folder.parent / "meals.csv")


def test_what_one_studio_spends_is_spent_in_the_other(two: list[Running]) -> None:
    for run in two:
        cleo = run.as_("cleo")
        assert cleo.post("/api/data", {**NEW, "path": path_of(run)}).status == 201
        assert cleo.post("/api/data/meals/lists", {"column": "dish", "candidates": NAMES}).status == 201
    assert two[0].as_("cleo").post("/api/data/meals/shares", {"analyst": "ada", "epsilon": "1"}).status == 201
    words = {**VOTE, "epsilon": "5/8"}
    first = two[0].as_("ada").post("/api/releases", words)
    assert two[0].as_("ada").answer(first.json["id"]).json["state"] == "done"
    other = two[1].as_("ada")
    quote = other.post("/api/quotes", words).json
    assert (quote["remaining"], quote["affordable"]) == ("3/8", False)
    assert other.post("/api/releases", words).status == 409
    assert other.answer(other.post("/api/releases", {**words, "epsilon": "3/8"}).json["id"]).status == 200
    (told,) = two[0].as_("cleo").get("/api/ledger").json["ledgers"]
    assert (told["spent"], told["remaining"]) == ("1", "0")
    assert two[1].as_("cleo").get("/api/audit").json["ledgers"][0]["verified"]


@pytest.mark.parametrize(
    "other",
    [{"epsilon": "2"}, {"unit": "row"}, {"neighbours": "change_one"}, {"anchor": "{folder}/new.anchor"}],
)
def test_a_ledger_of_another_budget_or_of_other_people_is_not_joined(
    two: list[Running], other: dict[str, str]
) -> None:
    words = [{**NEW, "path": path_of(run)} for run in two]
    assert two[0].as_("cleo").post("/api/data", words[0]).status == 201
    changed = {name: text.format(folder=Path(path_of(two[1])).parent) for name, text in other.items()}
    told = two[1].as_("cleo").post("/api/data", {**words[1], **changed})
    assert told.status == 400, told.text
    assert two[1].as_("cleo").get("/api/data").json == {"data_sets": []}
    assert two[1].as_("cleo").post("/api/data", words[1]).status == 201


def test_f13_the_address_of_the_server_is_kept_nowhere_and_without_it_the_data_set_is_closed(
    two: list[Running], postgres_server: Server
) -> None:
    cleo = two[0].as_("cleo")
    made = cleo.post("/api/data", {**NEW, "path": path_of(two[0])})
    assert made.status == 201
    address = postgres_server.url().encode()
    folder = two[0].studio.settings.folder
    kept = b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())
    assert address not in kept
    assert address.decode() not in made.text + cleo.get("/api/ledger").text
    two[0].studio.state.write("update data_sets set ledger = 'postgresql:dpselect_nowhere'")
    two[0].studio.data_sets.close()
    assert "problem" in cleo.get("/api/ledger").json["ledgers"][0]


@pytest.mark.parametrize(
    "address",
    [
        "budgets",
        "mysql://studio@db/budgets",
        "postgresql://studio:secret@db/budgets",
        "postgresql://db/budgets?user=x&password=secret",
        "postgresql://db/budgets?options=-csearch_path%3Dother",
    ],
)
def test_f13_a_password_in_the_address_of_the_server_is_refused_and_not_repeated(
    tmp_path: Path, address: str
) -> None:
    with pytest.raises(InvalidParameter, match="without a password") as refused:
        Settings(folder=tmp_path, ledgers=address)
    assert "secret" not in str(refused.value)
