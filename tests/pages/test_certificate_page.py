"""A certificate as a page: what it says, that it is whole, and that a stranger's text is text."""

from dataclasses import replace

import pytest

from spec import CLAUSES
from spec.certification.ledger.reading import loaded
from spec.certification.pages.certificate_page import certificate_page
from tests.certification.test_saved import SAVED
from tests.pages.parsed import page

pytestmark = pytest.mark.html
HOSTILE = '"><script>alert(1)</script><img src=//evil onerror=x>&{{ 7 * 7 }}'


@pytest.mark.slow
def test_it_says_what_the_certificate_says(wrong):
    found = page(certificate_page(wrong, CLAUSES))
    title = next(found.all("title"))
    assert title.text == "elementwise: not certified, for 1 cause"
    (heading,) = found.all("h1")
    assert heading.text == "elementwise"
    text = " ".join(found.text.split())
    assert "when not (gradients asked for and M > 1)" in text
    assert "where M > 1, gradients are wrong" in text
    assert wrong.command in text
    for name, version in wrong.versions.items():
        assert f"{name} {version}" in text


def test_a_cause_has_its_clause_as_mathematics_and_its_script(wrong):
    found = page(certificate_page(wrong, CLAUSES)).by_id("cause-1")
    example = wrong.causes[0].counterexample
    (theorem,) = found.all(class_="theorem")
    assert example.sentence in theorem.text
    assert [*theorem.all("math")]
    (script,) = found.all("pre", class_="script")
    assert script.text == example.script.strip()
    names = [x.text for x in found.all("b")]
    assert names[-5:] == ["scores", "weights", "got", "want", "error"]
    assert all(x.attributes["role"] == "img" for x in found.all("svg", class_="heat"))
    assert all([*x.all("title")] for x in found.all("svg", class_="heat"))


def test_cells_lead_to_clauses_and_these_to_causes(wrong):
    found = page(certificate_page(wrong, CLAUSES))
    row = found.by_id("c-A3")
    assert {x.attributes["href"] for x in row.all("a")} == {"#cause-1"}
    assert "Clauses of section A" in {x.attributes.get("aria-label") for x in found.all()}
    links = [x.attributes["href"] for x in found.all("a")]
    assert links.count("#section-A") == 1 + len(wrong.dtypes)
    worst = next(v.worst for v in wrong.verdicts if v.clause == "A1")
    assert f"{worst:.2f}" in found.by_id("c-A1").text


def test_what_holds_has_no_causes(right):
    found = page(certificate_page(right, CLAUSES))
    assert not [*found.all(id="causes")]
    (verdict,) = found.all(class_="verdict")
    assert verdict.text == "✓certified (quick)"
    assert "good" in verdict.classes


def test_what_is_broken_for_no_known_cause_is_shown_as_well(wrong):
    verdicts = tuple(
        replace(v, causes=(), counterexample=wrong.causes[0].counterexample) if v.causes else v
        for v in wrong.verdicts
    )
    found = page(certificate_page(replace(wrong, causes=(), verdicts=verdicts), CLAUSES))
    assert "got" in found.by_id("broken-K2").text
    assert "not known" in found.text


def test_what_is_known_to_deviate_is_said_at_once(right):
    *others, last = right.verdicts
    known = replace(last, outcome="deviates", message="it is slow")
    found = page(certificate_page(replace(right, verdicts=(*others, known)), CLAUSES))
    assert f"{last.clause}: it is slow" in next(found.all("dl")).text
    assert (
        f"on all problems that the target supports, except for the deviations {last.clause}"
        in found.text
    )


def test_a_certificate_of_before_is_a_page():
    found = page(certificate_page(loaded(SAVED / "certificate.json"), CLAUSES))
    assert "The problem" in found.text
    assert "The result" not in found.text


def test_clauses_that_no_longer_stand_are_named(wrong):
    found = page(certificate_page(wrong, {}))
    assert "output matches definition" in found.by_id("c-A1").text


def hostile(certificate):
    """The same with a stranger's words wherever a stranger has some."""
    cause = certificate.causes[0]
    words = {"message": HOSTILE, "script": HOSTILE, "looks_like": (HOSTILE,), "sentence": HOSTILE}
    example = replace(cause.counterexample, formula=HOSTILE, **words)
    verdicts = tuple(replace(v, message=HOSTILE, causes=()) for v in certificate.verdicts)
    return replace(
        certificate,
        name=HOSTILE,
        command=HOSTILE,
        versions={HOSTILE: HOSTILE},
        conventions={HOSTILE: HOSTILE},
        notes=(HOSTILE,),
        advice=(HOSTILE,),
        verdicts=verdicts,
        causes=(replace(cause, lens=HOSTILE, besides=HOSTILE, counterexample=example),),
    )


def test_a_strangers_words_are_words(wrong):
    text = certificate_page(hostile(wrong), CLAUSES)
    found = page(text)
    assert not [*found.all("img")]
    assert len([*found.all("script")]) == 1
    (heading,) = found.all("h1")
    assert heading.text == HOSTILE
    assert "alert(1)" in found.by_id("cause-1").text
    assert "49" not in heading.text


def test_it_is_small(wrong):
    assert len(certificate_page(wrong, CLAUSES).encode()) < 150_000
