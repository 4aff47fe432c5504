"""The options of a certification, as the command line and the pytest plugin take them."""

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from spec.backends import Unsuitable
from spec.backends.unknown import hint
from spec.certification.offered import (
    ACCEPTED,
    DEPEND,
    HOW,
    OPTIONS,
    RUN,
    SECRET,
    STOPS,
    TESTED,
    in_group,
)
from spec.certification.settings import SEVERAL, Request, form_of, option_of
from spec.certification.target.declared import declared, pairs

LISTED: dict[str, Any] = {"action": "append", "default": []}  # given once or several times


class Parser(argparse.ArgumentParser):
    """Takes options by their whole names only: an abbreviation could be an option of pytest."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.allow_abbrev = False

    def error(self, message: str) -> NoReturn:
        """Raise Unsuitable, which becomes one line and exit code 2, as for any unusable input."""
        raise Unsuitable(f"{message} (see {self.prog} --help)")


class Command(Parser):
    """The parser of one command, which refuses what it does not know: its own help has the rest."""

    def parse_known_args(self, *arguments: Any, **options: Any) -> Any:
        """Raise Unsuitable for arguments that are not known, with the likeliest option."""
        found, others = super().parse_known_args(*arguments, **options)
        if others:
            known = [name for name in self._option_string_actions if name.startswith("--")]
            self.error(f"unrecognized arguments: {' '.join(others)}{hint(others[0], known)}")
        return found, others


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that settle verdicts. One that is not given stays out of the request."""
    for group in (HOW, TESTED, ACCEPTED):
        _add(parser, group, *in_group(group))


def add_grade_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `grade`: those of a certification that leave no clause or problem out."""
    parser.set_defaults(clauses=[], promises=[], deviations=[], table=None)
    _add(parser, HOW, *in_group(HOW))
    add = _add(parser, TESTED)
    words = "what it must support and compute correctly, such as masks,gradients; see `list`"
    add("--require", dest="required", metavar="WORD[,WORD]", help=words, **LISTED)
    known = "what a solution of FlashInfer-Bench is for; TARGET is then the file of the solution"
    add("--definition", metavar="FILE", help=known)
    add_each(add, "dtypes", "profile", "seed", seed=DEPEND.format(SECRET))
    _add(parser, ACCEPTED, "conventions")
    add_work_options(parser)
    _add(parser, STOPS, "budget", budget="stop after this time: it is incomplete")


def add_work_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of how tests are run, which change no verdict."""
    _add(parser, RUN, *in_group(RUN))


def add_stops(parser: argparse.ArgumentParser) -> None:
    """Add the options that end a certification before all of it was run."""
    _add(parser, STOPS, *in_group(STOPS))


def _add(
    parser: argparse.ArgumentParser, group: str, *names: str, **instead: str
) -> Callable[..., Any]:
    """Add options for some fields of a request in a group, to which more can be added."""
    add = parser.add_argument_group(group).add_argument
    add_each(add, *names, **instead)
    return add


def add_each(add: Callable[..., Any], *names: str, **instead: str) -> None:
    """Add options for some fields of a request. instead: another help of some."""
    for name in names:
        option, form = OPTIONS[name], form_of(name)
        told: dict[str, Any] = {"dest": name, "help": instead.get(name, option.says)}
        if form == "bool":
            told |= {"action": "store_true", "default": None}
        else:
            numbers = {"int": int, "float": float}
            number = _seed if name == "seed" else numbers.get(form)
            told |= LISTED if form in SEVERAL else {"type": number}
            told["metavar"] = option.value
        add(option_of(name), **told)
        if name == "deviations":
            file = "the same, as a table in a TOML or JSON file"
            add("--deviations", dest="table", metavar="FILE", help=file)


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the options for files, which are written in addition to the printed report."""
    add = parser.add_argument_group("what is written").add_argument
    add("--json", metavar="FILE", help="write the certificate as JSON")
    page = "write it as a page, with drawings of counterexamples and formulas of clauses"
    add("--html", metavar="FILE", help=page)
    report = "write text, JSON, and a script for each failure (a folder for each target)"
    add("--report", metavar="FOLDER", help=report)
    tests = "write a JUnit XML file: a test for each target, clause and format"
    add("--junit", metavar="FILE", help=tests)
    lines = "print annotations for GitHub Actions, and add a table to the summary of the step"
    add("--github", action="store_true", help=lines)


def _seed(word: str) -> int | str:
    """A seed as an option has it: a number, or the word for one that is drawn."""
    try:
        return word if word == SECRET else int(word)
    except ValueError:
        known = f"a whole number, nor {SECRET!r}"
        raise argparse.ArgumentTypeError(f"{word!r} is neither {known}") from None


def asked(options: argparse.Namespace) -> dict[str, Any]:
    """The options that were given, as fields of a request. Raises Unsuitable."""
    given = vars(options) | {
        "target": None,
        "conventions": pairs("--convention", options.conventions, "NAME=VALUE"),
        "deviations": declared(options.deviations, options.table),
        "dtypes": ",".join(options.dtypes),
        "clauses": ",".join(options.clauses),
        "promises": ",".join(options.promises),
    }
    if given["seed"] == SECRET:
        given |= {"seed": None, "secret": True}
    fields = Request.__dataclass_fields__
    return {name: x for name, x in given.items() if name in fields and x not in (None, "", {})}


def add_campaign_options(campaign: Parser) -> None:
    """Add the options of `campaign`: those of a certification, the seeds and the folder."""
    add = campaign.add_argument
    add("targets", nargs="*", metavar="TARGET", help="as for certify")
    add_options(campaign)
    add_work_options(campaign)
    add = campaign.add_argument_group("the campaign").add_argument
    each = "a certificate for each of them; secret:N for N that nobody knows beforehand (default: "
    each += "secret:100, or 0-99 for a target that shares a process with its judge)"
    add("--seeds", metavar="A-B[,C]", help=each)
    kept = "where certificates are kept; a campaign that was interrupted resumes from it"
    add("--folder", required=True, metavar="FOLDER", help=kept)
    broken = "earlier failing problems, which are tried first (default: in FOLDER)"
    add("--database", metavar="FOLDER or redis://...", help=broken)


def add_compare_options(compare: Parser) -> None:
    """Add the options of `compare`."""
    add = compare.add_argument
    two = "certificates from certify --json: two are compared; more, or a folder, make a table"
    add("paths", nargs="+", metavar="A.json", help=two)
    add("--markdown", metavar="FILE", help="write the table and the failures as Markdown")
    add("--html", metavar="FILE", help="write them as a page")
