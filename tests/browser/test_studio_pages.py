"""The studio's pages in a real browser, on a real service: the main path of each, for everyone who comes."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from playwright.sync_api import Error as PlaywrightError

from dpselect.studio.classroom import Lesson
from dpselect.studio.classroom_file import classroom_file
from tests.browser.studios import DESK, PHONE, RunningStudio, Window, wait_for_answer, window

AXE = Path(__file__).with_name("axe") / "axe.min.js"
PAY = re.compile("^Pay")
ANALYST_PAGES = (
    "/ask?each=town&quorum=none",
    "/ask?question=top",
    "/ask?data_set=song&question=quantile",
    "/ask?data_set=song&question=threshold",
    "/history",
)
CURATOR_PAGES = ("/data", "/data/mascots", "/keys", "/audit")
LONG_NAME = "Donaudampfschifffahrtsgesellschaft 42"
PAGES_FOR_ALL = (
    "/login",
    "/classroom?more=1",
    f"/classroom?name0={LONG_NAME}&votes0=3&name1=tea&votes1=2&more=0",
    "/no-such-page",
)


def left(page: Page) -> Fraction:
    """Read what is left of the analyst's share."""
    return Fraction(page.locator(".sums div", has_text="Left now").locator("dd").inner_text())


# ---- analysts --------------------------------------------------------------------------------------------


def test_an_analyst_sees_the_price_pays_and_gets_an_answer_that_a_reload_does_not_charge_again(
    desk: Window, studio: RunningStudio
) -> None:
    page = desk.log_in(studio.analyst_key)
    expect(page.locator(".promise")).to_contain_text("The winner is at most")
    before = left(page)
    page.get_by_label("Epsilon").fill("1/8")
    expect(page.get_by_role("button", name=PAY)).to_have_text("Pay 0.125 and ask")
    page.get_by_role("button", name=PAY).click()
    answer = wait_for_answer(page)
    page.reload()
    assert wait_for_answer(page) == answer
    desk.go("/ask")
    assert before - left(page) == Fraction(1, 8)
    desk.go("/history")
    expect(page.get_by_role("row").nth(1)).to_contain_text(answer)


def test_accuracy_moves_the_price_and_the_price_moves_accuracy(desk: Window, studio: RunningStudio) -> None:
    page = desk.log_in(studio.analyst_key)
    page.get_by_label("Within").fill("20")
    expect(page.get_by_label("Epsilon")).to_have_value("0.4251")
    expect(page.locator(".promise")).to_contain_text("20 votes")
    page.get_by_label("Epsilon").fill("0.5")
    expect(page.get_by_label("Within")).to_have_value("17.01")
    expect(page.get_by_role("button", name=PAY)).to_have_text("Pay 0.5 and ask")
    assert "epsilon=0.5" in page.url  # the address holds what the page shows


