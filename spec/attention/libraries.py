"""What deployed attention can be asked, and the questions that libraries answer differently.

    OPTIONS     what may be asked beside q, k and v, in one paragraph each
    QUESTIONS   what the name of an option leaves open, and the answers that are in use
    Library     one interface: its name for each option, its answers, and where they were read

The interfaces stand in `deployed`; the page `spec/options.md` is made of both. An answer that is a
choice of a convention has the name that `conventions.CONVENTIONS` has for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """What may be asked of a function.

    word: what it is asked by here, in `options.PARAMETERS` or of a record; empty without one.
    text: what it means, in the symbols of the page.
    """

    name: str
    word: str
    text: str


@dataclass(frozen=True)
class Question:
    """What is left open.

    name: of the convention where it is one of `conventions.CONVENTIONS`. about: the name of an
    option. text: the question. choices: the answers that somebody gives.
    """

    name: str
    about: str
    text: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """Files of a public repository at one commit: 40 hexadecimal digits."""

    repository: str
    commit: str
    paths: tuple[str, ...]

    def url(self, path: str) -> str:
        """Where a reader finds a file."""
        return f"https://github.com/{self.repository}/blob/{self.commit}/{path}"


@dataclass(frozen=True)
class Library:
    """One interface.

    called: what it calls an option, by the option's name. says: its answers, by the question's
    name, several where a caller can have either or where two paths of it differ.
    """

    name: str
    sources: tuple[Source, ...]
    called: Mapping[str, str]
    says: Mapping[str, tuple[str, ...]]


_OPTIONS = (
    Option(
        "causal",
        "is_causal",
        "Nothing later is seen: r_j <= p_i. Where N is not M, p_i depends on the corner of the "
        "matrix that the diagonal starts from: p_i = i from the top left, p_i = i + M - N from "
        "the bottom right, where the last query is the last key's.",
    ),
    Option(
        "window",
        "window_size",
        "Only keys near the query's own place are seen: p_i - L <= r_j <= p_i + R. (L, 0) is a "
        "sliding window; (no bound, 0) is causality. flash-attn 2 writes that (-1, 0); flash-attn "
        "4, whose word for no bound is None, takes (-1, 0) for no window at all.",
    ),
    Option(
        "cap",
        "softcap",
        "No score exceeds c: cap(s) = c tanh(s / c). What hides a key comes after it, or hidden "
        "keys would come back at -c.",
    ),
    Option(
        "logit sink",
        "sinks",
        "One logit t_h for each head takes part in the softmax and has no value, so the weights "
        "of a row sum to less than one. It is neither scaled nor capped nor hidden.",
    ),
    Option(
        "sink tokens",
        "sink_size",
        "The first n keys stay visible when a window has passed them: r_j >= p_i - L or r_j < n.",
    ),
    Option(
        "slopes",
        "alibi_slopes",
        "Linear biases (ALiBi): m_h times the distance is taken off. Of a causal row, m_h p_i is "
        "the same for every key: an implementation that adds m_h r_j alone (flash-attn 2 does) "
        "has the same output and another lse.",
    ),
    Option(
        "positions",
        "query_positions",
        "p and r are given instead of counted; causality, windows and slopes go by them.",
    ),
    Option(
        "packing",
        "query_segments",
        "Several texts share one sequence, and a key is seen by its own text only: seg_i = seg_j. "
        "Corners and positions start again in each text.",
    ),
    Option(
        "pages",
        "block_table",
        "Keys and values lie in pages of a pool, in any order; a table says which page is next. "
        "The mathematics is as before: what lies behind a text's length must not be seen.",
    ),
    Option(
        "log-sum-exp",
        "lse",
        "lse_i is returned with the output. Two parts of the keys merge by it: "
        "o = (e^lse o + e^lse' o') / (e^lse + e^lse').",
    ),
)
OPTIONS: Mapping[str, Option] = {option.name: option for option in _OPTIONS}

CORNERS = ("top-left", "bottom-right")
_QUESTIONS = (
    Question("causal", "causal", "the corner of the diagonal, N not M", CORNERS),
    Question("window-alignment", "window", "the corner that windows go by, N not M", CORNERS),
    Question(
        "left-bound",
        "window",
        "a left bound of W",
        ("W keys and the query's own", "W keys with the query's own"),
    ),
    Question("no-bound", "window", "no bound on one side", ("-1", "None", "a large number")),
    Question("softcap", "cap", "a cap beside something added", ("before-bias", "after-bias")),
    Question("no-cap", "cap", "no soft-cap", ("None", "0")),
    Question("whose-slopes", "slopes", "whose slopes", ("the caller's", "fixed by H")),
    Question("slopes-ahead", "slopes", "slopes on keys ahead", ("distance", "signed")),
    Question("slopes-alignment", "slopes", "the corner that slopes go by, N not M", CORNERS),
    Question(
        "mask-beside-causal",
        "causal",
        "a mask given beside causality",
        ("both hide", "the mask alone hides", "refused"),
    ),
    Question(
        "fully-masked", "causal", "a row that sees nothing returns", ("zero", "nan", "uniform")
    ),
    Question("lse-base", "log-sum-exp", "the base of the logarithm", ("e", "2")),
    Question("lse-sink", "log-sum-exp", "the sink's term in lse", ("with", "without")),
    Question("fully-masked-lse", "log-sum-exp", "lse of such a row", ("-inf", "+inf", "finite")),
    Question(
        "texts",
        "packing",
        "texts are told apart by",
        ("cumulative lengths", "lengths", "segment numbers", "a mask"),
    ),
    Question(
        "table",
        "pages",
        "pages are found by",
        ("a row of pages for each text", "one list and offsets into it", "the place of each key"),
    ),
)
QUESTIONS: Mapping[str, Question] = {question.name: question for question in _QUESTIONS}
