"""Many certificates side by side: for a terminal, as Markdown, and as a page of filters."""

import itertools
from dataclasses import replace

import pytest

from spec import CLAUSES
from spec.backends import Unsuitable
from spec.certification.pages.judged import UNJUDGED, Judged, gathered, library_of
from spec.certification.pages.matrix import chapters
from spec.certification.pages.matrix_page import matrix_page
from spec.certification.pages.matrix_text import markdown, table
from spec.notation import DTYPES
from tests.pages.parsed import page
from tests.pages.test_certificate_page import HOSTILE, hostile

pytestmark = pytest.mark.html
WORDS = {
    "sentence": "where M > 1, gradients are wrong",
    "kind": "fault",
    "words": "The derivative of the softmax is taken by element.",
    "documentation": "it says so",
    "issue": "https://example.org/issues/1",
    "script": "theirs.py",
}


@pytest.fixture(scope="module")
def judged(wrong, right, masked):
    return (
        Judged("elementwise", "theirs", "1.2", wrong, (WORDS,)),
        Judged("ahead", "ours", "", masked),
        Judged("right", "ours", "", right),
    )


@pytest.fixture(scope="module")
def shown(judged):
    return page(matrix_page(judged, CLAUSES))


def test_causes_have_what_was_said_of_them(judged):
    first, second, third = judged
    assert first.kinds == ("fault",)
    assert second.kinds == (UNJUDGED,)
    assert third.kinds == ()
    gone = replace(first, causes=({"sentence": "gone", "kind": "choice"},))
    assert [(cause is None, said.get("kind")) for cause, said in gone.pairs] == [
        (False, None),
        (True, "choice"),
    ]


def test_sections_and_options_have_the_gravest_outcome_of_each_dtype(judged):
    (chapter,) = chapters(judged, CLAUSES)
    signs = {x.judged.name: x.sections["A"][0].sign for x in chapter.lines}
    assert signs == {"elementwise": "✗", "ahead": "✗", "right": "✓"}
    wrong = chapter.lines[0]
    gradients = next(x for x in chapter.options if x.startswith("has gradients"))
    state = wrong.options[gradients][0]
    assert state.words(len(state.dtypes) + 1).startswith("failed: ")
    assert "in float32" in state.words(len(state.dtypes) + 1)
    assert " in " not in state.words(len(state.dtypes))
    assert [*chapter.sections] == ["A", "V", "K", "C"]


def test_a_terminal_has_a_line_each(judged):
    lines = table(judged, CLAUSES).splitlines()
    assert lines[0].split() == ["A", "V", "K", "C"]
    assert lines[1].split()[:6] == ["elementwise", "theirs", "1.2", "not", "certified,", "for"]
    assert "when not (gradients asked for" in lines[2]
    assert lines[3].startswith("    largest: N=")
    assert max(map(len, lines)) <= 120


def test_markdown_has_tables_that_lead_to_what_is_wrong(judged):
    text = markdown(judged, CLAUSES)
    assert "| [elementwise](#i1) | theirs 1.2 | not certified, for 1 cause | [✗](#i1) |" in text
    assert '### <a id="i1"></a>elementwise' in text
    assert "* **fault**: where M > 1, gradients are wrong" in text
    assert "| gradients of q, k and v | [✗](#i1) |" in text
    for block in text.split("\n\n"):
        if block.startswith("|"):  # a table: as many cells in each row
            assert len({row.replace("\\|", "").count("|") for row in block.splitlines()}) == 1


def test_a_page_has_rows_that_filters_can_tell(shown, judged):
    rows = [x for x in shown.all("tr") if "data-l" in x.attributes]
    assert len(rows) == 2 * len(judged)
    assert {x.attributes["data-l"] for x in rows} == {"theirs", "ours"}
    assert rows[0].attributes["data-k"] == "fault"
    assert rows[0].attributes["data-d"] == "float32"
    for name in ("l", "d", "k"):
        assert [x for x in shown.all("select") if x.attributes["data-filter"] == name]
    (form,) = shown.all("form")
    assert "hidden" in form.attributes  # nothing to ask where no script answers


