"""No text that a person reads (`gathered`) has a turn of phrase that is banned (`turns`)."""

import ast
import re
from collections.abc import Callable, Iterable
from functools import cache

import pytest

from tests.walked import ROOT
from tests.words import gathered
from tests.words.gathered import Sentence
from tests.words.turns import TURNS, Turn, found

# Hits that stay for now, as parts of sentences, each with the reason and what to write instead.
# An entry that is found nowhere has to go.
QUOTED = "other people's words"
KEPT = {"It is important that the latter": QUOTED}


@cache
def sentences() -> tuple[Sentence, ...]:
    """All that is read, each sentence of a file once."""
    return tuple(dict.fromkeys(gathered.gathered()))


def problems(read: Iterable[Sentence], kept: Iterable[str] = ()) -> tuple[list[str], set[str]]:
    """A line for each turn, as a person needs it to rewrite the sentence; and what is kept."""
    lines, used = [], set()
    for path, text in read:
        for turn, match in found(text):
            here = [part for part in kept if _covers(part, text, match.start())]
            used.update(here)
            if not here:
                lines.append(_line(path, text, turn, match.group()))
    return lines, used


def _covers(part: str, text: str, place: int) -> bool:
    start = text.find(part)
    return start >= 0 and start <= place < start + len(part)


def _line(path: str, text: str, turn: Turn, words: str) -> str:
    return f"{path}: {text}\n    {words!r}: {turn.why}.\n    Write: {turn.instead}"


def test_no_text_has_a_banned_turn() -> None:
    lines, used = problems(sentences(), KEPT)
    assert not lines, "\n\n".join(["", *lines])
    assert used == {*KEPT}, f"found nowhere: {KEPT.keys() - used}"


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "docs/report.md",
        "spec/README.md",
        "spec/incidents.md",
        "spec/options.md",
        "spec/schema/certificate-1.json",
        "spec/attention/clauses/__init__.py",  # headings of sections
        "spec/attention/clauses/values.py",  # titles
        "spec/attention/features.py",  # conditions
        "spec/attention/conventions.py",
        "spec/attention/mistakes/scaling.py",
        "spec/certification/options.py",  # --help
        "spec/certification/judging/cause.py",
        "pytest_attention_spec.py",
        "examples/README.md",
        "examples/numpy_function.py",
        "implementations/arguments.py",  # errors
        "implementations/ledger/README.md",
        "implementations/ledger/torch.toml",
        "implementations/ledger/faults/keras_jax_tpu_scale.py",
    ],
)
def test_the_file_is_read(path: str) -> None:
    assert any(sentence.path == path for sentence in sentences())


def test_no_text_installs_this_package_from_an_index() -> None:
    """It may be on none: README installs a checkout, and errors name the missing package."""
    assert any("pip install" in text for _, text in sentences())
    assert not [x for x in sentences() if re.search(r"pip install '?attention-spec", x.text)]


def test_docstrings_of_the_engine_are_read() -> None:
    path = "spec/certification/isolation/guard.py"
    (first, *_) = gathered.docstrings(ast.parse((ROOT / path).read_text()))
    assert first.partition(": ")[0] in [text.partition(": ")[0] for _, text in sentences()]


def named(value: object) -> str:
    return value.words[0] if isinstance(value, Turn) else str(value)


# That each turn is found, in every kind of text, and nothing else is.


@pytest.mark.parametrize(
    ("turn", "text"), [(turn, text) for turn in TURNS for text in turn.found], ids=named
)
def test_a_sentence_with_the_turn_is_found(turn: Turn, text: str) -> None:
    assert turn in [turn for turn, _ in found(text)]
    (line, *_), _ = problems([Sentence("a.py", text)])
    assert line.startswith(f"a.py: {text}\n")
    assert "Write: " in line


@pytest.mark.parametrize(
    ("turn", "text"), [(turn, text) for turn in TURNS for text in turn.fine], ids=named
)
def test_a_correct_sentence_is_accepted(turn: Turn, text: str) -> None:
    assert turn not in [turn for turn, _ in found(text)]


def in_program(read: Callable[[ast.Module], Iterable[str]]) -> Callable[[str], Iterable[str]]:
    return lambda text: read(ast.parse(text))


PLANTED = "Who takes pages has\n    them read."
PLACES: dict[str, tuple[Callable[[str], Iterable[str]], str]] = {
    "a paragraph": (gathered.page, f"# Pages\n\nKeys have pages. {PLANTED}\n"),
    "below a heading": (gathered.page, f"## What keys are\n{PLANTED}\n"),
    "an item": (gathered.page, f"Keys:\n* {PLANTED}\n* Others.\n"),
    "a cell": (gathered.page, f"| pages | {PLANTED} |\n"),
    "a report on a page": (gathered.page, f"```\n{PLANTED}\n```\n"),
    "a value": (lambda text: gathered.values({"a": [{"words": text}]}), PLANTED),
    "a docstring": (in_program(gathered.docstrings), f'class A:\n    """Keys.\n\n    {PLANTED}"""'),
    "a module": (in_program(gathered.docstrings), f'"""Keys. {PLANTED}"""'),
    "a constant": (in_program(gathered.constants), f"x = f(help='''{PLANTED}''')"),
    "two constants": (in_program(gathered.constants), "x = 'Who takes pages ' 'has them read.'"),
    "an f-string": (in_program(gathered.constants), "x = f'Keys. Who takes {n} has them read.'"),
    "a message": (in_program(gathered.messages), f"raise ValueError(f'''{{x}}. {PLANTED}''')"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_turn_is_found_wherever_it_is_written(place: str) -> None:
    read, text = PLACES[place]
    lines, _ = problems(gathered.cut("a.py", read(text)))
    assert len(lines) == 1


def test_programs_on_pages_and_private_functions_are_not_read() -> None:
    assert not [*gathered.cut("a.md", gathered.page(f"```python\n# {PLANTED}\n```"))]
    private = ast.parse(f'def _f():\n    """{PLANTED}"""')
    assert not [*gathered.cut("a.py", gathered.docstrings(private))]
    assert not [*gathered.constants(private)]


def test_a_hit_is_kept_where_it_was_and_nowhere_else() -> None:
    text = "It is wrong wherever it is asked, which is asked."
    lines, used = problems([Sentence("a.py", text)], ["wherever it is asked"])
    assert (lines, used) == ([], {"wherever it is asked"})
    lines, used = problems([Sentence("a.py", "It is asked.")], ["wherever it is asked"])
    assert (len(lines), used) == (1, set())
