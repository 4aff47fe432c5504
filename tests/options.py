"""The page spec/options.md, from the data of `spec.attention`: `python -m tests.options`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from spec.attention.conventions import CONVENTIONS
from spec.attention.deployed import LIBRARIES
from spec.attention.libraries import OPTIONS, QUESTIONS, Library, Option, Question
from spec.attention.options import PARAMETERS
from spec.attention.parameter import Parameter
from spec.attention.plug.signature import RETURNING
from spec.attention.record import Implementation

PAGE = Path(__file__).parent.parent / "spec" / "options.md"
HEAD = """\
# The options of deployed attention

What kernels, frameworks and servers add to attention, who has what under which name, and where the
same name means different things. Written by `python -m tests.options`, from
[the words](attention/libraries.py) and [the rows](attention/deployed). With positions p_i of
queries and r_j = j of keys, a window (L, R), a soft-cap, biases b, slopes m, texts seg and sinks t:

    s_ij  = scale <q_i, k_j>
    z_ij  = cap(s_ij) + b_ij - m_h |p_i - r_j|
    i sees j  <=>  mask_ij, seg_i = seg_j, p_i - L <= r_j <= p_i + R, and r_j <= p_i if causal
    lse_i = log(e^t_h + sum_j e^z_ij)    over the keys that i sees; no sink is t_h = -inf
    a_ij  = e^(z_ij - lse_i)
    o_i   = sum_j a_ij v_j

"""
JUDGED = (
    "Each acts at one place of these lines, so any of them go together. An attention function is "
    "asked here for {judged}; for the others it is not asked yet. Linear biases that a function "
    "makes have clauses of their own (`--kind alibi`).\n\n"
)
SINKS = """\
## Four things called a sink

1. A *logit sink*: t_h above, a logit without a value. With t_h = 0 it is called "off by one" or
   "smooth softmax".
2. *Sink tokens*: the first n keys, which no window hides. They are keys like others.
3. A bias on the first key: t_h is added to z_i0. That key has a value, and its weight counts.
4. A key and a value that are appended to all others, learnt (`add_bias_kv`) or zero
   (`add_zero_attn` of `torch.nn.MultiheadAttention`). A key of zeros with a value of zeros is a
   logit sink with t_h = 0.

"""
WHO = """\
## Who has what

What an interface calls an option; a dash where it has none, or none was found. A mask that the
caller writes, or a function of scores, can say what has no name.

"""
WHERE = """\
## Where they disagree

Choices in **bold** are what is judged here unless another is declared (docs/reference.md).
Who is named twice has both. `--api flash-attn-2` declares what that one has but one answer to.

"""
NAMED = (
    "## By which names they are asked here\n\nA function's parameters are matched by these names, "
    "and given what they mean to those who have them. {names}.\n\n"
)
READ = """\
## Where this was read

Each row was read in these files, at these commits; what nobody read is not in the tables. Of cuDNN,
FlashMLA, ONNX and aiter, references are among them that their kernels are tested against, and of
TransformerEngine, slopes are those of the path that fuses nothing.

"""


def page() -> str:
    """The whole page."""
    return HEAD + "\n\n".join(map(paragraph, OPTIONS.values())) + "\n\n" + "".join(sections())


def paragraph(option: Option) -> str:
    """What an option means."""
    return f"**{option.name[0].upper()}{option.name[1:]}.** {option.text}"


def sections() -> Iterator[str]:
    """What comes after the options."""
    words = {word for parameter in PARAMETERS for word in parameter.spellings}
    words |= {field.name for field in fields(Implementation)}
    judged = [f"`{option.word}`" for option in OPTIONS.values() if option.word in words]
    yield JUDGED.format(judged=f"{', '.join(judged[:-1])} and {judged[-1]}") + SINKS + WHO
    yield from rows(("", *OPTIONS), (cells(library) for library in LIBRARIES))
    yield "\n" + WHERE
    yield from rows(("", "answers"), map(answers, QUESTIONS.values()))
    asked = [*map(named, PARAMETERS), f"the log-sum-exp as well: {coded(RETURNING)}"]
    yield "\n" + NAMED.format(names="; ".join(asked))
    yield READ
    yield from (f"* {library.name}: {'; '.join(links(library))}\n" for library in LIBRARIES)


def rows(head: tuple[str, ...], body: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """A table, line by line."""
    for row in (head, ("---",) * len(head), *body):
        yield f"| {' | '.join(row)} |\n"


def cells(library: Library) -> tuple[str, ...]:
    """The row of a library: what it calls each option."""
    names = (library.called.get(option) for option in OPTIONS)
    return (library.name, *(f"`{name}`" if name else "–" for name in names))


def named(parameter: Parameter) -> str:
    """How functions spell a parameter, and what some of them mean by that."""
    usual = coded(x for x in parameter.spellings if x not in parameter.own)
    own = (f"{coded([x])} ({summary(put)})" for x, put in parameter.own.items())
    added = [f"of numbers to add {coded(parameter.added)}"] if parameter.added else []
    return f"{parameter.name.replace('_', ' ')}: {', '.join([usual, *own, *added])}"


def summary(function: Callable[..., Any]) -> str:
    """The first line of what a function says of itself, within a sentence."""
    line = (function.__doc__ or "").splitlines()[0].rstrip(".")
    return line[0].lower() + line[1:]


def coded(names: Iterable[str]) -> str:
    """Names as the page has them."""
    return ", ".join(f"`{name}`" for name in names)


def answers(question: Question) -> tuple[str, str]:
    """The row of a question: each choice, and who has it."""
    usual = CONVENTIONS.get(question.name, ("",))[0]
    default = CONVENTIONS["causal"][0] if usual == "as-causal" else usual
    found = []
    for choice in question.choices:
        who = [x.name for x in LIBRARIES if choice in x.says.get(question.name, ())]
        if who:
            shown = f"**{choice}**" if choice == default else choice
            found.append(f"{shown}: {', '.join(who)}")
    return question.text, "<br>".join(found)


def links(library: Library) -> Iterator[str]:
    """The files that a library was read in."""
    for source in library.sources:
        files = ", ".join(f"[{path}]({source.url(path)})" for path in source.paths)
        yield f"{source.repository} at {source.commit[:8]}: {files}"


if __name__ == "__main__":
    PAGE.write_text(page())
