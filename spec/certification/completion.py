"""A script with which a shell completes the command line: `attention-spec --completion bash`.

Shtab writes it. The script has all words in it, so that a shell need not start Python, and import
NumPy and SymPy, at each press of a key.
"""

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from spec.backends import Unsuitable
from spec.backends.unknown import unknown
from spec.certification.choices import conventions
from spec.certification.listing import TOPICS
from spec.certification.offered import OPTIONS
from spec.kinds import KINDS

MISSING = "completion needs shtab: pip install shtab"
FILES = ("target", "targets", "paths", "files", "description", "json", "html", "junit", "markdown")
FOLDERS = ("report", "folder", "database")


class Completion(argparse.Action):
    """Prints the script for a shell, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, *__: Any) -> None:
        print(script(parser, shell))
        parser.exit()


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for a shell. Raises Unsuitable: shtab is not installed, or has no such shell."""
    try:
        import shtab
    except ImportError:
        raise Unsuitable(MISSING) from None
    if shell not in shtab.SUPPORTED_SHELLS:
        raise unknown("shell", shell, shtab.SUPPORTED_SHELLS)
    words = _words()
    for action in (x for x in _actions(parser) if x.nargs != 0):
        if action.dest in words:
            action.choices = words[action.dest]
        elif action.dest in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.dest in FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell))


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every option and argument of a parser, and of its commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
        else:
            yield action


def _words() -> Mapping[str, tuple[str, ...]]:
    """The values of options and arguments that have a few, by where argparse keeps them."""
    named = (word for kind in KINDS.values() for word in kind.sections.values())
    sections = dict.fromkeys(word for word in named if " " not in word)  # letters name all
    chosen = (f"{name}={choice}" for name, known in conventions().items() for choice in known)
    return {
        **{name: option.values for name, option in OPTIONS.items() if option.values},
        "device": ("cpu", "cuda"),
        "conventions": tuple(chosen),
        "clauses": tuple(sections),
        "words": tuple(sections),
        "topic": tuple(TOPICS),
    }
