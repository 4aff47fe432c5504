"""A page as a browser would read it: elements with what they hold, ids, links, text."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "input", "img"}
LOADS = {"src", "srcset", "data", "poster", "action", "background"}  # and href, but not that of <a>


@dataclass
class Element:
    tag: str
    attributes: dict
    inside: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(x if isinstance(x, str) else x.text for x in self.inside)

    def all(self, tag=None, **attributes):
        """All elements inside of it with a tag, and with attributes (class_ for class)."""
        wanted = {name.rstrip("_").replace("_", "-"): x for name, x in attributes.items()}
        ahead = [*reversed(self.inside)]
        while ahead:
            x = ahead.pop()
            if isinstance(x, Element):
                ahead += reversed(x.inside)
                if tag in (None, x.tag) and x.has(wanted):
                    yield x

    def has(self, wanted):
        """Whether it has attributes, by name; a class if it is one of several."""
        given = self.attributes
        return all(
            given.get(n) == x or (n == "class" and x in self.classes) for n, x in wanted.items()
        )

    @property
    def classes(self):
        return (self.attributes.get("class") or "").split()

    def by_id(self, name):
        (found,) = self.all(id=name)
        return found


class Page(HTMLParser):
    """Refuses tags that are not closed in their order."""

    def __init__(self, text):
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]
        self.feed(text)
        self.close()
        assert self.open == [self.root], [x.tag for x in self.open]

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len({*names}), f"{tag} has {names}"
        made = Element(tag, dict(attributes))
        self.open[-1].inside.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_startendtag(self, tag, attributes):
        self.open[-1].inside.append(Element(tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"</{tag}> where {self.open[-1].tag} is open"
        self.open.pop()

    def handle_data(self, text):
        self.open[-1].inside.append(text)


def page(text):
    """The page, once it is seen to be whole: ids are unique, links lead somewhere in it, and
    nothing is loaded from elsewhere."""
    assert text.startswith("<!doctype html>")
    root = Page(text).root
    ids = [x.attributes["id"] for x in root.all() if "id" in x.attributes]
    assert len(ids) == len({*ids}), [x for x in ids if ids.count(x) > 1]
    for x in root.all("a"):
        target = x.attributes["href"]
        inside = target.startswith("#") and target[1:] in ids
        assert inside or target.startswith("https://"), target
    for x in root.all():
        loaded = [x.attributes[name] for name in LOADS & {*x.attributes}]
        loaded += [x.attributes["href"]] if x.tag == "link" else []
        assert all(place.startswith("data:") for place in loaded), (x.tag, loaded)
        assert not any(name.startswith("on") for name in x.attributes), x.attributes
    for x in (*root.all("style"), *root.all("script")):
        assert "//" not in x.text.replace("// ", ""), "something is loaded"
        assert "@import" not in x.text
    return root
