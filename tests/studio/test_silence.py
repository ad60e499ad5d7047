"""No row, score, count or path in a page, a header, a log or an error; and every name is shown as text."""

from __future__ import annotations

import csv
import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from dpselect.errors import InvalidParameter
from dpselect.studio.data_sets import NewDataSet
from tests.studio.running import VOTE, Running, Told, furnish, running, write_meals

ROW, PATH = "canary-of-a-row", "canary-of-a-path"
STRANGE = [
    "<img src=x onerror=alert(1)>",
    "=HYPERLINK(1)",
    "\u202egnirts",
    "a'b\"c&d",
    "tea\u0007",
    "+1",
    "{{7*7}}",
]


def told_of(run: Running) -> Iterator[Told]:
    """Everything that a studio says to each role, with questions of all outcomes asked before."""
    for name in ("ada", "cleo", "otto"):
        browser, program = run.browser(name), run.as_(name)
        for path in ("/ask", "/history", "/data", "/data/meals", "/data/meals/ledger", "/keys", "/audit"):
            yield browser.get(path)
            yield browser.get(path + "?data_set=meals&column=dish&epsilon=1&question=nope")
        for path in (
            "ledger",
            "data",
            "data/meals",
            "releases",
            "keys",
            "audit",
            "releases/good",
            "releases/bad",
        ):
            yield program.get(f"/api/{path}")
        for words in (VOTE, {**VOTE, "column": "no"}, {**VOTE, "question": "price", "low": "a"}):
            yield program.post("/api/quotes", words)
            yield program.post("/api/releases", {**words, "request_id": "good"})
        for path in ("answers/good", "answers/bad", "answers/good/json", "answers/good/csv", "nothing"):
            yield browser.get(f"/{path}")


def test_f10_canaries_of_rows_and_paths_are_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    folder = tmp_path.resolve() / PATH
    folder.mkdir()
    table = write_meals(folder / "meals.csv")
    with table.open("a", encoding="utf-8") as file:
        file.writelines(f"{ROW}-{i},{ROW},7777777\n" for i in range(50))
    with running(folder) as run:
        furnish(run, table)
        ada, whole = run.as_("ada"), table.read_bytes()
        ada.post("/api/releases", {**VOTE, "request_id": "good"})
        assert ada.answer("good").status == 200
        table.write_bytes(whole + f'p,"{ROW}\xff\n'.encode("latin-1"))
        ada.post("/api/releases", {**VOTE, "request_id": "bad"})
        assert ada.answer("bad").status == 503
        said = list(told_of(run))
        table.unlink()
        said += list(told_of(run))
    words = "\n".join(f"{each.status} {dict(each.headers)} {each.text}" for each in said)
    words += caplog.text + "".join(capfd.readouterr())
    assert {200, 400, 401, 404, 503} <= {each.status for each in said} | {401}
    for canary in (ROW, PATH, "7777777", "Traceback", 'File "', "duckdb", "sqlite"):
        assert canary not in words, canary
    assert '"rows"' not in words


def test_f13_no_key_is_told_again_nor_kept(tmp_path: Path) -> None:
    with running(tmp_path.resolve()) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"))
        cleo = run.as_("cleo")
        made = cleo.post("/api/keys", {"name": "eve", "role": "analyst"}).json["key"]
        browser = run.browser("cleo")
        shown = browser.send("/keys", token=browser.get("/keys").token, name="eva", role="auditor").text
        (key,) = re.findall(r"[A-Za-z0-9_-]{43}(?=</output>)", shown)
        said = "".join(each.text + str(each.headers) for each in told_of(run))
        secrets = [made, key, *run.keys.values(), str(browser.cookie)]
        stored = b"".join(each.read_bytes() for each in (tmp_path / "studio").rglob("*") if each.is_file())
    for secret in secrets:
        assert secret not in said
        assert secret.encode() not in stored


def test_f13_a_link_signs_in_once(shared: Running) -> None:
    ada = shared.studio.keys.named("ada")
    assert ada is not None
    secret = shared.studio.sessions.link(ada)
    first, again = shared.anyone.get(f"/welcome/{secret}"), shared.anyone.get(f"/welcome/{secret}")
    assert (first.status, again.status) == (303, 401)
    assert secret not in first.headers["set-cookie"] + first.headers["location"]


@pytest.fixture
def strange(tmp_path: Path) -> Iterator[Running]:
    """A studio whose names, columns and candidates hold what a page or a spreadsheet could obey."""
    folder = tmp_path.resolve()
    table = folder / "strange.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["guest", "<b>dish"])
        writer.writerows([f"p{i}", STRANGE[i % len(STRANGE)]] for i in range(70))
    with running(folder) as run:
        furnish(run, write_meals(folder / "meals.csv"))
        made = run.studio.data_sets.register(
            NewDataSet(name="odd", path=str(table), unit="guest", epsilon="100", about="<script>1</script>")
        )
        run.studio.data_sets.share(made, "ada", "50")
        yield run


