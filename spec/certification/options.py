"""The options of a certification, as the command line and the pytest plugin take them."""

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from spec.abilities import never
from spec.backends import NAMES, Unsuitable
from spec.backends.unknown import hint
from spec.certification.profiles import PROFILES
from spec.certification.settings import COMPILING, MULTIPLES, Request
from spec.certification.target.declared import declared, pairs
from spec.kinds import KINDS
from spec.promises import PROMISES

SECRET = "secret"  # the seed that nobody knows beforehand
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
    _add_how(parser.add_argument_group("what the target is, and how it is called").add_argument)
    _add_what(parser.add_argument_group("what is tested").add_argument)
    _add_choices(parser.add_argument_group("what is accepted").add_argument)


def _add_how(add: Callable[..., Any]) -> None:
    seen = [name for name, kind in KINDS.items() if kind.targets.told is not never]
    detected = f"kind of target (default: detected among {', '.join(seen)})"
    add("--kind", metavar="KIND", help=detected)
    libraries = f"{', '.join(NAMES)} (default: inferred from the target's imports)"
    add("--backend", metavar="BACKEND", help=libraries)
    axes = f"order of the axes (default: {Request.layout}: batch, heads, length, head size)"
    add("--layout", metavar="LAYOUT", help=axes)
    names = "use this library's argument names and conventions (spec/options.md)"
    add("--api", metavar="LIBRARY", help=names)
    for name, words in MULTIPLES.items():
        add(f"--{name}", type=int, metavar="N", help=f"use only {words} that are multiples of N")
    file = "how a target with other names is built and called: a file, or a name from `targets`"
    add("--description", metavar="FILE", help=file)
    add("--device", help=f"cpu or cuda (default: {Request.device})")
    run = "test the compiled function: jax.jit (static, traced), torch.compile (static, dynamic)"
    add("--compiled", metavar="WAY", help=run)


def _add_what(add: Callable[..., Any]) -> None:
    _add_problems(add)
    chosen = "clauses or sections to test; the definition is always tested (default: all)"
    add("--clause", dest="clauses", metavar="NUMBER[,SECTION]", help=chosen, **LISTED)
    condition = 'test only problems that meet a condition: "not causal or N >= M"'
    add("--where", metavar="CONDITION", help=condition)


def _add_problems(add: Callable[..., Any], seed: object = Request.seed) -> None:
    """Add the options for problems. seed: the default."""
    dtypes = "formats to test (default: all that the backend has)"
    add("--dtype", dest="dtypes", metavar="D[,D]", help=dtypes, **LISTED)
    sizes = ", ".join(f"{x.name}: {x.examples}" for x in PROFILES.values())
    profile = f"problems for each clause: {sizes} (default: {Request.profile})"
    add("--profile", metavar="PROFILE", help=profile)
    depend = f"problems depend on it (default: {seed})"
    add("--seed", type=_seed, metavar=f"N or {SECRET}", help=depend)


def _add_choices(add: Callable[..., Any]) -> None:
    _add_conventions(add)
    known = "accept that a clause fails, and say why; not possible for the definition"
    add("--deviation", metavar="CLAUSE=REASON", help=known, **LISTED)
    add("--deviations", metavar="FILE", help="the same, as a table in a TOML or JSON file")
    bits = f"equal bits that are required, not only tried: {', '.join(PROMISES)}"
    add("--promise", dest="promises", metavar="WORD[,WORD]", help=bits, **LISTED)


def _add_conventions(add: Callable[..., Any]) -> None:
    choice = "choice that mathematics leaves open, such as causal=bottom-right"
    add("--convention", dest="conventions", metavar="NAME=VALUE", help=choice, **LISTED)


def add_grade_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `grade`: those of a certification that leave no clause or problem out."""
    parser.set_defaults(clauses=[], promises=[], deviation=[], deviations=None)
    _add_how(parser.add_argument_group("what the target is, and how it is called").add_argument)
    add = parser.add_argument_group("what is tested").add_argument
    words = "what it must support and compute correctly, such as masks,gradients; see `list`"
    add("--require", dest="required", metavar="WORD[,WORD]", help=words, **LISTED)
    known = "what a solution of FlashInfer-Bench is for; TARGET is then the file of the solution"
    add("--definition", metavar="FILE", help=known)
    _add_problems(add, SECRET)
    _add_conventions(parser.add_argument_group("what is accepted").add_argument)
    add_work_options(parser)
    add = parser.add_argument_group("when it stops").add_argument
    add("--budget", type=float, metavar="SECONDS", help="stop after this time: it is incomplete")


def add_work_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of how tests are run, which change no verdict."""
    add = parser.add_argument_group("how it runs").add_argument
    add("--jobs", type=int, metavar="N", help="clauses to test in parallel, at least")
    add("--scheduler", metavar="ADDRESS", help="test on the workers of a Dask scheduler")
    hangs = f"a longer call counts as hung ({COMPILING:g} times as long if it may compile)"
    add("--call-timeout", type=float, metavar="SECONDS", help=hangs)
    search = "time limit for finding the causes of failures"
    add("--diagnosis-timeout", type=float, metavar="SECONDS", help=search)
    add_isolation(add)
    on = "continue after any number of crashes"
    add("--isolate", action="store_true", default=None, help=on)


def add_isolation(add: Callable[..., Any]) -> None:
    """Add the option of how a target is kept apart."""
    walls = (
        "process (usual): the target shares no process with its judge; fork: it does; "
        "none: all is one process, for debuggers"
    )
    add("--isolation", metavar="HOW", help=walls)


def add_stops(parser: argparse.ArgumentParser) -> None:
    """Add the options that end a certification before all of it was run."""
    add = parser.add_argument_group("when it stops").add_argument
    hurried = "stop after this time, and report clauses not reached; clauses run in random order"
    add("--budget", type=float, metavar="SECONDS", help=hurried)
    first = "stop at the first required clause that fails"
    add("--fail-fast", action="store_true", default=None, help=first)


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
        "deviations": declared(options.deviation, options.deviations),
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
