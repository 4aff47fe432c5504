"""Generate the page spec/options.md from data of `spec.attention`: `python -m tests.options`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from spec.attention.conventions import CONVENTIONS
from spec.attention.deployed import LIBRARIES
from spec.attention.libraries import OPTIONS, QUESTIONS, Library, Option, Question
from spec.attention.options import PARAMETERS
from spec.attention.parameter import Parameter
from spec.attention.plug.paging import PAGING
from spec.attention.plug.signature import RETURNING
from spec.attention.record import Implementation

PAGE = Path(__file__).parent.parent / "spec" / "options.md"
HEAD = """\
# The options of deployed attention

This page lists the options that kernels, frameworks and servers add to attention, their names in
each library, and the names that mean different things. `python -m tests.options` generates it from
[descriptions](attention/libraries.py) and [rows](attention/deployed). With positions p_i of queries
and r_j = j of keys, a window (L, R), biases b, ALiBi slopes m, segments seg and attention sinks t:

    s_ij  = scale <q_i, k_j>
    z_ij  = cap(s_ij) + b_ij - m_h |p_i - r_j|
    j visible to i <=> mask_ij, seg_i = seg_j >= 0, p_i - L <= r_j <= p_i + R, r_j <= p_i if causal
    lse_i = log(e^t_h + sum_j e^z_ij)    over the keys visible to i; no sink is t_h = -inf
    a_ij  = e^(z_ij - lse_i)
    o_i   = sum_j a_ij v_j

"""
JUDGED = (
    "Each option changes one term of these lines, so options can be combined. An attention "
    "function is tested here with {judged}{missing}. Functions that compute linear biases have "
    "their own clauses (`--kind alibi`).\n\n"
)
SINKS = """\
## Four things called a sink

1. An *attention sink*: t_h above, a logit without a value. With t_h = 0 it is called "off by one"
   or "smooth softmax".
2. *Sink tokens*: the n leading keys, which no window masks. They are ordinary keys.
3. A bias on the first key: t_h is added to z_i0. That key has a value, and its weight counts.
4. A key and a value that are appended to all others, either learned (`add_bias_kv`) or zero
   (`add_zero_attn` of `torch.nn.MultiheadAttention`). A key of zeros with a value of zeros is an
   attention sink with t_h = 0.

"""
HAVING = """\
## Options of each library

The name of each option; a dash means that the library has none, or that none was found. A mask or
a function of scores that the caller writes can express an option that has no name.

"""
WHERE = """\
## Where libraries disagree

**Bold** choices are [the defaults](../docs/reference.md#conventions). A library in two lists has
both. `--api flash-attn-2` declares the choices of flash-attn 2, except where it supports several.

"""
NAMED = (
    "## Parameter names\n\nParameters of a function are matched by these names. Each gets the "
    "value that the name means in its library. {names}.\n\n"
)
READ = """\
## Sources

Each row comes from these files, at these commits; the tables contain nothing else. For cuDNN,
FlashMLA, ONNX and aiter, the files include references that their kernels are tested against. For
TransformerEngine, the slopes are those of the unfused path.

"""


def page() -> str:
    """The text of the page."""
    return HEAD + "\n\n".join(map(paragraph, OPTIONS.values())) + "\n\n" + "".join(sections())


def paragraph(option: Option) -> str:
    """The paragraph that explains an option."""
    return f"**{option.name[0].upper()}{option.name[1:]}.** {option.text}"


def sections() -> Iterator[str]:
    """The parts of the page after the paragraphs of options."""
    words = {word for parameter in PARAMETERS for word in parameter.spellings}
    words |= {field.name for field in fields(Implementation)} | {*PAGING}
    *some, last = [f"`{option.word}`" for option in OPTIONS.values() if option.word in words]
    left = [option.name for option in OPTIONS.values() if option.word not in words]
    missing = f", and not yet with {', '.join(left)}" if left else ""
    yield JUDGED.format(judged=f"{', '.join(some)} and {last}", missing=missing) + SINKS + HAVING
    yield from rows(("", *OPTIONS), (cells(library) for library in LIBRARIES))
    yield "\n" + WHERE
    yield from rows(("question", "answers"), map(answers, QUESTIONS.values()))
    asked = [*map(named, PARAMETERS), f"**also return the log-sum-exp**: {coded(RETURNING)}"]
    yield "\n" + NAMED.format(names="; ".join(asked))
    yield READ
    yield from (f"* {library.name}: {'; '.join(links(library))}\n" for library in LIBRARIES)


def rows(head: tuple[str, ...], body: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """The lines of a table."""
    for row in (head, ("---",) * len(head), *body):
        yield f"| {' | '.join(row)} |\n"


def cells(library: Library) -> tuple[str, ...]:
    """The row of a library: its name of each option."""
    names = (library.called.get(option) for option in OPTIONS)
    return (library.name, *(f"`{name}`" if name else "–" for name in names))


def named(parameter: Parameter) -> str:
    """The names of a parameter, with the meaning of those that have another one."""
    usual = coded(x for x in parameter.spellings if x not in parameter.own)
    own = (f"{coded([x])} ({summary(put)})" for x, put in parameter.own.items())
    added = [f"for an additive one {coded(parameter.added)}"] if parameter.added else []
    noun = parameter.name.replace("_", " ") if parameter.mate else parameter.noun
    return f"**{noun}**: {', '.join([usual, *own, *added])}"


def summary(function: Callable[..., Any]) -> str:
    """The first line of the docstring of a function, for use within a sentence."""
    line = (function.__doc__ or "").splitlines()[0].rstrip(".")
    return line[0].lower() + line[1:]


def coded(names: Iterable[str]) -> str:
    """Names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def answers(question: Question) -> tuple[str, str]:
    """The row of a question: each choice, and the libraries that have it."""
    usual = CONVENTIONS.get(question.name, ("",))[0]
    default = CONVENTIONS["causal"][0] if usual == "as-causal" else usual
    found = []
    for choice in question.choices:
        having = [x.name for x in LIBRARIES if choice in x.says.get(question.name, ())]
        if having:
            shown = f"**{choice}**" if choice == default else choice
            found.append(f"{shown}: {', '.join(having)}")
    return question.text, "<br>".join(found)


def links(library: Library) -> Iterator[str]:
    """The source files of a library, with links."""
    for source in library.sources:
        files = ", ".join(f"[{path}]({source.url(path)})" for path in source.paths)
        yield f"{source.repository} at {source.commit[:8]}: {files}"


if __name__ == "__main__":
    PAGE.write_text(page())
