"""The whole site as files: links lead somewhere, ids are unique, nothing comes from elsewhere."""

import re
from functools import cache
from html.parser import HTMLParser
from os.path import normpath
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.site

LOADED = {  # what a page loads, by tag
    "img": "src",
    "script": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "use": "href",
}


class Read(HTMLParser):
    """The ids of a page, its links, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.formulas = [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.formulas += named.get("class") == "formula"
        if "id" in named:
            self.ids.append(named["id"])
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        if tag in LOADED and named.get(LOADED[tag]):
            self.loaded.append(named[LOADED[tag]])


@cache
def read(site):
    """Every page of the site, by its path."""
    files = sorted(site.rglob("*.html"))
    pages = ((x.relative_to(site).as_posix(), Read(x.read_text(encoding="utf-8"))) for x in files)
    return {path: page for path, page in pages if path != "404.html"}


def inside(path, target):
    """The file that a link of a page leads to, and its anchor; None if it is another site's."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    folder = path.rpartition("/")[0]
    name = unquote(parts.path)
    to = normpath(f"{folder}/{name}" if folder else name) if name else path
    return to, unquote(parts.fragment)


def test_every_link_and_every_anchor_leads_somewhere(site):
    pages = read(site)
    ids = {path: {*page.ids, ""} for path, page in pages.items()}
    lost = []
    for path, page in pages.items():
        for target in page.links:
            found = inside(path, target)
            if found and found[1] not in ids.get(found[0], ()):
                lost.append((path, target))
    assert lost == []


def test_links_to_other_sites_are_whole_addresses(site):
    for path, page in read(site).items():
        for target in page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                assert target.startswith("https://"), (path, target)


def test_everything_that_a_page_loads_is_in_the_site(site):
    for path, page in read(site).items():
        for target in page.loaded:
            found = inside(path, target)
            assert found is not None, (path, target)
            assert (site / found[0]).is_file(), (path, target)


def test_styles_load_nothing_from_elsewhere(site):
    for file in site.rglob("*.css"):
        addresses = re.findall(r"url\(([^)]*)\)", file.read_text(encoding="utf-8"))
        assert [x for x in addresses if re.match(r"[\"']?(https?:)?//", x)] == [], file


def test_ids_are_unique(site):
    for path, page in read(site).items():
        twice = {x for x in page.ids if page.ids.count(x) > 1}
        assert not twice, (path, twice)


def test_every_thing_has_its_page(site):
    from spec.kinds import KINDS
    from spec.laws import CLAUSES

    pages = read(site)
    for number in CLAUSES:
        assert pages[f"clauses/{number}.html"].formulas == 1, number
    for about, kind in KINDS.items():
        for name in kind.mistakes:
            assert f"bugs/{about}/{name}.html" in pages
        for name in kind.truth().choices:
            assert f"conventions/{name}.html" in pages
    ledgers = [*site.glob("implementations/*.html")]
    assert len(ledgers) > 150


def test_every_page_can_be_reached_from_the_first_one(site):
    pages = read(site)
    reached, waiting = {"index.html"}, ["index.html"]
    while waiting:
        path = waiting.pop()
        for target in pages[path].links:
            found = inside(path, target)
            if found and found[0] in pages and found[0] not in reached:
                reached.add(found[0])
                waiting.append(found[0])
    assert pages.keys() - reached == set()
