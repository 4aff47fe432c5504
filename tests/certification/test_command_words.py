"""The words of the command line: help, lists, searches, and the likeliest word in an error."""

import re
import sys
from pathlib import Path

import pytest

from spec import CLAUSES
from spec.backends import Unsuitable
from spec.certification.command_line import main
from spec.certification.doors import requested
from spec.certification.listing import TOPICS
from spec.certification.target.loading import resolved
from spec.kinds import KINDS
from spec.meanings import FORMATS, NUMBER, meaning
from tests.certification import here

ROOT = Path(__file__).parents[2]


def test_without_a_command_the_help_says_what_this_is_and_how_to_start():
    done = here.run()
    assert done.returncode == 0
    assert "Check attention implementations against an executable specification." in done.stdout
    for what in ("FUNCTION", "LAYER --description FILE.toml", "CACHE"):
        assert f"  attention-spec certify FILE.py:{what}\n" in done.stdout
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("certify", "tests.targets:right", "--profile", "quik"), "; did you mean 'quick'?"),
        (("certify", "tests.targets:right", "--kind", "Layer"), "; did you mean 'layer'?"),
        (("certify", "tests.targets:rihgt"), "has no 'rihgt'; did you mean 'right'?"),
        (("certify", "torch.nn:functionl.relu"), "; did you mean 'functional'?"),
        (("list", "layout"), "; did you mean 'layouts'?"),
    ],
)
def test_the_likeliest_word_is_named(words, hint):
    done = here.run(*words)
    assert done.returncode == 2
    assert done.stderr.endswith(f"{hint}\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [("Cached", "; it has Heads, attend"), ("Head", "; did you mean 'Heads'?"), ("math", None)],
)
def test_a_name_that_a_file_does_not_have_is_answered_with_its_own(name, said, tmp_path):
    """Not with names of its module, such as __cached__."""
    file = tmp_path / "mine.py"
    file.write_text("import math\n\nclass Heads: ...\ndef attend(): ...\ndef _hidden(): ...\n")
    done = here.run("certify", f"{file}:{name}")
    assert done.returncode == 2
    module = f"{file}:math is of type module, not a function, a class or a record"
    want = module if said is None else f"{file} has no {name!r}{said}"
    assert done.stderr == f"error: {want}\n"


