"""Pages in a real browser: links, filters, keys, contrast, a telephone, the dark, no script."""

import os
import re
from dataclasses import replace
from pathlib import Path
from shutil import which

import pytest

from conftest import CHROMIUM
from spec import CLAUSES
from spec.certification.pages.certificate_page import certificate_page
from spec.certification.pages.clauses_page import clauses_page
from spec.certification.pages.judged import Judged
from spec.certification.pages.matrix_page import matrix_page
from tests.pages.test_matrix import WORDS

pytestmark = [pytest.mark.html, pytest.mark.browser]

CONTRAST = (Path(__file__).parent / "contrast.js").read_text()
OUTSIDE = """() => [...document.querySelectorAll("body *")].filter((x) => {
  if (x.getBoundingClientRect().right <= innerWidth + 1) return false;
  for (let y = x.parentElement; y !== document.body; y = y.parentElement) {
    if (getComputedStyle(y).overflowX !== "visible") return false;
  }
  return true;
}).map((x) => x.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    place = next(filter(None, map(which, CHROMIUM)))
    alone = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=place, args=alone)
        yield found
        found.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory, wrong, right, masked):
    """A certificate of each look, and a matrix."""
    folder = tmp_path_factory.mktemp("pages")
    dtypes = ("float16", "float32")
    verdicts = tuple(
        replace(v, dtype=dtype, outcome=v.outcome if dtype == "float32" else "holds")
        for v in masked.verdicts
        for dtype in dtypes
    )
    judged = (
        Judged("elementwise", "theirs", "1.2", wrong, (WORDS,)),
        Judged("ahead", "ours", "", replace(masked, verdicts=verdicts)),
        Judged("right", "ours", "", right),
    )
    pages = {"wrong": wrong, "right": right, "masked": masked}
    texts = {name: certificate_page(x, CLAUSES) for name, x in pages.items()}
    texts["matrix"] = matrix_page(judged, CLAUSES)
    texts["clauses"] = clauses_page(CLAUSES)
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def opened(browser, files):
    """Opens a page; at last, nothing was complained about and nothing else was loaded."""
    contexts, said = [], []

    def open_page(name, width=1200, scheme="light", **asked):
        size = {"width": width, "height": 900}
        contexts.append(browser.new_context(viewport=size, color_scheme=scheme, **asked))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url))
        page.goto(Path(files / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [x for x in said if not re.match(r"file://.*/\w+\.html|data:", x)] == []


PAGES = pytest.mark.parametrize("name", ["wrong", "right", "masked", "matrix", "clauses"])


@PAGES
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_contrast(opened, name, scheme):
    page = opened(name, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    assert page.evaluate(CONTRAST) == {}


def test_light_and_dark_are_two(opened):
    grounds = {
        opened("wrong", scheme=x).evaluate("getComputedStyle(document.body).backgroundColor")
        for x in ("light", "dark")
    }
    assert len(grounds) == 2


@PAGES
@pytest.mark.parametrize("width", [360, 800])
def test_nothing_is_wider_than_a_telephone(opened, name, width):
    page = opened(name, width=width)
    page.evaluate("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_link_leads_to_what_it_names(opened):
    page = opened("wrong")
    link = page.locator("#cause-1 .theorem a")
    row = page.locator(link.get_attribute("href"))
    link.click()
    assert row.evaluate("(x) => x.matches(':target')")
    row.get_by_role("link", name="cause 1").first.click()
    assert page.locator("#cause-1").evaluate("(x) => x.getBoundingClientRect().top") < 450


def test_a_link_unfolds_what_it_leads_to(opened):
    page = opened("matrix")
    held = page.locator("table.matrix td a", has_text="✓").first
    place = page.locator(held.get_attribute("href"))
    assert place.get_attribute("open") is None
    held.click()
    page.wait_for_function("document.querySelector(location.hash).open")
    assert place.locator("math").first.is_visible()


def test_formulas_are_laid_out(opened):
    page = opened("masked")
    fraction = page.locator("#cause-1 mfrac").first
    above, below = (fraction.locator(f"> :nth-child({n})").bounding_box() for n in (1, 2))
    assert above["y"] + above["height"] <= below["y"] + 1


def test_filters_leave_what_is_asked_for(opened):
    page = opened("matrix")
    library, dtype, kind = (page.locator(f"[data-filter={x}]") for x in "ldk")
    shown = page.locator("article:visible h3")
    status = page.locator("form output")
    assert (shown.count(), status.inner_text()) == (3, "3 shown")
    library.select_option("theirs")
    assert [x.split()[0] for x in shown.all_inner_texts()] == ["elementwise"]
    library.select_option("")
    kind.select_option("fault")
    assert status.inner_text() == "1 shown"
    kind.select_option("not reviewed")
    assert [x.split()[0] for x in shown.all_inner_texts()] == ["ahead"]
    page.get_by_role("button", name="All").click()
    page.wait_for_function("document.querySelector('form output').textContent === '3 shown'")
    dtype.select_option("float16")
    assert [x.split()[0] for x in shown.all_inner_texts()] == ["ahead"]
    assert page.locator("tr:visible td:not([class]) a:visible").all_inner_texts().count("✗") == 0
    dtype.select_option("float32")
    assert page.locator("tr:visible td:not([class]) a:visible").all_inner_texts().count("✗") > 0


def test_the_filter_leaves_clauses_that_have_all_words(opened):
    page = opened("clauses")
    shown, status = page.locator("article:visible h4 a"), page.locator("form output")
    assert status.inner_text() == f"{len(CLAUSES)} of {len(CLAUSES)} clauses"
    for words, number in (
        ("fully masked", "S21"),
        ("rolling cache", "C41"),
        ("NaN", "M8"),
        ("M6", "M6"),
    ):
        page.get_by_role("searchbox").fill(words)
        assert number in shown.all_inner_texts()
        assert 0 < shown.count() < 80
        assert status.inner_text() == f"{shown.count()} of {len(CLAUSES)} clauses"
    page.get_by_role("button", name="All").click()
    page.wait_for_function("document.querySelectorAll('article[hidden]').length === 0")


def test_keys_reach_everything(opened):
    page = opened("matrix")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.locator("[data-filter=l]").input_value() == "ours"
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.closest('table, form, div')?.className ?? ''")
        )
    assert {"filters", "scroll", "matrix"} <= {x.split()[0] for x in reached if x}
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_a_script_is_copied(opened, wrong):
    page = opened("wrong", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == wrong.causes[0].counterexample.script.strip()


@PAGES
def test_without_a_script_all_is_there_but_what_needs_one(opened, name):
    page = opened(name, java_script_enabled=False)
    assert page.locator("h1").is_visible()
    assert page.locator("form.filters:visible, button:visible").count() == 0
    for heading in page.locator("h2").all():
        assert heading.is_visible()


def test_on_paper_all_is_unfolded(opened):
    page = opened("matrix")
    folded = page.locator("details:not([open])")
    assert folded.count() > 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert folded.count() == 0
    page.emulate_media(media="print")
    assert page.locator("form.filters").is_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert folded.count() > 0
