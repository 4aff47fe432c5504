"""The command line.

    attention-spec certify [TARGET] ...    check an implementation, or those of pyproject.toml
    attention-spec grade TARGET ...        check code of strangers; print a page of JSON
    attention-spec campaign TARGET ...     check with many seeds, for hours; resumes after a stop
    attention-spec clauses [WORDS]         the specification as a table; clauses in full
    attention-spec list [TOPIC]            what options accept: kinds, layouts, conventions, ...
    attention-spec targets [WORDS]         functions and layers of libraries, and what was found
    attention-spec compare A.json B.json   what changed; of a FOLDER, a table of many
    attention-spec ledger FILE.toml ...    check targets whose results are recorded
    attention-spec header                  print attention_spec.h, for functions written in C

In the repository, `python -m spec` is the same command. Exit codes of `certify`: 0 certified, 1 a
required clause fails, 2 the target or the arguments are unusable, 3 incomplete (the time limit
passed, the target crashed or interfered with its judge, or the run was interrupted; the results
so far are printed).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from spec.backends import Unsuitable
from spec.certification.attended import certified
from spec.certification.campaign import campaign, seeds
from spec.certification.completion import Completion
from spec.certification.contents import markdown, matching, table
from spec.certification.grader import command as graded
from spec.certification.ledger.comparison import compared
from spec.certification.ledger.reading import read
from spec.certification.ledger.text import save_report
from spec.certification.ledgers import held, side_by_side
from spec.certification.listing import TOPICS, Version, header_of_c, listed
from spec.certification.options import (
    LISTED,
    Command,
    Parser,
    add_campaign_options,
    add_compare_options,
    add_files,
    add_grade_options,
    add_options,
    add_stops,
    add_work_options,
    asked,
)
from spec.certification.output import patient
from spec.certification.pages.certificate_page import certificate_page
from spec.certification.pages.clauses_page import clauses_page
from spec.certification.pages.matrix_page import matrix_page
from spec.certification.pages.matrix_text import markdown as matrix_markdown
from spec.certification.pages.matrix_text import table as matrix
from spec.certification.pages.rendering import environment, kept
from spec.certification.repository import FILE, SECTION, requests
from spec.certification.results import Results
from spec.certification.settings import Request
from spec.certification.several import judged
from spec.certification.target import recorded
from spec.certification.target.loading import resolved
from spec.certification.terminal import show

ABOUT = "Check attention implementations against an executable specification."
START = """\
start with:
  attention-spec certify FILE.py:FUNCTION
  attention-spec certify FILE.py:LAYER --description FILE.toml
  attention-spec certify FILE.py:CACHE
  attention-spec certify torch.nn.functional:scaled_dot_product_attention --profile quick
