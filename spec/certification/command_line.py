"""The command line.

    python -m spec certify [TARGET] ...  judge an implementation, or those of pyproject.toml
    python -m spec campaign TARGET ...   judge them with many seeds, for hours, and go on later
    python -m spec clauses [NUMBER]      the specification as a table; one clause, whole
    python -m spec compare A.json B.json what changed between two certificates

Exit codes of `certify`: 0 certified, 1 a `must` is violated, 2 the target or the
arguments are no good, 3 incomplete (the budget was spent, the target crashed, or
somebody interrupted it, who gets the certificate of what was judged).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from spec.backends import Unsuitable
from spec.certification.attended import certified
from spec.certification.campaign import campaign, seeds
from spec.certification.contents import markdown, table, whole
from spec.certification.ledger.certificate import loaded
from spec.certification.ledger.comparison import compared
from spec.certification.ledger.text import save_report
from spec.certification.options import Parser, add_options, asked
from spec.certification.repository import FILE, SECTION, requests
from spec.certification.settings import COMPILING, Request, selected
from spec.certification.several import judged
from spec.certification.target.loading import resolved


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        options = _parser().parse_args(arguments)
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
    wanted = requests(options.target, asked(options))
    if options.json and options.target is None:
        raise Unsuitable("--json is for one target: --report has all of them, in folders")
    if options.json:
        _reserve(Path(options.json).parent)
    folder = Path(options.report) if options.report else None
    if folder is not None:
        _reserve(folder)
    if options.target is None:
        return judged(wanted, folder)
    (request,) = wanted.values()
    certificate = certified(request, sys.stderr, options.json)
    if options.json:  # files first: who reads what is printed may stop reading
        certificate.save(options.json)
    if folder is not None:
        save_report(certificate, folder)
    print(certificate)
    return certificate.exit_code


def _campaign(options: argparse.Namespace) -> int:
    if options.seed is not None:
        raise Unsuitable("--seed is for one certificate: --seeds are those of a campaign")
    given = asked(options)
    wanted = {n: x for name in options.targets or [None] for n, x in requests(name, given).items()}
    folder = Path(options.folder)
    _reserve(folder)
    return campaign(wanted, seeds(options.seeds), folder, options.database)


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


def _parser() -> Parser:
    parser = Parser("attention-spec", description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    certify = commands.add_parser("certify", help="judge an implementation")
    _add_certify_options(certify)
    campaign = commands.add_parser("campaign", help="judge implementations with many seeds")
    _add_campaign_options(campaign)
    clauses = commands.add_parser("clauses", help="read the specification")
    clauses.add_argument("number", nargs="?", help="a clause, or a section, to show whole")
    clauses.add_argument("--markdown", action="store_true", help="all of it, as spec/README.md")
    clauses.set_defaults(run=_clauses)
    compare = commands.add_parser("compare", help="what changed between two certificates")
    compare.add_argument("before", metavar="A.json")
    compare.add_argument("after", metavar="B.json")
    compare.set_defaults(run=_compare)
    for command, default in ((certify, None), (campaign, None), (clauses, Request.specification)):
        hidden = argparse.SUPPRESS
        command.add_argument("--specification", default=default, help=hidden)
    return parser


def _add_work_options(parser: Parser) -> None:
    """How clauses are judged, whatever comes of it."""
    add = parser.add_argument
    add("--jobs", type=int, metavar="N", help="clauses judged at a time, at least")
    add("--scheduler", metavar="ADDRESS", help="of Dask, whose workers are to judge")
    hangs = f"a call that takes longer hangs; one that may compile has {COMPILING:g} times as long"
    add("--patience", type=float, metavar="SECONDS", help=hangs)
    on = "go on after every crash, however many"
    add("--isolate", action="store_true", default=None, help=on)


def _add_campaign_options(campaign: Parser) -> None:
    campaign.set_defaults(run=_campaign)
    add = campaign.add_argument
    add("targets", nargs="*", metavar="TARGET", help="as those of certify")
    add_options(campaign)
    _add_work_options(campaign)
    add("--seeds", required=True, metavar="A-B[,C]", help="a certificate for each of them")
    kept = "where certificates are kept, and found when the same campaign goes on"
    add("--folder", required=True, metavar="FOLDER", help=kept)
    broken = "of problems that broke a clause, put first (default: a folder in FOLDER)"
    add("--database", metavar="FOLDER or redis://...", help=broken)


def _add_certify_options(certify: Parser) -> None:
    certify.set_defaults(run=_certify)
    add = certify.add_argument
    target = f"module:name or path/to/file.py:name; or a name of [{SECTION}.targets] in {FILE}"
    add("target", nargs="?", metavar="TARGET", help=f"{target}, all of which are judged without")
    add_options(certify)
    _add_work_options(certify)
    hurried = "what is not run by then is blocked; clauses come in random order"
    add("--budget", type=float, metavar="SECONDS", help=hurried)
    first = "stop at the first violated `must`"
    add("--fail-fast", action="store_true", default=None, help=first)
    add("--json", metavar="FILE", help="write the certificate as JSON")
    report = "write it as text and JSON, and a script per violation; of several, a folder each"
    add("--report", metavar="FOLDER", help=report)


if __name__ == "__main__":
    sys.exit(main())