def test_a_file_without_a_name_is_answered_with_its_functions(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def attend(q, k, v): ...\n\nclass Layer: ...\n\ndef _helper(): ...\n")
    done = here.run("certify", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    want = f"say which function or class to check: {file}:attend, {file}:Layer"
    assert done.stderr == f"error: {file}: {want}\n"


@pytest.mark.parametrize("place", ["{}", "{}:attend"])
def test_a_folder_is_no_target(place, tmp_path):
    done = here.run("certify", place.format(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    want = "is a folder: name a file in it and what to check, as FILE.py:NAME"
    assert done.stderr == f"error: {tmp_path} {want}\n"


@pytest.mark.parametrize("command", ["certify", "clauses", "compare a.json", "ledger a"])
def test_an_option_that_there_is_not_is_answered_with_the_help_of_its_command(command):
    done = here.run(*command.split(), "--clauze", "A1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--clauze" in done.stderr
    assert done.stderr.endswith(f" (see attention-spec {command.split()[0]} --help)\n")


def test_the_option_that_is_likeliest_meant_is_named():
    done = here.run("certify", "tests.targets:right", "--profle", "quick")
    assert "unrecognized arguments: --profle quick; did you mean '--profile'?" in done.stderr


def test_an_error_names_all_parameters_that_cannot_be_filled(tmp_path):
    file = tmp_path / "mine.py"
    body = "class Cache:\n    def __init__(self, {}): ...\n    def extend(self, q, k, v): ...\n"
    file.write_text(body.format("batch, model, layer") + "def attend(q, k, v, a, b, c): ...\n")
    done = here.run("certify", f"{file}:Cache")
    want = "requires 'model' and 'layer', which cannot be filled; known are batch, "
    assert done.stderr.startswith(f"error: Cache {want}")
    done = here.run("certify", f"{file}:attend")
    assert "attend requires the parameters 'a', 'b' and 'c', which cannot be filled" in done.stderr
    assert "give them a default, or wrap the target in a function without them" in done.stderr


@pytest.mark.parametrize("short", ["fp32", "f32", "float"])
def test_formats_have_short_names(short):
    assert requested("tests.targets:right", {"dtypes": short}).dtypes == ("float32",)


def test_clauses_are_found_by_words_of_their_text():
    done = here.run("clauses", "log-sum-exp", "scores")
    numbers = {*re.findall(r"^([A-Z]\d+) ", done.stdout, re.M)}
    wanted = {
        n for n, x in CLAUSES.items() if "log-sum-exp" in x.sentence and "score" in x.sentence
    }
    assert wanted
    assert wanted <= numbers < CLAUSES.keys()
    assert here.run("clauses", "nobody", "writes", "this").returncode == 2


def numbers(*words):
    """The clauses that a search prints, and those that it only mentions."""
    printed, _, also = here.run("clauses", *words).stdout.partition("also in the text of ")
    return {*re.findall(r"^([A-Z]\d+) ", printed, re.M)}, {*re.findall(r"[A-Z]\d+", also)}


def test_a_search_finds_each_form_of_a_word_and_clauses_whose_reasons_have_it():
    rolling = numbers("rolling")
    assert {"C24", "C41", "C42", "C43"} <= rolling[0]  # rolled back; rolling caches
    assert rolling == numbers("rolled") == numbers("rolls")
    named, mentioned = numbers("overwrites")
    assert mentioned >= {"W19"}, "its reason has another form of the word"
    assert not named & mentioned


def test_the_clauses_that_must_reject_a_known_bug_are_listed():
    done = here.run("clauses", "bug-7")
    assert done.stdout.startswith("BUG-07: Sliding window ignored on one code path\n")
    bugs = {
        (about, x.name)
        for about, kind in KINDS.items()
        for x in kind.mistakes.values()
        if x.incident == "BUG-07"
    }
    wanted = {n for n, x in CLAUSES.items() if {(x.about, y) for y in x.catches} & bugs}
    assert wanted
    assert numbers("BUG-07")[0] == wanted
    caught = {n for n, x in CLAUSES.items() if "drops_the_row_term" in x.catches}
    assert numbers("drops_the_row_term")[0] == caught


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("BUG-99", "unknown class of bugs 'BUG-99': there are BUG-01 to BUG-46"),
        ("BUG-34", "no known bugs. The bug is in the compiler"),
        ("text-classifier", "Its bug is `shows_the_mean_for_every_head` of BUG-37."),
    ],
)
def test_a_class_without_clauses_has_an_error_that_says_why(word, words):
    done = here.run("clauses", word)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.quick(
    "backends", "compiled", "profiles", "dtypes", "apis", "layouts", "conventions", "kinds"
)
@pytest.mark.parametrize("topic", TOPICS)
def test_what_options_accept_is_listed(topic):
    lines = here.run("list", topic).stdout.splitlines()
    assert lines
    assert all(line.startswith("  ") for line in lines)
    assert all(line in here.run("list").stdout for line in lines)


def test_a_library_that_is_not_there_is_named_with_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "flax", None)
    with pytest.raises(Unsuitable, match="no module 'flax'; install it: pip install flax"):
        resolved("flax:MultiHeadDotProductAttention")


def test_a_function_that_returns_a_tuple_is_told_what_to_return():
    done = here.run("certify", "tests.targets:wrong_type", "--backend", "numpy")
    assert done.returncode == 2
    assert "return the output alone, the log-sum-exp as well if called with" in done.stderr


@pytest.mark.parametrize("word", ["masks", "M"])
def test_a_section_is_named_by_its_letter_or_its_word(word):
    done = here.run("clauses", word)
    assert {*re.findall(r"^([A-Z])\d+ ", done.stdout, re.M)} == {"M"}


def test_every_section_has_a_word_of_its_own():
    for kind in KINDS.values():
        letters = {x.section for x in CLAUSES.values() if x.about == kind.about}
        assert letters == kind.sections.keys()
        assert len({*kind.sections.values()}) == len(letters)
        assert not any("," in word for word in kind.sections.values())


def test_each_word_of_a_report_is_defined_by_the_command_and_on_the_reference_page():
    """Sizes and features, of every kind: each has one sentence, and both places have the same."""
    printed = here.run("list", "features").stdout
    assert printed == here.run("list", "conditions").stdout
    listed = {tuple(re.split(" {2,}", line.strip(), maxsplit=1)) for line in printed.splitlines()}
    page = (ROOT / "docs" / "reference.md").read_text().partition("\n## Conditions\n")[2]
    for name, kind in KINDS.items():
        table = page.partition(f"\n| {name} | meaning |\n")[2].partition("\n\n")[0]
        for word in (*kind.features.letters, *kind.features.words):
            said = meaning(word, kind.meanings)
            assert said, f"{name}: {word}: spec.{name}.features has no definition"
            assert (f"{name}: {word}", said) in listed
            assert f"| `{word}` | {said} |" in (page if word in FORMATS else table)
    assert "a key has no weight, or less than exp(-64), for a query that may attend to a" in page


def test_no_definition_is_of_a_word_that_no_kind_has():
    known = {NUMBER.sub("#", x) for k in KINDS.values() for x in k.features.words} | {
        x for kind in KINDS.values() for x in (*kind.features.letters, *kind.features.words)
    }
    assert {word for kind in KINDS.values() for word in kind.meanings} <= known