"""


@patient()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code, whether or not the output is read."""
    try:
        options = _parser().parse_args(arguments)
        code: int = options.run(options)
    except Unsuitable as reason:
        show(f"error: {reason}", sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 3
    return code


def _certify(options: argparse.Namespace) -> int:
    wanted = requests(options.target, asked(options))
    for name in ("json", "html"):
        if getattr(options, name) and options.target is None:
            raise Unsuitable(f"--{name} is for one target: --report has all of them, in folders")
    for name in ("json", "html", "junit"):
        if getattr(options, name):
            _reserve(Path(getattr(options, name)).parent)
    if options.html:
        environment()
    folder = Path(options.report) if options.report else None
    if folder is not None:
        _reserve(folder)
    results = Results(options.junit, options.github)
    with results.kept():
        if options.target is None:
            return judged(wanted, folder, results)
        ((name, request),) = wanted.items()
        return _certify_one(name, request, options, results)


def _certify_one(name: str, request: Request, options: argparse.Namespace, results: Results) -> int:
    known = recorded.note(request.target, request.description)  # no finding of this run
    if known:  # first: who has a slow target need not wait for it
        show(f"note: {known}", sys.stderr)
    if request.description and not options.description:
        show(f"note: tested with --description {request.description}", sys.stderr)
    with results.of(name):
        certificate = certified(request, sys.stderr, options.json)
    results.found[name] = certificate
    if options.json:  # files first: who reads what is printed may stop reading
        certificate.save(options.json)
    if options.html:
        kept(options.html, certificate_page(certificate, resolved(request.specification)))
    if options.report:
        save_report(certificate, Path(options.report))
    show(str(certificate))
    return certificate.exit_code


def _campaign(options: argparse.Namespace) -> int:
    if options.seed is not None:
        raise Unsuitable("--seed is for one certificate: --seeds are those of a campaign")
    given = asked(options)
    wanted = {n: x for name in options.targets or [None] for n, x in requests(name, given).items()}
    folder = Path(options.folder)
    _reserve(folder)
    return campaign(wanted, seeds(options.seeds, wanted.values()), folder, options.database)


def _reserve(folder: Path) -> None:
    """Make a folder before the work is done. Raises Unsuitable where none can be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unsuitable(f"{folder} cannot be written to: {error.strerror}") from None


def _clauses(options: argparse.Namespace) -> int:
    clauses = resolved(options.specification)
    if options.words and (options.html or options.markdown):
        raise Unsuitable(f"all clauses are written to a page: leave out {options.words[0]!r}")
    if options.html:
        kept(options.html, clauses_page(clauses))
        return 0
    if options.markdown:
        return _say(markdown(clauses).rstrip())
    return _say(matching(clauses, " ".join(options.words)) if options.words else table(clauses))


def _say(text: str) -> int:
    """Print what was asked for, and return the exit code."""
    print(text)
    return 0


def _compare(options: argparse.Namespace) -> int:
    """Print the changes between two certificates; of more, or of a folder, the matrix."""
    kept_together = [x for x in options.paths if x.endswith(".toml") or Path(x).is_dir()]
    several = len(options.paths) > 2 or kept_together
    if not (several or options.html or options.markdown):
        if len(options.paths) == 1:
            raise Unsuitable("compare takes two certificates, or a folder of them")
        before, after = map(read, options.paths)
        show(compared(before, after))
        return 0
    clauses, found = resolved(options.specification), side_by_side(options.paths)
    page = matrix_page(found, clauses) if options.html else ""  # all of it before any is written
    if options.html:
        kept(options.html, page)
    if options.markdown:
        kept(options.markdown, matrix_markdown(found, clauses))
    print(matrix(found, clauses))
    return 0


def _parser() -> Parser:
    parser = Parser("attention-spec", description=ABOUT, epilog=START)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--version", action=Version, nargs=0, help="print versions, and exit")
    shells = "print a script with which a shell (bash, zsh, ...) completes commands, and exit"
    parser.add_argument("--completion", action=Completion, metavar="SHELL", help=shells)
    parser.set_defaults(run=lambda _: _say(parser.format_help().rstrip()))
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Command)
    certify = commands.add_parser("certify", help="check an implementation")
    _add_certify_options(certify)
    grading = commands.add_parser("grade", help="grade code of strangers, as JSON")
    grading.set_defaults(run=graded)
    grading.add_argument("target", metavar="TARGET", help="module:name, file.py:name, or file.py")
    add_grade_options(grading)
    campaign = commands.add_parser("campaign", help="check implementations with many seeds")
    campaign.set_defaults(run=_campaign)
    add_campaign_options(campaign)
    clauses = commands.add_parser("clauses", help="read the specification")
    shown = "number, name or section to show in full; a known bug (BUG-07); or words to search for"
    clauses.add_argument("words", nargs="*", metavar="WORDS", help=shown)
    page = "print all of it as Markdown (spec/README.md)"
    clauses.add_argument("--markdown", action="store_true", help=page)
    clauses.add_argument("--html", metavar="FILE", help="write all of it as one page")
    clauses.set_defaults(run=_clauses)
    lists = commands.add_parser("list", help="list what options accept")
    lists.add_argument("topic", nargs="?", metavar="TOPIC", help=", ".join(TOPICS))
    lists.set_defaults(run=lambda options: _say(listed(options.topic)))
    targets = commands.add_parser("targets", help="list recorded verdicts of public libraries")
    words = "only those with all of these words, such as a library or a model"
    targets.add_argument("wanted", nargs="*", metavar="WORDS", help=words)
    targets.set_defaults(run=lambda options: _say(recorded.listed(options.wanted)))
    compare = commands.add_parser("compare", help="compare certificates")
    compare.set_defaults(run=_compare)
    add_compare_options(compare)
    ledger = commands.add_parser("ledger", help="check targets whose results are recorded")
    _add_ledger_options(ledger)
    header = commands.add_parser("header", help="print attention_spec.h, for functions in C")
    header.set_defaults(run=lambda _: _say(header_of_c()))
    ours, hidden = Request.specification, argparse.SUPPRESS
    for command, default in ((certify, None), (campaign, None), (clauses, ours), (compare, ours)):
        command.add_argument("--specification", default=default, help=hidden)
    return parser


def _add_ledger_options(ledger: Parser) -> None:
    ledger.set_defaults(run=lambda x: held(x.files, x.only, x.record))
    add = ledger.add_argument
    add("files", nargs="+", metavar="FILE.toml", help="targets, and what their failures are")
    add("--only", metavar="NAME", help="test one of the targets", **LISTED)
    add("--record", action="store_true", help="write down the results")


def _add_certify_options(certify: Parser) -> None:
    certify.set_defaults(run=_certify)
    add = certify.add_argument
    target = "module:name, path/to/file.py:name, ./program or library.so:name; or a name of"
    named = f"{target} [{SECTION}.targets] in {FILE}; without it, all of those"
    add("target", nargs="?", metavar="TARGET", help=named)
    add_options(certify)
    add_work_options(certify)
    add_stops(certify)
    add_files(certify)


if __name__ == "__main__":
    sys.exit(main())
