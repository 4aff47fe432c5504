"""The command line.

    python -m spec certify TARGET ...    judge an implementation
    python -m spec clauses [NUMBER]      the specification as a table; one clause, whole
    python -m spec compare A.json B.json what changed between two certificates

Exit codes of `certify`: 0 certified, 1 a `must` is violated, 2 the target or the
arguments are no good, 3 incomplete (the budget was spent, or the target crashed).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spec.backends import NAMES, Unsuitable
from spec.certification.contents import markdown, table, whole
from spec.certification.doors import requested, supervised
from spec.certification.ledger.certificate import loaded
from spec.certification.ledger.comparison import compared
from spec.certification.ledger.text import save_report
from spec.certification.progress import progress
from spec.certification.settings import LAYOUTS, MULTIPLES, PROFILES, Request, selected
from spec.certification.target.declared import declared, pairs
from spec.certification.target.loading import resolved
from spec.kind import never
from spec.kinds import KINDS


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
    asked = {name: x for name, x in vars(options).items() if name in Request.__dataclass_fields__}
    asked["conventions"] = pairs("--convention", options.conventions, "NAME=VALUE")
    asked["deviations"] = declared(options.deviation, options.deviations)
    for name in ("dtypes", "clauses"):  # given once or several times
        asked[name] = ",".join(asked[name]) or None
    request = requested(asked.pop("target"), asked)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("attention-spec", description=(__doc__ or "").split("\n")[0])
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
        hidden = argparse.SUPPRESS
        command.add_argument("--specification", default=Request.specification, help=hidden)
    return parser


def _add_certify_options(certify: argparse.ArgumentParser) -> None:
    certify.set_defaults(run=_certify)
    certify.add_argument("target", metavar="TARGET", help="module:name or path/to/file.py:name")
    add = certify.add_argument
    look = [about for about, kind in KINDS.items() if kind.told is not never]
    add("--about", choices=tuple(KINDS), help=f"default: {', '.join(look)}, by the look of it")
    add("--backend", choices=NAMES, help="default: told from the imports of the target's module")
    add("--layout", choices=LAYOUTS, default="bhld", help="order of the axes (default: bhld)")
    for axes in MULTIPLES:
        add(f"--{axes}", type=int, metavar="N", help=f"only {axes} that are multiples of N")
    add("--description", metavar="FILE", help="how a target is built, named and called")
    add("--device", default="cpu", help="cpu or cuda (default: cpu)")
    listed: dict[str, Any] = {"action": "append", "default": []}
    dtypes = "default: all that the backend has"
    add("--dtype", dest="dtypes", metavar="D[,D]", help=dtypes, **listed)
    add("--profile", choices=tuple(PROFILES), default="standard")
    add("--seed", type=int, default=0)
    add("--jobs", type=int, default=1, metavar="N", help="clauses judged at a time, at least")
    chosen = "clauses or sections; the definition is run in any case (default: all)"
    add("--clause", dest="clauses", metavar="NUMBER[,SECTION]", help=chosen, **listed)
    add("--convention", dest="conventions", metavar="NAME=VALUE", **listed)
    known = "a clause that the target is known to break, and why; never the definition's"
    add("--deviation", metavar="CLAUSE=REASON", help=known, **listed)
    add("--deviations", metavar="FILE", help="the same as a table of TOML or JSON")
    add("--budget", type=float, metavar="SECONDS", help="what is not run by then is blocked")
    add("--patience", type=float, metavar="SECONDS", help="a call that takes longer hangs")
    add("--fail-fast", action="store_true", help="stop at the first violated `must`")
    add("--isolate", action="store_true", help="go on after every crash, however many")
    add("--json", metavar="FILE", help="write the certificate as JSON")
    add("--report", metavar="FOLDER", help="write it as text and JSON, and a script per violation")


if __name__ == "__main__":
    sys.exit(main())
