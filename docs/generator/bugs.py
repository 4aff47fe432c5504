"""A page for each class of bugs and each known bug, and the list of all of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from docs.generator.clauses import rows, source
from docs.generator.facts import ROOT, Bug, Facts, Incident, place_of
from docs.generator.naming import chapter, convention_path
from docs.generator.writing import Page, block, code, joined, link, prose, sentence, table, where
from docs.generator.writing import facts as told
from docs.generator.writing import heading as header
from spec.kinds import KINDS

LINK = re.compile(r"\[`?([^\]`]+)`?\]\(([^)]+)\)")
ABOUT = (
    "Bugs that were reported in real attention code, sorted into classes. A *known bug* is a small "
    "wrong program that belongs to a class: it replaces one step of a correct program. Each one is "
    "rejected by at least one clause. A bug that is marked *plausible* has not been reported yet."
)


def pages(facts: Facts) -> Iterator[Page]:
    """The list, the classes, and the known bugs."""
    yield everything(facts)
    yield from (incident(x, facts) for x in facts.incidents.values())
    yield from (page(bug, facts) for bug in facts.bugs.values())


def everything(facts: Facts) -> Page:
    """The classes of bugs, and the plausible ones by kind."""
    here = "bugs/index.md"
    parts = ["# Known bugs", f"{ABOUT} There are {len(facts.bugs)} known bugs."]
    groups: dict[str, list[Incident]] = {}
    for x in facts.incidents.values():
        groups.setdefault(x.group, []).append(x)
    for group, found in groups.items():
        cells = (
            (link(here, x.path, x.name), prose(x.title), str(len(facts.of_incident(x.name))))
            for x in found
        )
        parts += [header(prose(group), indexed=False), _classes(cells)]
    parts += [header("Plausible bugs", indexed=False), "Nobody has reported these yet."]
    plausible = facts.of_incident("plausible")
    for about in dict.fromkeys(bug.about for bug in plausible):
        ours = [bug for bug in plausible if bug.about == about]
        parts += [header(chapter(about), indexed=False, level=3), listing(ours, here)]
    return Page(here, "Known bugs", joined(*parts), "Bugs of real attention code, by class.")


def _classes(cells: Iterator[tuple[str, str, str]]) -> str:
    return table(("class", "what goes wrong", "bugs"), cells)


def listing(found: list[Bug], here: str) -> str:
    """A table of known bugs."""
    cells = (
        (
            link(here, bug.path, code(bug.mistake.name)),
            prose(bug.mistake.sentence),
            ", ".join(link(here, f"clauses/{n}.md", n) for n in bug.clauses) or "–",
        )
        for bug in found
    )
    return table(("bug", "what it does", "rejected by"), cells)


def incident(x: Incident, facts: Facts) -> Page:
    """The page of a class of bugs."""
    found = facts.of_incident(x.name)
    parts = [f"# {x.name}: {prose(x.title)}", linked(x.text, facts, x.path)]
    if x.reported:
        parts += ["## Reports", f"For example: {linked(x.reported, facts, x.path)}"]
    if found:
        parts.append(header(f"Known bugs of this class ({len(found)})", indexed=False))
    for about in dict.fromkeys(bug.about for bug in found):
        ours = [bug for bug in found if bug.about == about]
        parts += [header(chapter(about), indexed=False, level=3), listing(ours, x.path)]
    numbers = {n for bug in found for n in bug.clauses}
    clauses = [c for n, c in facts.clauses.items() if n in numbers]
    if clauses:
        parts += [header("Clauses that reject them", indexed=False), rows(clauses, facts, x.path)]
    parts.append(link(x.path, "bugs/index.md", "All known bugs"))
    return Page(x.path, f"{x.name}: {x.title}", joined(*parts), x.title, boost=3)


def linked(text: str, facts: Facts, here: str) -> str:
    """Text of spec/incidents.md: its links lead to pages here, or to other sites."""
    found, place = "", 0
    for match in LINK.finditer(text):
        words, to = match[1], match[2]
        found += prose_of(text[place : match.start()])
        name = to.removeprefix("#")
        if to.startswith("https://"):
            found += f"[{prose(words)}]({to})"
        elif name in facts.incidents:
            found += link(here, facts.incidents[name].path, prose(words))
        else:
            found += code(to.removeprefix("../"))
        place = match.end()
    return found + prose_of(text[place:])


def prose_of(text: str) -> str:
    """Text in one line, with the spaces at its ends."""
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{' ' * bool(before)}{prose(text)}{' ' * bool(after and text.strip())}"


def page(bug: Bug, facts: Facts) -> Page:
    """The page of a known bug."""
    x, here = bug.mistake, bug.path
    (step, replacement), *_ = x.replaced.items()
    parts = [
        where(link(here, "bugs/index.md", "Known bugs"), source(bug, here).partition(",")[0]),
        f"# {code(x.name)}",
        f"**{prose(sentence(x.sentence))}**",
        _facts(bug, here),
        header("The wrong step", indexed=False),
        f"From {place_of(replacement)}. It replaces the step `{step}` of a correct program.",
        block(inspect.getsource(replacement), "python"),
        *_right(bug, step),
    ]
    clauses = [facts.clauses[n] for n in bug.clauses if n in facts.clauses]
    if clauses:
        title = f"Clauses that reject it ({len(clauses)})"
        parts += [header(title, indexed=False), rows(clauses, facts, here)]
    parts.append(
        "To see a report about it:\n\n"
        + block(f"attention-spec certify {x.target.__module__}:{x.name}{_kind(bug)}", "console")
    )
    parts.append(link(here, "bugs/index.md", "All known bugs"))
    return Page(here, f"{x.name} ({bug.about})", joined(*parts), x.sentence)


def _kind(bug: Bug) -> str:
    return "" if bug.about in ("attention", "layer", "cache", "merging") else f" --kind {bug.about}"


def _facts(bug: Bug, here: str) -> str:
    x = bug.mistake
    anywhere = "nowhere" if x.harmless else "any problem that its clauses draw"
    found = [
        ("Kind of target", prose(KINDS[bug.about].noun)),
        ("Reported", source(bug, here)),
        ("Shows with", prose(x.where) or anywhere),
        ("Formats", ", ".join(x.dtypes)),
    ]
    if x.force == "promise":
        found.append(("Correct", "It is right up to rounding, and breaks a promise of equal bits."))
    elif x.harmless:
        found.append(("Correct", "It looks wrong but is correct, and must be certified."))
    if x.convention:
        name, choice = x.convention
        to = link(here, convention_path(name), code(f"{name}={choice}"))
        found.append(("Correct if", f"this convention is declared: {to}"))
    if x.force == "should":
        found.append(("Force", "Only a recommended clause (`should`) rejects it."))
    return told(found)


def _right(bug: Bug, step: str) -> Iterator[str]:
    """The correct step, if the program of this kind has one of that name."""
    function = correct(bug.mistake.replaced[step], step)
    if function is not None:
        yield header("The correct step", indexed=False)
        yield f"From {place_of(function)}."
        yield block(inspect.getsource(function), "python")


def correct(replacement: Any, step: str) -> Any:
    """The function of that name in the module `steps` next to the bug; None if there is none."""
    package = replacement.__module__.rpartition(".")[0]
    path = ROOT / package.replace(".", "/") / "steps.py"
    if not path.exists():
        return None
    module = __import__(f"{package}.steps", fromlist=["steps"])
    found = getattr(module, step, None)
    return found if inspect.isfunction(found) else None
