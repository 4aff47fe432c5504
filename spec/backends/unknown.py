"""The error for a word that is none of those it can be: it names them, and the likeliest one."""

from collections.abc import Iterable
from difflib import get_close_matches

from spec.backends.library import Unsuitable

LIBRARIES = ("torch", "jax", "transformers", "flax", "keras")  # that pip installs by these names


def unknown(what: str, value: object, choices: Iterable[object]) -> Unsuitable:
    """The error to raise where `value` is none of the choices; None among them is not named."""
    names = [str(choice) for choice in choices if choice is not None]
    listed = ", ".join(names)
    return Unsuitable(f"unknown {what} {value!r}: choose from {listed}{hint(value, names)}")


def hint(value: object, names: Iterable[str]) -> str:
    """A question that names the likeliest of some words, or nothing if none is alike."""
    by_case = {name.lower(): name for name in names}
    likeliest = get_close_matches(str(value).lower(), by_case, n=1)
    return "".join(f"; did you mean {by_case[name]!r}?" for name in likeliest)


def installing(module: str) -> str:
    """How to install a module that is not there, if it is a known library; else nothing."""
    return f"; install it: pip install {module}" if module in LIBRARIES else ""
