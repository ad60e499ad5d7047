"""The form of a question in a real browser: every question, for all people and for groups, in any order."""

from __future__ import annotations

import re

from playwright.sync_api import Route, expect

from dpselect.studio.asked_question import QUESTIONS
from tests.browser.studios import RunningStudio, Window, wait_for_answer

PAY = re.compile("^Pay")
LABELS = ("Data set", "Question", "Column", "Epsilon", "Within", "Sure")


def test_each_label_of_the_form_belongs_to_one_control(desk: Window, studio: RunningStudio) -> None:
    desk.log_in(studio.analyst_key)
    for question in QUESTIONS:
        page = desk.go(f"/ask?question={question}&each=town")
        assert {label: page.get_by_label(label).count() for label in LABELS} == dict.fromkeys(LABELS, 1)


def test_numbers_are_asked_for_without_typing_bounds_that_the_curator_offers(
    desk: Window, studio: RunningStudio
) -> None:
    for question in ("quantile", "price", "summary"):
        page = desk.log_in(studio.analyst_key)
        page.get_by_label("Question").select_option(question)
        page.get_by_label("Data set").select_option("song")
        expect(page.get_by_label("Lowest")).to_have_value("0.01")
        page.get_by_label("Epsilon").fill("0.02")
        page.get_by_role("button", name=PAY).click()
        labels = {wait_for_answer(page), *page.locator("output").all_inner_texts()}
        assert all(0.01 <= float(label) <= 1.99 for label in labels)


def test_what_is_missing_is_named_and_no_error(desk: Window, studio: RunningStudio) -> None:
    page = desk.log_in(studio.analyst_key)
    desk.go("/ask?data_set=song&question=window")
    expect(page.locator("#quote")).to_contain_text("Fill in How wide")
    assert page.get_by_role("alert").count() == 0
    page.get_by_label("How wide").fill("0.2")
    expect(page.get_by_role("button", name=PAY)).to_be_enabled()


def test_what_is_typed_right_after_another_question_is_chosen_is_what_is_paid(
    desk: Window, studio: RunningStudio
) -> None:
    """The form is renewed for the other question: no field takes words that would go with the old one."""
    page = desk.log_in(studio.analyst_key)
    for question, price in (("top", "0.03"), ("plurality", "0.02")):
        page.get_by_label("Question").select_option(question)
        page.get_by_label("Epsilon").fill(price)
        page.get_by_role("button", name=PAY).click()
        wait_for_answer(page)
        expect(page.locator(".facts dd").first).to_have_text(f"epsilon {price}")
        desk.go("/ask")
    page.get_by_label("Question").select_option("price")
    page.get_by_label("Data set").select_option("song")
    expect(page.get_by_label("Column")).to_have_value("pays")  # the other column has names
    expect(page.get_by_label("Question")).to_have_value("price")
    page.get_by_label("Data set").select_option("mascots")
    page.get_by_label("Question").select_option("vote")
    expect(page.get_by_label("Column")).to_have_value("name")


def test_the_control_that_renews_the_form_keeps_the_keyboard(desk: Window, studio: RunningStudio) -> None:
    page = desk.log_in(studio.analyst_key)
    page.get_by_label("Question").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Question")).to_have_value("plurality")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Question")).to_have_value("borda")
    expect(page.get_by_label("The ranks are in")).to_be_visible()
    assert page.evaluate("document.activeElement.id") == "question"
    assert "changed" not in page.url


def test_each_group_gets_an_answer(desk: Window, studio: RunningStudio) -> None:
    page = desk.log_in(studio.analyst_key)
    page.get_by_text("An answer for each group").click()
    page.get_by_label("Groups are in").select_option("town")
    page.get_by_label("Epsilon").fill("0.2")
    expect(page.locator(".promise")).to_contain_text("in all 4 groups together")
    page.get_by_role("button", name=PAY).click()
    wait_for_answer(page)
    expect(page.get_by_role("row")).to_have_count(5)
    assert page.get_by_role("rowheader").all_inner_texts() == ["Rome", "Oslo", "Bern", "Graz"]
    page.get_by_role("link", name="Change it").click()
    expect(page.get_by_label("Groups are in")).to_have_value("town")
    expect(page.get_by_text("100 candidates, public")).to_be_visible()
    page.get_by_label("Groups are in").select_option("")
    expect(page.locator(".promise")).not_to_contain_text("group")


def test_the_lead_is_told_where_it_is_asked_for(desk: Window, studio: RunningStudio) -> None:
    page = desk.log_in(studio.analyst_key)
    page.get_by_text("More", exact=True).click()
    page.get_by_label("by how much it leads").check()
    page.get_by_label("Epsilon").fill("0.1")
    page.get_by_role("button", name=PAY).click()
    wait_for_answer(page)
    expect(page.locator(".facts")).to_contain_text("leads the runner-up by about")


def test_what_is_opened_stays_open_while_the_price_moves(desk: Window, studio: RunningStudio) -> None:
    page = desk.log_in(studio.analyst_key)
    page.get_by_text("The same as a command").click()
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Epsilon").fill("0.125")
    expect(page.locator("#as-command")).to_contain_text("--epsilon 1/8")
    expect(page.locator("#as-command")).to_be_visible()
    page.get_by_label("Question").select_option("top")
    expect(page.get_by_label("How many winners")).to_be_visible()
    expect(page.get_by_label("No winner below")).to_be_visible()


def test_the_page_of_those_who_have_not_logged_in_complains_of_nothing(desk: Window) -> None:
    page = desk.go("/")
    expect(page.get_by_label("Key")).to_be_visible()
    assert page.get_by_role("alert").count() == 0


def test_what_is_chosen_before_the_page_is_ready_is_not_lost(desk: Window, studio: RunningStudio) -> None:
    page, held = desk.log_in(studio.analyst_key), list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/htmx.min.js", hold)
    page.goto(f"{studio.address}/ask", wait_until="commit")
    page.get_by_label("Question").select_option("top")
    expect(page.get_by_role("button", name=PAY)).to_be_disabled()
    held[0].continue_()
    expect(page.get_by_label("How many winners")).to_be_visible()
    expect(page.locator(".promise")).to_contain_text("Every one of the 3")
