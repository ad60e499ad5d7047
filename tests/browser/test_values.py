"""What a notebook shows of a value, looked at in a browser: on a phone, on light and dark pages."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.values import LONG, MARKUP, SHOWN_SCREEN, pages

# How JupyterLab styles what a cell shows: its own rules for tables come before those of the value.
NOTEBOOK = """
body { margin: 0; padding: 8px; font: 14px/1.4 sans-serif; background: var(--page); color: var(--text) }
.cell table { margin: 0 auto; border: none; border-collapse: collapse; table-layout: fixed; font-size: 12px }
.cell td, .cell th, .cell tr { text-align: right; vertical-align: middle; padding: .5em; border: none }
.cell tbody tr:nth-child(odd) { background: var(--page) }
.cell tbody tr:nth-child(even) { background: var(--stripe) }
"""
SCHEMES = {
    "light": "--page: #fff; --stripe: #f5f5f5; --text: rgba(0, 0, 0, 0.87)",
    "dark": "--page: #111; --stripe: #212121; --text: rgba(255, 255, 255, 0.87)",
}

# For each text: its colour and its background, as the eye gets them, and their contrast (WCAG 2.2).
CONTRASTS = """() => {
  const numbers = text => {
    const [r, g, b, a = 1] = text.match(/[0-9.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((x, i) => a * x + (1 - a) * below[i]);
  const behind = element => {
    const above = element ? behind(element.parentElement) : [255, 255, 255];
    return element ? over(numbers(getComputedStyle(element).backgroundColor), above) : above;
  };
  const light = colour => {
    const linear = x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4;
    const [r, g, b] = colour.map(x => linear(x / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const contrast = (one, two) => {
    const [less, more] = [light(one), light(two)].sort((a, b) => a - b);
    return (more + .05) / (less + .05);
  };
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || element.tagName === 'STYLE') continue;
    const back = behind(element);
    found.push(contrast(over(numbers(getComputedStyle(element).color), back), back));
  }
  for (const bar of document.querySelectorAll('.dpselect .bar div')) {
    found.push(1.5 * contrast(behind(bar), behind(bar.parentElement)));  // a shape needs 3 to 1, a text 4.5
  }
  return found;
}"""


def shown(context: BrowserContext, *names: str, scheme: str = "light", style: str = "") -> Page:
    """Show values as the output of cells; all of them, if none is named."""
    page = context.new_page()
    head = f"<meta charset='utf-8'><style>:root {{ {SCHEMES[scheme]} }} {NOTEBOOK} {style}</style>"
    cells = "".join(f"<div class='cell' id='{name}'>{pages()[name]}</div>" for name in names or pages())
    page.set_content(f"<!doctype html><title>page</title>{head}{cells}")
    return page


def test_a_phone_needs_no_scrolling_sideways(phone: BrowserContext) -> None:
    page = shown(phone)
    assert page.locator(".dpselect").count() == len(pages())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_f16_no_label_runs_as_html(phone: BrowserContext) -> None:
    page = shown(phone)
    assert page.title() == "page"
    assert page.locator(".dpselect img, .dpselect b, .dpselect script").count() == 0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_text_is_legible_on_light_and_dark_pages(scheme: str, phone: BrowserContext) -> None:
    contrasts = shown(phone, scheme=scheme).evaluate(CONTRASTS)
    assert len(contrasts) > 100
    assert min(contrasts) >= 4.5


def test_a_text_that_is_not_legible_is_noticed(phone: BrowserContext) -> None:
    page = shown(phone, "ledger", scheme="dark", style=".cell { color: #444 }")
    assert min(page.evaluate(CONTRASTS)) < 4.5


@pytest.mark.parametrize("name", ["release", "winners", "law"])
def test_f16_markup_and_signs_for_screens_are_shown_as_text(name: str, phone: BrowserContext) -> None:
    read = shown(phone, name).locator(".dpselect").inner_text()
    assert MARKUP in read
    assert SHOWN_SCREEN in read
    assert (LONG in read) == (name != "release")


def test_numbers_are_never_broken_and_stand_below_each_other(phone: BrowserContext) -> None:
    page = shown(phone)
    lines = """cells => cells.map(cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length;
    })"""
    assert set(page.locator(".numbers td + td").evaluate_all(lines)) == {0, 1}  # 0 for an empty cell
    cells = page.locator("#laws .numbers td:nth-child(3)")
    edges = cells.evaluate_all("cells => cells.map(cell => cell.offsetLeft + cell.offsetWidth)")
    assert len(edges) == 11
    assert len(set(edges)) == 1
    assert cells.first.evaluate("cell => getComputedStyle(cell).textAlign") == "right"