def test_a_price_that_comes_late_does_not_overwrite_what_is_typed_meanwhile(
    desk: Window, studio: RunningStudio
) -> None:
    page, held = desk.log_in(studio.analyst_key), list[Route]()
    page.route("**/quote*", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/quote*"):
        page.get_by_label("Epsilon").fill("0.5")
    page.get_by_label("Within").fill("20")
    with contextlib.suppress(PlaywrightError):  # the browser has given it up
        held[0].continue_()
    expect(page.get_by_label("Epsilon")).to_have_value("0.4251")
    expect(page.get_by_label("Within")).to_have_value("20")


def test_nothing_can_be_paid_while_the_price_is_about_to_change(desk: Window, studio: RunningStudio) -> None:
    page = desk.log_in(studio.analyst_key)
    page.route("**/quote*", lambda _: None)  # the answer never comes
    page.get_by_label("Epsilon").fill("2")
    expect(page.get_by_role("button", name=PAY)).to_be_disabled()


def test_without_scripts_every_step_has_a_button(chromium: Browser, studio: RunningStudio) -> None:
    with window(chromium, studio.address, java_script_enabled=False) as plain:
        page = plain.log_in(studio.analyst_key)
        page.get_by_label("Within").fill("30")
        page.get_by_role("button", name="Show what the accuracy costs").click()
        expect(page.get_by_label("Epsilon")).to_have_value("0.2834")
        page.get_by_label("Epsilon").fill("0.1")
        page.get_by_role("button", name="Show what the price buys").click()
        page.get_by_role("button", name=PAY).click()
        assert wait_for_answer(page)
        assert "/answers/" in page.url


def test_three_questions_are_asked_one_after_the_other(desk: Window, studio: RunningStudio) -> None:
    page = desk.log_in(studio.analyst_key)
    page.get_by_label("Question").select_option(label="Which are named most, the best first?")
    page.get_by_label("How many winners").fill("2")
    expect(page.locator(".promise")).to_contain_text("Every one of the 2")
    page.get_by_role("button", name=PAY).click()
    wait_for_answer(page)
    assert page.locator("output").count() == 2
    for question in ("price", "quantile"):
        desk.go(f"/ask?data_set=song&question={question}")
        page.get_by_label("Lowest").fill("0.01")
        page.get_by_label("Highest").fill("1.99")
        page.get_by_label("Steps").fill("0.01")
        page.get_by_role("button", name=PAY).click()
        assert re.fullmatch(r"[01]\.\d+", wait_for_answer(page))


def test_a_question_that_is_refused_says_what_to_do_and_cannot_be_paid(
    desk: Window, studio: RunningStudio
) -> None:
    page = desk.log_in(studio.analyst_key)
    page.get_by_label("Epsilon").fill("-1")
    expect(page.get_by_role("alert")).to_contain_text("Epsilon must be a positive number")
    assert page.get_by_role("button", name=PAY).count() == 0
    page.get_by_label("Epsilon").fill("50")
    expect(page.get_by_role("alert")).to_contain_text("more than is left of your share")


# ---- curators --------------------------------------------------------------------------------------------


def test_a_curator_registers_data_and_an_analyst_with_a_share_asks_of_it(
    chromium: Browser, desk: Window, studio: RunningStudio
) -> None:
    page = desk.log_in(studio.curator_key)
    desk.go("/keys")
    page.get_by_label("Name").fill("bob")
    page.get_by_role("button", name="Make the key").click()
    key = page.locator("#new-key").inner_text()
    assert len(key) == 43
    desk.go("/keys")
    assert key not in page.content()  # it is shown once
    desk.go("/data")
    page.get_by_label("Name").fill("guests")
    page.get_by_label("Column that says who").fill("guest")
    page.get_by_label("Budget").fill("3")
    page.get_by_label("Whole path").fill(str(studio.folder / "guests.csv"))
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("guests")
    page.get_by_label("Analyst").select_option("bob")
    page.get_by_label("Share, in epsilon").fill("2")
    page.get_by_role("button", name="Give this share").click()
    page.get_by_text("Offer a list").first.click()
    page.get_by_label("Column").select_option("dish")
    page.get_by_label("Candidates, one on each line").fill("soup\npie\ncake")
    page.get_by_role("button", name="Offer the list").click()
    with window(chromium, studio.address) as other:
        asking = other.log_in(key)
        expect(asking.get_by_label("Column")).to_have_value("dish")
        asking.get_by_role("button", name=PAY).click()
        assert wait_for_answer(asking) == "soup"  # 240 of 300 name it: a lead of 180 at epsilon 1/4
        assert other.complaints == []
    desk.go("/data/guests")
    expect(page.get_by_role("table").last).to_contain_text("0.25")
    assert "soup" not in page.get_by_role("table").last.inner_text()
    desk.go("/audit")
    expect(page.get_by_role("article").filter(has_text="guests")).to_contain_text("Verified.")


# ---- the classroom ---------------------------------------------------------------------------------------


def test_a_lesson_needs_no_key_follows_the_votes_and_lives_in_its_address(desk: Window) -> None:
    page = desk.go("/classroom")
    expect(page.locator(".chart.laws")).to_contain_text("93.1 %")
    page.get_by_label("Votes 2").fill("30")
    expect(page.locator(".chart.laws")).not_to_contain_text("93.1 %")
    page.get_by_label("One more vote for").select_option("pie")
    expect(page.locator(".chart.ratios")).to_be_visible()
    shown = page.locator(".chart.laws").inner_html()
    expect(page).to_have_url(re.compile("more=2"))
    page.goto(page.url)
    assert page.locator(".chart.laws").inner_html() == shown


def test_a_wrong_number_in_a_lesson_is_told_and_nothing_typed_is_lost(desk: Window) -> None:
    page = desk.go("/classroom?name0=tea&votes0=many&epsilon=1")
    expect(page.get_by_role("alert")).to_contain_text("Votes must be")
    expect(page.get_by_label("Votes 1", exact=True)).to_have_value("many")


# ---- for every eye and hand ------------------------------------------------------------------------------


def everything(opened: Window, studio: RunningStudio) -> Iterator[tuple[str, Page]]:
    """Open every page, of every role."""
    for path in PAGES_FOR_ALL:
        yield path, opened.go(path)
    for key, paths in ((studio.analyst_key, ANALYST_PAGES), (studio.curator_key, CURATOR_PAGES)):
        opened.page.context.clear_cookies()
        opened.log_in(key)
        for path in paths:
            yield path, opened.go(path)


@pytest.mark.parametrize(
    ("scheme", "size"),
    [
        pytest.param("light", PHONE, id="light-phone"),
        pytest.param("dark", DESK, id="dark-desk"),
        pytest.param("dark", PHONE, id="dark-phone", marks=pytest.mark.slow),
        pytest.param("light", DESK, id="light-desk", marks=pytest.mark.slow),
    ],
)
def test_no_page_has_violations_of_accessibility_or_is_wider_than_its_window(
    scheme: str, size: tuple[int, int], chromium: Browser, studio: RunningStudio
) -> None:
    found = []
    with window(chromium, studio.address, color_scheme=scheme, size=size, bypass_csp=True) as opened:
        for path, page in everything(opened, studio):
            page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
            page.add_script_tag(path=AXE)
            result = page.evaluate("axe.run()")
            found += [(path, each["id"], each["nodes"][0]["html"]) for each in result["violations"]]
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append((path, "is too wide", ""))
    assert found == []


def test_a_violation_is_noticed(chromium: Browser, studio: RunningStudio) -> None:
    with window(chromium, studio.address, bypass_csp=True) as opened:
        page = opened.go("/login")
        page.evaluate("document.querySelector('label').remove()")
        page.add_script_tag(path=AXE)
        assert [each["id"] for each in page.evaluate("axe.run()")["violations"]] == ["label"]


def test_no_page_holds_a_style_or_a_script_of_its_own(desk: Window, studio: RunningStudio) -> None:
    inline = "document.querySelectorAll('[style], style, script:not([src])').length"
    handlers = "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes])"
    for path, page in everything(desk, studio):
        assert page.evaluate(inline) == 0, path
        assert page.evaluate(f"{handlers}.filter(a => /^(hx-)?on/.test(a.name)).length") == 0, path
    desk.complaints.clear()  # the page that is not there is told in the console


def test_the_keyboard_reaches_the_price_and_the_payment(desk: Window, studio: RunningStudio) -> None:
    page = desk.log_in(studio.analyst_key)
    page.get_by_label("Epsilon").focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.hasAttribute('data-pays')"):
            break
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Enter")
    assert wait_for_answer(page)


def test_a_lesson_in_a_file_shows_the_law_that_is_chosen_without_a_network(
    chromium: Browser, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text(classroom_file(Lesson.read({})), encoding="utf-8")
    with window(chromium, "file:", size=PHONE, java_script_enabled=False) as alone:
        page = alone.page
        page.context.set_offline(offline=True)
        page.goto(f"file://{tmp_path}/page.html")
        laws = page.locator(".chart.laws:visible")
        expect(laws).to_have_count(1)
        expect(laws).to_contain_text("93.1 %")
        page.get_by_label("0.05", exact=True).check()
        page.get_by_label("cake").check()
        expect(laws).to_contain_text("35.7 %")
        expect(page.locator(".chart.ratios:visible")).to_have_count(1)
        assert alone.complaints == []
