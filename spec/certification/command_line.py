"""The command line.

    python -m spec certify [TARGET] ...  judge an implementation, or those of pyproject.toml
    python -m spec campaign TARGET ...   judge them with many seeds, for hours, and go on later
    python -m spec clauses [NUMBER]      the specification as a table; one clause, whole
    python -m spec compare A.json B.json what changed between two certificates
    python -m spec compare FOLDER ...    many side by side
    python -m spec ledger FILE.toml ...  judge what is kept there, and say what is not as it was

Exit codes of `certify`: 0 certified, 1 a `must` is violated, 2 the target or the
arguments are no good, 3 incomplete (the budget was spent, the target crashed or
interfered with its judge, or somebody interrupted it, who gets the certificate
of what was judged).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from spec.backends import Unsuitable
from spec.certification.attended import certified
from spec.certification.campaign import campaign, seeds
from spec.certification.contents import markdown, table, whole
from spec.certification.ledger.comparison import compared
from spec.certification.ledger.reading import read
from spec.certification.ledger.text import save_report
from spec.certification.ledgers import held, side_by_side
from spec.certification.options import LISTED, Parser, add_options, asked
from spec.certification.pages.certificate_page import certificate_page
from spec.certification.pages.matrix_page import matrix_page
from spec.certification.pages.matrix_text import markdown as matrix_markdown
from spec.certification.pages.matrix_text import table as matrix
from spec.certification.pages.rendering import environment, kept
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
    for name in ("json", "html"):
        if getattr(options, name) and options.target is None:
            raise Unsuitable(f"--{name} is for one target: --report has all of them, in folders")
        if getattr(options, name):
            _reserve(Path(getattr(options, name)).parent)
    if options.html:
        environment()
    folder = Path(options.report) if options.report else None
    if folder is not None:
        _reserve(folder)
    if options.target is None:
        return judged(wanted, folder)
    (request,) = wanted.values()
    certificate = certified(request, sys.stderr, options.json)
    if options.json:  # files first: who reads what is printed may stop reading
        certificate.save(options.json)
    if options.html:
        kept(options.html, certificate_page(certificate, resolved(request.specification)))
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
    """What changed between two; of more, or of a folder, the matrix."""
    kept_together = [x for x in options.paths if x.endswith(".toml") or Path(x).is_dir()]
    several = len(options.paths) > 2 or kept_together
    if not (several or options.html or options.markdown):
        if len(options.paths) == 1:
            raise Unsuitable("compare takes two certificates, or a folder of them")
        before, after = map(read, options.paths)
        print(compared(before, after))
        return 0
    clauses, found = resolved(options.specification), side_by_side(options.paths)
    page = matrix_page(found, clauses) if options.html else ""  # all of it before any is written
    if options.html:
        kept(options.html, page)
    if options.markdown:
        kept(options.markdown, matrix_markdown(found, clauses))
    print(matrix(found, clauses))
    return 0


def _ledger(options: argparse.Namespace) -> int:
    return held(options.files, options.only, options.record)


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
    compare = commands.add_parser("compare", help="certificates side by side")
    _add_compare_options(compare)
    ledger = commands.add_parser("ledger", help="hold targets to what was found about them")
    _add_ledger_options(ledger)
    ours = Request.specification
    for command, default in ((certify, None), (campaign, None), (clauses, ours), (compare, ours)):
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
    add("--search", type=float, metavar="SECONDS", help="for finding causes")
    on = "go on after every crash, however many"
    add("--isolate", action="store_true", default=None, help=on)


def _add_ledger_options(ledger: Parser) -> None:
    ledger.set_defaults(run=_ledger)
    add = ledger.add_argument
    add("files", nargs="+", metavar="FILE.toml", help="of targets, and of what their causes are")
    add("--only", metavar="NAME", help="one of the targets that it names", **LISTED)
    add("--record", action="store_true", help="write down what is found")


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


def _add_compare_options(compare: Parser) -> None:
    compare.set_defaults(run=_compare)
    add = compare.add_argument
    two = (
        "as certify --json writes them; of two, what changed; of more, or a folder, a table of all"
    )
    add("paths", nargs="+", metavar="A.json", help=two)
    add("--markdown", metavar="FILE", help="write the table, and what is wrong, as Markdown")
    add("--html", metavar="FILE", help="write them as a page")


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
    page = "write it as a page: with counterexamples drawn, and clauses as mathematics"
    add("--html", metavar="FILE", help=page)
    report = "write it as text and JSON, and a script per violation; of several, a folder each"
    add("--report", metavar="FOLDER", help=report)


if __name__ == "__main__":
    sys.exit(main())
