"""A page for each clause: claim, formula, reason, evidence, check, known bugs, who breaks it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping

from docs.generator.facts import Breach, Bug, Facts, place_of
from docs.generator.naming import (
    about_path,
    clause_path,
    clause_title,
    judged_path,
    option_words,
    section_path,
    section_title,
)
from docs.generator.writing import (
    Page,
    block,
    capital,
    code,
    counted,
    heading,
    joined,
    link,
    mathematics,
    outside,
    plain,
    prose,
    sentence,
    table,
)
from docs.generator.writing import facts as told
from spec.certification.judging.binding import without
from spec.clause import Clause, Evidence
from spec.kinds import kind_of

GRADES = {
    "proved": "**Proved** for {sizes}. A computer algebra system (SymPy) shows that the two sides "
    "are equal.",
    "proved at sizes": "**Proved at these sizes:** {sizes}. The two sides are equal as symbolic "
    "expressions (SymPy), for all numbers that the arrays may hold.",
    "checked exactly": "**Exact:** {sizes}. The definition is evaluated in rational arithmetic, "
    "and the two sides are equal, without a tolerance.",
}
CHECKED = (
    "**Checked:** there is no proof in this repository. The check below runs on many problems, and "
    "the definition and all correct implementations pass it."
)
CONTROL = (
    "The proof has a control: the same computation with a deliberate error must not come out as "
    "zero."
)
FORCES = {
    "must": "required (`must`)",
    "should": "recommended (`should`): a target that breaks it is still certified",
    "promise": "required (`must`) of targets that promise equal bits (`--promise {}`)",
}


def pages(facts: Facts) -> Iterator[Page]:
    """The pages, in the order of the clauses."""
    numbers = list(facts.clauses)
    for place, clause in enumerate(facts.clauses.values()):
        around = numbers[max(place - 1, 0) : place], numbers[place + 1 : place + 2]
        yield page(clause, facts, *(x[0] if x else "" for x in around))


def page(clause: Clause, facts: Facts, before: str = "", after: str = "") -> Page:
    """The page of a clause. before, after: the numbers of its neighbours."""
    here = clause_path(clause.number)
    body = joined(
        f"# {clause_title(clause)}",
        _summary(clause, here),
        "## Formula",
        mathematics(clause.formula),
        *_reason(clause),
        heading("Evidence", indexed=False),
        _evidence(clause),
        heading("The check", indexed=False),
        _check(clause),
        heading(f"Known bugs that it must reject ({len(clause.catches)})", indexed=False),
        _caught(clause, facts, here),
        *_breaking(clause, facts, here),
        _neighbours(here, before, after),
    )
    return Page(here, f"{clause.number}: {clause.sentence}", body, clause.sentence, boost=3)


def _summary(clause: Clause, here: str) -> str:
    """What it is about, its force, versions, and what a target needs."""
    kind, section = kind_of(clause.about), section_title(clause.section)
    needs = ", ".join(sorted(option_words(x) for x in clause.needs)) or "nothing more"
    lacks = without(clause)
    rows = [
        ("Section", link(here, section_path(clause.section), prose(section))),
        ("Applies to", link(here, about_path(clause.about), prose(kind.noun))),
        ("Needs", prose(needs)),
        *[("Without", prose(lacks))] * bool(lacks),
        ("Force", FORCES[clause.force].format(clause.promise)),
        ("Evidence", grade(clause)),
        ("Version", prose(clause.span or f"since {clause.since}")),
        ("Name", code(clause.name)),
    ]
    return told(rows)


def _reason(clause: Clause) -> Iterator[str]:
    """Why it holds: the rest of the docstring."""
    found = [mathematics(x) if symbolic else prose(x) for symbolic, x in clause.reasons]
    yield from ["## Why it holds", *found] if found else []


def _evidence(clause: Clause) -> str:
    proof = clause.proof
    return CHECKED if proof is None else joined(*_proved(proof))


def _proved(proof: Evidence) -> Iterator[str]:
    yield f"{GRADES[proof.grade].format(sizes=prose(proof.sizes))} {CONTROL}"
    law = inspect.getclosurevars(inspect.unwrap(proof.function)).nonlocals.get("law")
    theorem = proof.function if law is None else law
    yield f"From {place_of(theorem)}:"
    yield block(inspect.getsource(theorem), "python")


def _check(clause: Clause) -> str:
    command = f"attention-spec certify FILE.py:NAME --clause {clause.number}"
    return joined(
        f"From {place_of(clause.check)}. `over` says which problems are drawn, and `equal` raises "
        "an exception if an element is outside its error bound.",
        block(inspect.getsource(clause.check), "python"),
        "To run this clause alone on your code:",
        block(command, "console"),
    )


def _caught(clause: Clause, facts: Facts, here: str) -> str:
    """The known bugs, each with where it was reported."""
    rows = []
    for name in sorted(clause.catches):
        bug = facts.bugs.get((clause.about, name))
        if bug is None:  # one that needs torch, and is part of the tests
            rows.append((code(name), "A bug that needs torch, in `tests/targets`.", "plausible"))
            continue
        rows.append(
            (link(here, bug.path, code(name)), prose(bug.mistake.sentence), source(bug, here))
        )
    return table(("bug", "what it does wrong", "reported"), rows)


def source(bug: Bug, here: str) -> str:
    """Where a known bug was reported: its class, and its own report if it has one."""
    mistake = bug.mistake
    if mistake.incident == "plausible":
        return "plausible: not reported"
    found = link(here, f"bugs/{mistake.incident}.md", mistake.incident)
    return f"{found}, {cited(mistake.citation)}" if mistake.citation else found


def cited(citation: str) -> str:
    """A report, as a link if it is an issue of a public repository."""
    repository, mark, number = citation.partition("#")
    if mark and number.isdigit() and repository.count("/") == 1:
        return outside(f"https://github.com/{repository}/issues/{number}", plain(citation))
    return plain(citation)


def _breaking(clause: Clause, facts: Facts, here: str) -> Iterator[str]:
    """The implementations of the ledger that break it."""
    breaches, tested = facts.breaches.get(clause.number, ()), facts.tested.get(clause.number, 0)
    yield heading(f"Implementations that break it ({len(breaches)})", indexed=False)
    ledger = link(here, "implementations/index.md", "ledger")
    if not breaches:
        tried = counted(tested, "implementation")
        yield (
            f"No implementation in the {ledger} breaks this clause; {tried} could be tested "
            "with it."
        )
        return
    tried = counted(tested, "implementation")
    yield f"Of {tried} in the {ledger} that could be tested with it:"
    head = ("implementation", "formats", "what is wrong")
    yield table(head, (_row(breach, here) for breach in breaches))


def _row(breach: Breach, here: str) -> tuple[str, str, str]:
    x = breach.judged
    name = link(here, judged_path(x), code(x.name))
    version = plain(f" {x.library} {x.version}".rstrip())
    crashed = any(v.outcome == "crashed" for v in breach.verdicts)
    formats = ", ".join(dict.fromkeys(v.dtype for v in breach.verdicts))
    words = "<br>".join(map(_told, breach.said)) or _reasons(breach)
    return f"{name}{version}", formats, f"crashes. {words}" if crashed else words


def _told(said: Mapping[str, str]) -> str:
    """A cause, what it was judged to be, and what was said of it."""
    kind = f"*{said['kind']}:* " if "kind" in said else ""
    cause, words = said.get("cause", ""), said.get("words", "")
    return f"{kind}{prose(capital(cause) if cause else sentence(words))}"


def _reasons(breach: Breach) -> str:
    told = dict.fromkeys(v.message for v in breach.verdicts if v.message)
    if told:
        return prose("; ".join(told))
    return {"should": "a recommended clause fails", "promise": "bits differ"}.get(
        breach.verdicts[0].force, "it fails"
    )


def _neighbours(here: str, before: str, after: str) -> str:
    links = []
    if before:
        links.append(f"← {link(here, clause_path(before), before)}")
    links.append(link(here, "clauses/index.md", "all clauses"))
    if after:
        links.append(f"{link(here, clause_path(after), after)} →")
    return f"---\n\n{' · '.join(links)}"


def grade(clause: Clause) -> str:
    """Its evidence in a word or two."""
    if clause.proof is None:
        return "checked"
    return "exact" if clause.proof.grade == "checked exactly" else clause.proof.grade


def rows(clauses: list[Clause], facts: Facts, here: str) -> str:
    """A table of clauses."""
    return table(
        ("clause", "claim", "evidence", "bugs", "broken by"),
        (
            (
                link(here, clause_path(clause.number), f"**{clause.number}**"),
                prose(clause.sentence) + ("" if clause.force == "must" else f" *({clause.force})*"),
                grade(clause),
                str(len(clause.catches)),
                str(len(facts.breaches.get(clause.number, ()))),
            )
            for clause in clauses
        ),
    )
