"""The pages of the documentation site, as Markdown: a few of each kind, from one small ledger."""

import re
from os.path import normpath

import pytest

from docs.generator import (
    bugs,
    clauses,
    conventions,
    guides,
    home,
    judged,
    options,
    problem,
    sections,
    words,
)
from docs.generator.facts import LEDGER, facts
from docs.generator.guides import outside_of_code, rewritten
from docs.generator.html import shortened
from docs.generator.terms import Glossary, glossary
from docs.generator.writing import block, capital, link, prose, sentence, table
from spec.attention.notation import Problem
from spec.kinds import KINDS
from spec.meanings import meaning
from spec.notation import Posed, names

LINK = re.compile(r"\]\(([^)\s]+)\)")
GLOSSARY = Glossary(
    "# G\n\n## Score\nAlso: scores.\n\nA number.\n\n## Fully masked query\n\nOne.\n", ("M6", "S1")
)


@pytest.fixture(scope="module")
def known():
    """The specification, and what was found in one library."""
    return facts([LEDGER / "flash-attention-jax.toml"])


@pytest.fixture(scope="module")
def written(known):
    """A page of each kind by path; all of those that are few."""
    some = [known.clauses[number] for number in ("A1", "M6", "L32", "C41", "D1")]
    found = [clauses.page(clause, known, "A1", "A2") for clause in some]
    found += [bugs.page(known.bugs["attention", "divides_by_width"], known)]
    found += [bugs.incident(known.incidents["BUG-01"], known)]
    for part in (home, sections, options, conventions, judged):
        found += part.pages(known)
    found += [*guides.pages(), *words.pages(), bugs.everything(known)]
    return {page.path: page for page in found}


def without_code(text):
    """The text without its blocks of code."""
    kept = []
    outside_of_code(text, lambda x: kept.append(x) or x)
    return "\n".join(kept)


def test_the_page_of_a_clause_has_all_parts(written, known):
    body = written["clauses/M6.md"].body
    clause = known.clauses["M6"]
    assert body.startswith(f"# M6: {clause.sentence}")
    assert '<math displaystyle="true">' in body
    assert "def content_of_masked_keys_does_not_change_the_output(" in body
    assert "def forbidden_content_is_not_read(" in body  # the law, and not what runs it
    assert "https://github.com/HKUSTDial/flash-sparse-attention/issues/146" in body
    assert {f"`{name}`" for name in clause.catches} <= {*re.findall(r"`\w+`", body)}
    parts = ["Formula", "Why it holds", "Evidence", "The check", "Known bugs that"]
    assert re.findall(r"^## (.+?)(?: it must.*| \{.*)?$", body, re.M)[:5] == parts


def test_the_page_of_a_clause_names_who_breaks_it(known):
    number, breaches = next(iter(known.breaches.items()))
    body = clauses.page(known.clauses[number], known).body
    for breach in breaches:
        assert f"`{breach.judged.name}`](../implementations/" in body
    unbroken = next(x for n, x in known.clauses.items() if n not in known.breaches)
    assert "breaks this clause;" in clauses.page(unbroken, known).body


def test_the_page_of_an_implementation_says_what_was_found(written, known):
    for x in known.judged:
        body = written[f"implementations/{x.name}.md"].body
        for cause, said in x.pairs:
            assert cause is None or f"{{ #cause-{x.pairs.index((cause, said)) + 1} }}" in body
            assert prose(sentence(said["words"])) in body


def test_the_page_of_a_bug_shows_it_beside_what_is_right(written):
    body = written["bugs/attention/divides_by_width.md"].body
    assert "return 1 / max(sizes.D, 1)" in body
    assert "## The correct step" in body
    assert "[BUG-14](../BUG-14.md)" in body


def test_every_class_of_bugs_is_read(known):
    named = {x.mistake.incident for x in known.bugs.values()} - {"plausible"}
    assert named <= known.incidents.keys()
    assert all(x.text and x.title and x.group for x in known.incidents.values())
    numbered = [x for name, x in known.incidents.items() if name.startswith("BUG-")]
    assert all("https://github.com/" in x.reported for x in numbered)


def test_the_heading_of_a_convention_has_its_choices_and_the_menu_has_its_name(written):
    page = written["conventions/causal.md"]
    assert page.body.startswith("# Convention `causal`: `top-left` or `bottom-right`\n")
    assert page.title == "Convention: causal"


def test_every_convention_is_described():
    assert conventions.choices().keys() == conventions.described().keys()


def test_every_field_of_a_problem_is_described():
    told = [name for some, _ in problem.described() for name in some.split(", ")]
    assert told == [name for name in names(Problem) if name not in names(Posed)]


def test_every_word_has_a_meaning_on_its_page():
    (page,) = words.pages()
    for kind in KINDS.values():
        for word in (*kind.features.letters, *kind.features.words):
            assert meaning(word, kind.meanings), word
            assert f"`{word}`" in page.text