def test_f16_f17_names_are_text_on_every_page_and_in_every_export(strange: Running) -> None:
    ada, browser = strange.as_("ada"), strange.browser("ada")
    for i, label in enumerate(STRANGE):
        words = {
            "data_set": "odd",
            "question": "vote",
            "column": "<b>dish",
            "epsilon": "1",
            "candidates": [label],
        }
        taken = ada.post("/api/releases", {**words, "request_id": f"odd{i}"})
        assert taken.status == 202, taken.text
        assert ada.answer(f"odd{i}").json["answer"] == [label]
        for page in (
            f"/answers/odd{i}",
            "/history",
            f"/ask?data_set=odd&column=%3Cb%3Edish&epsilon=1&candidates={quote(label)}",
        ):
            # What an analyst writes into a field stays as it was written, within that field.
            text = re.sub(r"(?s)<textarea.*?</textarea>|<input[^>]*>", "", browser.get(page).text)
            for markup in ("<img src=x", "<b>dish", "<script>1", "\u202e", "\u0007", "{{7*7}}</strong>49"):
                assert markup not in text, (page, markup)
        cells = next(csv.DictReader(io.StringIO(browser.get(f"/answers/odd{i}/csv").text)))
        assert not cells["winner"].startswith(("=", "+", "-", "@"))
        exported = browser.get(f"/answers/odd{i}/json").text
        assert json.loads(exported)["winners"] == [label]
        for text in (exported, ada.answer(f"odd{i}").text, ada.get("/api/releases").text):
            assert text.rstrip("\n").isprintable()
    listed = browser.get("/history?form=csv").text
    assert not re.search(r"(?m)(^|,)[=+@]", listed)
    curator = strange.browser("cleo")
    for page in ("/data", "/data/odd", "/keys", "/audit"):
        text = curator.get(page).text
        assert "<script>1" not in text
        assert "<b>dish" not in text


@pytest.mark.parametrize("name", ["<b>", "a\u202eb", "", "x" * 100, "a\nb", "=1"])
def test_f16_names_of_keys_and_data_sets_are_plain(shared: Running, name: str) -> None:
    cleo = shared.as_("cleo")
    assert cleo.post("/api/keys", {"name": name, "role": "analyst"}).status == 400
    words = {"name": name, "path": "/x", "unit": "guest", "epsilon": "1"}
    assert cleo.post("/api/data", words).status == 400


@pytest.mark.parametrize(
    "path",
    [
        "../meals.csv",
        "meals.csv",
        "/etc/passwd",
        "/proc/self/environ",
        "{root}/../x.csv",
        "{root}/link.csv",
        "{root}",
        "{root}/*.csv",
        "file://{root}/meals.csv",
        "s3://x/y.csv",
        "{root}/none.csv",
        "\0",
        "{root}/me\0als.csv",
    ],
)
def test_f6_a_curator_registers_files_within_the_allowed_roots_alone(tmp_path: Path, path: str) -> None:
    root = tmp_path.resolve() / "root"
    root.mkdir()
    outside = write_meals(tmp_path / "x.csv")
    (root / "link.csv").symlink_to(outside)
    with running(root) as run:
        furnish(run, write_meals(root / "meals.csv"))
        words = {"name": "new", "path": path.format(root=root), "unit": "guest", "epsilon": "1"}
        told = run.as_("cleo").post("/api/data", words)
        assert told.status == 400
        assert "guest," not in told.text
        assert len(run.as_("cleo").get("/api/data").json["data_sets"]) == 1


def test_f6_a_file_that_is_swapped_for_a_link_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "root"
    root.mkdir()
    outside, table = write_meals(tmp_path / "x.csv"), write_meals(root / "meals.csv")
    with running(root) as run:
        furnish(run, table)
        table.unlink()
        table.symlink_to(outside)
        ada = run.as_("ada")
        assert ada.post("/api/quotes", VOTE).status == 503
        assert ada.post("/api/releases", VOTE).status == 503


def test_an_anchor_is_a_new_file_within_the_allowed_roots(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "root"
    root.mkdir()
    table = write_meals(root / "meals.csv")
    with running(root) as run:
        furnish(run, table)
        (root / "link.anchor").symlink_to(tmp_path / "outside.anchor")  # to nothing, so far
        for place in (tmp_path / "a.anchor", table, Path("a.anchor"), root / "link.anchor"):
            new = NewDataSet(name="two", path=str(table), unit="guest", epsilon="1", anchor=str(place))
            with pytest.raises(InvalidParameter, match="anchor must be"):
                run.studio.data_sets.register(new)
        run.studio.data_sets.register(
            NewDataSet(name="two", path=str(table), unit="guest", epsilon="1", anchor=str(root / "a.anchor"))
        )
        assert (root / "a.anchor").exists()
