"""Functions for the entries of `kernels` and `frameworks`, and answers that several share."""

from collections.abc import Mapping

from spec.attention.libraries import OPTIONS, Source

Answer = str | tuple[str, ...]

FLASH: Mapping[str, Answer] = {
    "causal": "bottom-right",
    "window_alignment": "bottom-right",
    "left_bound": "W keys in addition to the key at the query position",
    "no_bound": "-1",
    "no_cap": "0",
    "texts": "cumulative lengths",
}
BEFORE: Mapping[str, Answer] = {"softcap": "before-bias", "no_cap": "0"}
EITHER = ("top-left", "bottom-right")
BESIDE = "W keys in addition to the key at the query position"
WITHIN = "W keys, the key at the query position included"
ROWS = "a row of pages for each sequence"
ALIBI: Mapping[str, Answer] = {
    "whose_slopes": "an argument",
    "slopes_ahead": "distance",
    "slopes_alignment": "bottom-right",
}


def at(repository: str, commit: str, *paths: str) -> Source:
    """Files of a repository at a commit."""
    return Source(repository, commit, paths)


def called(names: str) -> Mapping[str, str]:
    """The names of options in a library, from a string in the order of OPTIONS; a dash is none."""
    found = zip(OPTIONS, names.split(), strict=True)
    return {option: name for option, name in found if name != "-"}


def says(**answers: Answer) -> Mapping[str, tuple[str, ...]]:
    """Answers by the names of questions; keywords have underscores for hyphens."""
    return {
        question.replace("_", "-"): (x,) if isinstance(x, str) else x
        for question, x in answers.items()
    }
