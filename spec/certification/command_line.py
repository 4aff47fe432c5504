"""The command line.

    python -m spec certify TARGET ...    judge an implementation
    python -m spec clauses [K2]          the specification as a table; one clause, whole
    python -m spec compare A.json B.json what changed between two certificates

Exit codes of `certify`: 0 certified, 1 a `must` is violated, 2 the target or the
arguments are no good, 3 incomplete (the budget was spent, or the target crashed).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from spec.backends import NAMES, Unsuitable
from spec.certification.contents import markdown, table, whole
from spec.certification.doors import requested, supervised
from spec.certification.ledger.certificate import loaded
from spec.certification.ledger.comparison import compared
from spec.certification.ledger.text import save_report
from spec.certification.progress import progress
from spec.certification.settings import LAYOUTS, PROFILES, Request, selected
from spec.certification.target.declared import declared
from spec.certification.target.loading import resolved
from spec.kinds import KINDS

HOW = ("fail_fast", "budget", "jobs", "isolate", "patience")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except Unsuitable as reason:
        print(f"error: {reason}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 3
    return code


def _certify(options: argparse.Namespace) -> int:
    names = ("about", "backend", "layout", "description", "device", "profile", "seed")
    request = requested(
        options.target,
        {name: getattr(options, name) for name in (*names, *HOW)}
        | {"dtypes": _listed(options.dtype), "clauses": _listed(options.clause)}
        | {"conventions": _conventions(options.convention)}
        | {"deviations": declared(options.deviation, options.deviations)}
        | {"specification": options.specification},
    )
    if options.json:
        _reserve(Path(options.json).parent)
    if options.report:
        _reserve(Path(options.report))
    with progress(sys.stderr) as report:
        certificate = supervised(request, report)
    print(certificate)
    if options.json:
        certificate.save(options.json)
    if options.report:
        save_report(certificate, Path(options.report))
    return certificate.exit_code


def _reserve(folder: Path) -> None:
    """Make a folder before the work is done. Raises Unsuitable where none can be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unsuitable(f"{folder} cannot be written to: {error.strerror}") from None


def _clauses(options: argparse.Namespace) -> int:
    clauses = resolved(options.specification)
    if options.markdown:
        print(markdown(clauses), end="")
        return 0
    if options.number is None:
        print(table(clauses))
        return 0
    print("\n\n".join(whole(clause) for clause in selected(clauses, (options.number,))))
    return 0


def _compare(options: argparse.Namespace) -> int:
    certificates = []
    for path in (options.before, options.after):
        try:
            certificates.append(loaded(path))
        except OSError as error:
            raise Unsuitable(f"{path} cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            raise Unsuitable(f"{path} is no certificate") from None
    print(compared(*certificates))
    return 0


def _listed(words: Sequence[str] | None) -> tuple[str, ...] | None:
    """`K2,M` given once or several times, as one tuple."""
    return tuple(",".join(words).split(",")) if words else None


def _conventions(words: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise Unsuitable(f"--convention {word!r}: write NAME=VALUE")
        found[name] = value
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attention-spec", description=(__doc__ or "").split("\n")[0]
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    certify = commands.add_parser("certify", help="judge an implementation")
    _add_certify_options(certify)
    clauses = commands.add_parser("clauses", help="read the specification")
    clauses.add_argument("number", nargs="?", help="a clause, or a section, to show whole")
    clauses.add_argument("--markdown", action="store_true", help="all of it, as spec/README.md")
    clauses.set_defaults(run=_clauses)
    compare = commands.add_parser("compare", help="what changed between two certificates")
    compare.add_argument("before", metavar="A.json")
    compare.add_argument("after", metavar="B.json")
    compare.set_defaults(run=_compare)
    for command in (certify, clauses):
        command.add_argument(
            "--specification", default=Request.specification, help=argparse.SUPPRESS
        )
    return parser


def _add_certify_options(certify: argparse.ArgumentParser) -> None:
    certify.set_defaults(run=_certify)
    certify.add_argument("target", metavar="TARGET", help="module:name or path/to/file.py:name")
    add = certify.add_argument
    add("--about", choices=tuple(KINDS), help="default: attention, or layer for a class")
    add("--backend", choices=NAMES, help="default: told from the imports of the target's module")
    add("--layout", choices=LAYOUTS, default="bhld", help="order of the axes (default: bhld)")
    add("--description", metavar="FILE", help="of a layer not built, named or called as torch's")
    add("--device", default="cpu", help="cpu or cuda (default: cpu)")
    add("--dtype", action="append", metavar="D[,D]", help="default: all that the backend has")
    add("--profile", choices=tuple(PROFILES), default="standard")
    add("--seed", type=int, default=0)
    add("--jobs", type=int, default=1, metavar="N", help="processes to spread the clauses over")
    add(
        "--clause",
        action="append",
        metavar="K2[,M]",
        help="clauses or sections; the definition is run in any case (default: all)",
    )
    add("--convention", action="append", default=[], metavar="NAME=VALUE")
    add(
        "--deviation",
        action="append",
        default=[],
        metavar="CLAUSE=REASON",
        help="a clause that the target is known to break, and why; never the definition's",
    )
    add("--deviations", metavar="FILE", help="the same as a table of TOML or JSON")
    add("--budget", type=float, metavar="SECONDS", help="what is not run by then is blocked")
    add("--patience", type=float, metavar="SECONDS", help="a call that takes longer hangs")
    add("--fail-fast", action="store_true", help="stop at the first violated `must`")
    add("--isolate", action="store_true", help="go on after every crash, however many")
    add("--json", metavar="FILE", help="write the certificate as JSON")
    add("--report", metavar="FOLDER", help="write it as text and JSON, and a script per violation")


if __name__ == "__main__":
    sys.exit(main())
