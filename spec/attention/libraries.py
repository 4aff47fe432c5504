"""Options of deployed attention, and the questions that libraries answer differently.

    OPTIONS     what a function may take in addition to q, k and v, in one paragraph each
    QUESTIONS   what the name of an option leaves open, and the answers that are in use
    Library     one interface: its name for each option, its answers, and its sources

The interfaces are in `deployed`. The page `spec/options.md` is generated from both. An answer that
is a choice of a convention has the name of that choice in `conventions.CONVENTIONS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """An option that an attention function may have.

    word: its name in `options.PARAMETERS`, or of an attribute of `Implementation`; empty if it has
    none. text: its meaning, in the symbols of the page.
    """

    name: str
    word: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question that the name of an option leaves open.

    name: the name of the convention, if `conventions.CONVENTIONS` has one. about: the name of the
    option. text: the question. choices: the answers that libraries give.
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
        """The address of a file."""
        return f"https://github.com/{self.repository}/blob/{self.commit}/{path}"


@dataclass(frozen=True)
class Library:
    """One interface.

    called: its names of options, by the names that they have here. says: its answers, by the name
    of the question. It has several answers if a caller can choose, or if two of its code paths
    differ.
    """

    name: str
    sources: tuple[Source, ...]
    called: Mapping[str, str]
    says: Mapping[str, tuple[str, ...]]


_OPTIONS = (
    Option(
        "causal",
        "is_causal",
        "A query may not attend to later keys: r_j <= p_i. If N is not M, p_i depends on the "
        "alignment of the causal diagonal: p_i = i for top-left, p_i = i + M - N for bottom-right, "
        "where the last query has the position of the last key.",
    ),
    Option(
        "window",
        "window_size",
        "A query may attend only to keys near its position: p_i - L <= r_j <= p_i + R. (L, 0) is a "
        "sliding window, and (no bound, 0) is causality. flash-attn 2 writes causality as (-1, 0). "
        "flash-attn 4 writes None for no bound, and treats (-1, 0) as no window.",
    ),
    Option(
        "soft-cap",
        "softcap",
        "All scores lie between -c and c: cap(s) = c tanh(s / c). Masks apply after it; otherwise "
        "masked keys would have the score -c.",
    ),
    Option(
        "attention sink",
        "sinks",
        "One logit t_h for each head takes part in the softmax and has no value, so the weights "
        "of a row sum to less than one. It is not scaled, not soft-capped and not masked.",
    ),
    Option(
        "leading keys",
        "sink_size",
        "The n leading keys (sink tokens) stay visible when a window has moved past them: "
        "r_j >= p_i - L or r_j < n.",
    ),
    Option(
        "ALiBi slopes",
        "alibi_slopes",
        "Linear biases: m_h times the distance is subtracted from the score. In a causal row, "
        "m_h p_i is the same for every key. An implementation that adds only m_h r_j (flash-attn 2 "
        "does) has the same output and a different lse.",
    ),
    Option(
        "positions",
        "query_positions",
        "The caller gives p and r; causality, windows and slopes use them.",
    ),
    Option(
        "packing",
        "query_segments",
        "Several sequences share one array. A query may attend only to keys of its segment: "
        "seg_i = seg_j >= 0 (that of padding is negative). Positions are counted, and diagonals "
        "aligned, within each segment.",
    ),
    Option(
        "pages",
        "block_table",
        "Keys and values are stored in pages of a pool, in any order. A table lists the pages of "
        "each sequence. The mathematics is the same; positions after the length of a sequence are "
        "masked.",
    ),
    Option(
        "log-sum-exp",
        "lse",
        "lse_i is returned with the output. With it, the outputs of two parts of the keys can be "
        "merged: o = (e^lse o + e^lse' o') / (e^lse + e^lse').",
    ),
)
OPTIONS: Mapping[str, Option] = {option.name: option for option in _OPTIONS}

HEADS_FIRST, QUERIES_FIRST = "heads before queries", "queries before heads"
CORNERS = ("top-left", "bottom-right")
_QUESTIONS = (
    Question("causal", "causal", "alignment of the causal diagonal, N not M", CORNERS),
    Question("window-alignment", "window", "alignment of windows, N not M", CORNERS),
    Question(
        "left-bound",
        "window",
        "meaning of a left bound W",
        (
            "W keys in addition to the key at the query position",
            "W keys, the key at the query position included",
        ),
    ),
    Question(
        "no-bound", "window", "value for no bound on one side", ("-1", "None", "a large number")
    ),
    Question(
        "softcap",
        "soft-cap",
        "soft-cap together with an additive bias",
        ("before-bias", "after-bias"),
    ),
    Question("no-cap", "soft-cap", "value for no soft-cap", ("None", "0")),
    Question(
        "whose-slopes", "ALiBi slopes", "source of the slopes", ("an argument", "computed from H")
    ),
    Question(
        "slopes-ahead", "ALiBi slopes", "bias of keys ahead of the query", ("distance", "signed")
    ),
    Question("slopes-alignment", "ALiBi slopes", "alignment of ALiBi distances, N not M", CORNERS),
    Question(
        "mask-beside-causal",
        "causal",
        "a mask given together with causality",
        ("both apply", "only the mask applies", "raises an exception"),
    ),
    Question("fully-masked", "causal", "output of a fully masked row", ("zero", "nan", "uniform")),
    Question("lse-base", "log-sum-exp", "base of the logarithm", ("e", "2")),
    Question("lse-sink", "log-sum-exp", "the term of the sink in lse", ("with", "without")),
    Question(
        "fully-masked-lse", "log-sum-exp", "lse of a fully masked row", ("-inf", "+inf", "finite")
    ),
    Question(
        "lse-axes", "log-sum-exp", "order of heads and queries in lse", (HEADS_FIRST, QUERIES_FIRST)
    ),
    Question(
        "texts",
        "packing",
        "packed sequences are separated by",
        ("cumulative lengths", "lengths", "segment ids", "a mask"),
    ),
    Question(
        "table",
        "pages",
        "pages are looked up by",
        (
            "a row of pages for each sequence",
            "one list and offsets into it",
            "the index of each key in the pool",
        ),
    ),
)
QUESTIONS: Mapping[str, Question] = {question.name: question for question in _QUESTIONS}