def test_cells_lead_to_the_clause_and_the_counterexample(shown):
    first = next(x for x in shown.all("tr") if "data-l" in x.attributes)
    sign = next(x for x in first.all("a") if x.text == "✗")
    place = shown.by_id(sign.attributes["href"][1:])
    assert "#c-A2" in {x.attributes["href"] for x in place.all("a")}
    assert [*shown.by_id("attention-A").all("math")]
    article = shown.by_id("i1")
    assert "got 0, want" in article.text
    (theorem,) = article.all(class_="theorem")
    assert [x.attributes["href"] for x in theorem.all("a")] == ["#c-A2"]
    assert [x.text for x in article.all("pre", class_="script")]
    for words in (*WORDS.values(), "theirs"):
        assert words in article.text


def test_a_link_of_a_strangers_leads_nowhere_else(wrong):
    said = {**WORDS, "issue": "javascript:alert(1)", "words": HOSTILE}
    found = page(matrix_page([Judged(HOSTILE, HOSTILE, HOSTILE, hostile(wrong), (said,))], CLAUSES))
    assert not [x for x in found.all("a") if not x.attributes["href"].startswith("#")]
    assert len([*found.all("script")]) == 1
    text = markdown([Judged(HOSTILE, HOSTILE, "", hostile(wrong), (said,))], CLAUSES)
    assert "<script" not in text
    assert "<img" not in text


def test_several_kinds_have_a_table_each(judged):
    layer = replace(judged[2].certificate, about="layer")
    text = matrix_page([*judged, Judged("layer", "ours", "", layer)], CLAUSES)
    assert [x.text for x in page(text).all("h2")][:2] == ["An attention function", "A layer"]


@pytest.mark.slow
def test_forty_of_four_dtypes_are_small(judged):
    """Each with as many clauses as attention has, and five causes that somebody judged."""
    about = [c for c in CLAUSES.values() if c.about == "attention"]
    pattern = next(v for v in judged[0].certificate.verdicts if v.causes)
    verdicts = tuple(
        replace(pattern, clause=c.number, name=c.name, dtype=d, outcome=outcome)
        for c, outcome in zip(about, itertools.cycle(("holds", "violated")))
        for d in DTYPES
    )
    wrong = judged[0].certificate
    causes = tuple(replace(wrong.causes[0], lens=f"number {n}") for n in range(5))
    certificate = replace(wrong, verdicts=verdicts, causes=causes)
    many = [Judged(f"attend_{n}", f"library_{n}", "1.0", certificate, (WORDS,)) for n in range(40)]
    text = matrix_page(many, CLAUSES)
    assert len(text.encode()) < 1_500_000
    page(text)


def test_a_clause_is_told_what_it_is_in_each_dtype(judged):
    """A clause that raised in one format and failed in others was said to raise in all."""
    wrong = judged[0].certificate
    pattern = next(v for v in wrong.verdicts if v.outcome == "violated")
    outcomes = {"float64": "refused", "float32": "violated", "float16": "violated"}
    mixed = (replace(pattern, dtype=d, outcome=o) for d, o in outcomes.items())
    said = Judged("attend", "theirs", "1.0", replace(wrong, verdicts=tuple(mixed)), (WORDS,))
    place = page(matrix_page([said], CLAUSES)).by_id(f"i1-{pattern.clause[0]}")
    number = pattern.clause
    words = f"raised an exception in float64: {number}; failed in float32, float16: {number}"
    assert " ".join(place.text.split()) == f"{number[0]}: {words}"


def test_certificates_are_gathered_from_files_and_folders(judged_once, tmp_path):
    _, file = judged_once("tests.targets:elementwise")
    report = tmp_path / "attend" / "certificate.json"
    report.parent.mkdir()
    for place in (tmp_path / "mine.json", report):
        place.write_text(file.read_text())
    found = gathered([str(tmp_path)])
    assert [x.name for x in found] == ["attend", "mine"]
    assert {x.library for x in found} == {"tests"}
    assert [x.name for x in gathered([str(report), str(report)])] == ["attend"]


@pytest.mark.parametrize(
    ("command", "library"),
    [
        ("python -m spec certify torch.nn.functional:scaled --dtype float32", "torch"),
        ("python -m spec certify path/to/mine.py:attend", "mine.py"),
        ("attention-spec certify ./build/mine --profile quick", "mine"),
        ("attention-spec certify lib/libmine.so:attend", "libmine.so"),
        ("certificate", ""),
    ],
)
def test_a_library_is_told_by_the_target(right, command, library):
    assert library_of(replace(right, command=command)) == library


@pytest.mark.parametrize("text", ["", "[]", "{}", "7", '{"passed": true, "ledger": {}}', "no"])
def test_what_is_no_certificate_is_said(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(Unsuitable, match="is no certificate"):
        gathered([str(tmp_path / "x.json")])
