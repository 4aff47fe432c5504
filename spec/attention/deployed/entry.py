"""How the entries of `kernels` and `frameworks` are written down, and what several share."""

from collections.abc import Mapping

from spec.attention.libraries import OPTIONS, Source

Answer = str | tuple[str, ...]

FLASH: Mapping[str, Answer] = {
    "causal": "bottom-right",
    "window_alignment": "bottom-right",
    "left_bound": "W keys and the query's own",
    "no_bound": "-1",
    "no_cap": "0",
    "texts": "cumulative lengths",
}
BEFORE: Mapping[str, Answer] = {"softcap": "before-bias", "no_cap": "0"}
EITHER = ("top-left", "bottom-right")
BESIDE, WITHIN = "W keys and the query's own", "W keys with the query's own"
ROWS = "a row of pages for each text"
ALIBI: Mapping[str, Answer] = {
    "whose_slopes": "the caller's",
    "slopes_ahead": "distance",
    "slopes_alignment": "bottom-right",
}


def at(repository: str, commit: str, *paths: str) -> Source:
    """Files of a repository at a commit."""
    return Source(repository, commit, paths)


def called(names: str) -> Mapping[str, str]:
    """What options are called, in their order; what is not there is a dash."""
    found = zip(OPTIONS, names.split(), strict=True)
    return {option: name for option, name in found if name != "-"}


def says(**answers: Answer) -> Mapping[str, tuple[str, ...]]:
    """Answers by the names of questions, where hyphens are underscores."""
    return {
        question.replace("_", "-"): (x,) if isinstance(x, str) else x
        for question, x in answers.items()
    }