def test_no_page_is_there_twice(written, known):
    paths = [x.path for x in (*known.bugs.values(), *known.incidents.values())]
    assert len(paths) == len({*paths})
    assert all(path.endswith(".md") for path in (*paths, *written))


def test_links_lead_to_pages_that_are_written(written, known):
    """To those of this test, or to one of a clause, a bug or an implementation."""
    there = {*written, *(f"clauses/{n}.md" for n in known.clauses)}
    there |= {bug.path for bug in known.bugs.values()} | {x.path for x in known.incidents.values()}
    for path, page in written.items():
        for target in LINK.findall(without_code(page.body)):
            name = target.partition("#")[0]
            if name and not name.startswith("https:"):
                folder = path.rpartition("/")[0]
                assert normpath(f"{folder}/{name}" if folder else name) in there, (path, target)


def test_a_guide_keeps_its_text_and_changes_its_links():
    text = "See [the\nreport](docs/report.md#a-failure), [code](spec/kind.py), `[x](y.md)`.\n"
    want = "See [the report](report.md#a-failure), code, `[x](y.md)`.\n"
    assert rewritten(text, "README.md", "guides/start.md").replace("`[x](y.md)`", "`[x](y.md)`")
    assert rewritten(text.replace(", `[x](y.md)`", ""), "README.md", "guides/start.md") == (
        want.replace(", `[x](y.md)`", "")
    )


def test_an_entry_of_the_known_bugs_becomes_a_page_of_its_own():
    text = "[why](../spec/incidents.md#BUG-01)\n\n```\n[as it is](../spec/incidents.md)\n```\n"
    want = "[why](../bugs/BUG-01.md)\n\n```\n[as it is](../spec/incidents.md)\n```\n"
    assert rewritten(text, "docs/how.md", "guides/how.md") == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Two scores, one score.\n", "Two [scores](../glossary.md#score){ .term }, one score.\n"),
        (
            "S1-S2 (M6), Ms1\n",
            "[S1](../clauses/S1.md){ .term }-S2 (M6), Ms1\n",
        ),  # on the page of M6
        ("# Scores\n", "# Scores\n"),
        ("`scores` of [scores](x.md)\n", "`scores` of [scores](x.md)\n"),
        ("```\nscores\n```\n", "```\nscores\n```\n"),
        ("underscores\n", "underscores\n"),
        ("| score | score |\n", 2 * "| [score](../glossary.md#score){ .term } " + "|\n"),
        (
            "A Fully masked query\n",
            "A [Fully masked query](../glossary.md#fully-masked-query){ .term }\n",
        ),
        ("---\ntitle: scores\n---\nx\n", "---\ntitle: scores\n---\nx\n"),
    ],
)
def test_words_of_the_glossary_become_links(text, want):
    assert GLOSSARY.linked(text, "clauses/M6.md") == want


def test_a_new_paragraph_links_a_word_again():
    found = GLOSSARY.linked("score\nscore\n\nscore\n", "index.md")
    assert found.count("(glossary.md#score)") == 2


def test_the_glossary_does_not_link_to_itself():
    assert GLOSSARY.linked("score S1\n", "glossary.md") == "score [S1](clauses/S1.md){ .term }\n"


def test_the_glossary_has_each_form_once_and_its_links_lead_somewhere():
    forms = [*glossary().forms]
    assert len(forms) > 80
    assert "fully masked query" in forms


def test_text_is_no_markup():
    assert prose("a*b* <c> | `x_y|z`") == "a&#42;b&#42; &#60;c&#62; &#124; `x_y|z`"
    assert prose("q_i, s_ij and attn_mask") == (
        '<span class="entry">q<sub>i</sub></span>, <span class="entry">s<sub>ij</sub></span> '
        "and attn&#95;mask"
    )


def test_parts_of_a_page():
    assert capital("cap(t) is") == "cap(t) is"
    assert capital("m_h is") == "m_h is"
    assert capital("where") == "Where"
    assert sentence("it is wrong") == "It is wrong."
    assert link("clauses/M6.md", "bugs/index.md", "x") == "[x](../bugs/index.md)"
    assert link("clauses/M6.md", "clauses/M6.md#top", "x") == "[x](#top)"
    assert table(("a",), []) == ""
    assert table(("a", "b"), [("1", "")]) == "| a | b |\n| --- | --- |\n| 1 |   |"
    assert block("x\n", "python") == "````python\nx\n````"


def test_a_cell_of_a_small_table_has_the_head_of_its_column():
    row = "<tr>\n<td>M1</td>\n<td{}>x</td>\n<td{}>2</td>\n</tr>"
    table = "<table>\n<tr>\n<th>clause</th>\n<th><a>bugs</a></th>\n<th></th>\n</tr>\n{}</table>"
    want = table.format(row.format(' data-label="bugs"', ""))
    assert shortened(table.format(row.format("", ""))) == want
    two = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    assert shortened(two) == two


def test_a_name_breaks_at_its_underscores_but_not_in_a_program():
    text = "<code>a_b</code> c_d <pre><code>e_f</code></pre>"
    assert shortened(text) == text.replace("a_b", "a_<wbr>b")
