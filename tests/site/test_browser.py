"""The site in a real browser: search, console, requests, contrast, a phone, keys, paper, files."""

import http.server
import os
import re
import threading
from functools import partial
from pathlib import Path
from shutil import which

import pytest

from conftest import CHROMIUM

pytestmark = [pytest.mark.site, pytest.mark.browser]

CONTRAST = (Path(__file__).parent.parent / "pages" / "contrast.js").read_text()
PAGES = (
    "index.html",
    "clauses/M6.html",
    "clauses/index.html",
    "sections/M.html",
    "options/window.html",
    "conventions/causal.html",
    "bugs/BUG-01.html",
    "bugs/attention/divides_by_width.html",
    "implementations/index.html",
    "implementations/onnx-reference.html",
    "implementations/libraries/keras.html",
    "guides/report.html",
    "guides/reference.html",
    "guides/conditions.html",
    "glossary.html",
)
SEARCHED = {  # what is searched for, and a page that must be among the first results
    "fully masked": "conventions/fully-masked.html",
    "fully masked query": "glossary.html",
    "rolling cache": "glossary.html",
    "soft-cap": "glossary.html",
    "NaN": "clauses/M18.html",
    "M6": "clauses/M6.html",
    "divides_by_width": "bugs/attention/divides_by_width.html",
    "bottom-right": "conventions/causal.html",
}
NARROW = 360


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server(site):
    """The address of a server of the site."""
    handler = partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}/"
        found.shutdown()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    place = next(filter(None, map(which, CHROMIUM)))
    alone = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=place, args=alone)
        yield found
        found.close()


@pytest.fixture
def opened(browser, server):
    """Opens a page; at last, nothing was complained about and nothing else was loaded."""
    contexts, said = [], []

    def open_page(path, width=1280, scheme="light", base=server, **asked):
        size = {"width": width, "height": 800}
        contexts.append(browser.new_context(viewport=size, color_scheme=scheme, **asked))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("requestfailed", lambda request: said.append(f"failed: {request.url}"))
        page.on("request", lambda x: x.url.startswith((base, "data:")) or said.append(x.url))
        page.goto(base + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [x for x in said if not x.startswith("blob:")] == []


def searching(page, words):
    """Search by keys alone: a slash opens the search, as soon as scripts run."""
    query = page.locator("[data-md-component=search-query]")
    for _ in range(50):
        page.keyboard.press("/")
        page.wait_for_timeout(200)
        if query.evaluate("(x) => x === document.activeElement"):
            break
    query.fill("")  # a second slash, if there was one
    page.keyboard.type(words)
    page.locator(".md-search-result__item").first.wait_for(timeout=60_000)


def is_found(page, words, address, among=10):
    """Whether a search finds a page: its address is soon among the first results."""
    searching(page, words)
    shown = "xs => xs.map((x) => x.href.split(/[?#]/)[0])"
    for _ in range(50):
        results = page.locator(".md-search-result__item a").evaluate_all(shown)
        if address in [*dict.fromkeys(results)][:among]:
            return True
        page.wait_for_timeout(200)
    return False


@pytest.mark.parametrize("words", SEARCHED)
def test_search_finds_it(opened, server, words):
    assert is_found(opened("index.html"), words, server + SEARCHED[words])


def test_the_number_of_a_clause_is_found_first(opened, server):
    assert is_found(opened("index.html"), "M6", f"{server}clauses/M6.html", among=1)


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_contrast(opened, path, scheme):
    page = opened(path, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    assert page.evaluate(CONTRAST) == {}


def test_light_and_dark_follow_the_system_and_the_reader(opened):
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = (opened("index.html", scheme=x) for x in ("light", "dark"))
    assert light.evaluate(ground) != dark.evaluate(ground)
    before = light.evaluate(ground)
    for _ in range(2):  # the system's, then light, then dark
        light.locator("[data-md-component=palette] label:visible").click()
    assert light.evaluate(ground) != before


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_does_not_scroll_sideways(opened, path):
    page = opened(path, width=NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW


@pytest.mark.parametrize(("width", "shown"), [(NARROW, '"evidence: "'), (1280, "none")])
def test_a_phone_names_the_columns_of_a_small_table(opened, width, shown):
    cell = opened("sections/M.html", width=width).locator("tbody tr").first.locator("td").nth(2)
    assert cell.evaluate("(x) => getComputedStyle(x, '::before').content") == shown


def test_formulas_are_laid_out(opened):
    page = opened("index.html")
    fraction = page.locator(".formula mfrac").first
    above, below = (fraction.locator(f"> :nth-child({n})").bounding_box() for n in (1, 2))
    assert above["y"] + above["height"] <= below["y"] + 1


def test_keys_reach_the_text_the_search_and_the_menu(opened):
    page = opened("clauses/M6.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.md-skip')")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "document.activeElement.closest('.md-tabs, .md-search, .md-sidebar--primary, "
                ".md-header')?.className.split(' ')[0] ?? ''"
            )
        )
    assert {"md-header", "md-search", "md-tabs", "md-sidebar"} <= reached
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_search_works_by_keys_alone(opened):
    page = opened("index.html")
    searching(page, "M6")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"clauses/M6\.html"))
    assert page.locator("h1").inner_text().startswith("M6: ")


def test_on_paper_there_is_the_text_alone(opened):
    page = opened("clauses/M6.html")
    page.emulate_media(media="print")
    for part in (".md-header", ".md-tabs", ".md-sidebar--primary", ".md-search"):
        assert page.locator(part).first.is_hidden(), part
    assert page.locator(".formula").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_page_can_be_read_without_scripts(opened):
    page = opened("clauses/M6.html", java_script_enabled=False)
    assert page.locator("h1").is_visible()
    assert page.locator(".formula math").first.is_visible()
