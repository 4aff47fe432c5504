"""The command line in the process of the tests, in which targets are judged as well.

For what it says of bad input, most of which is found where a target is loaded: in the same words,
whoever loads it. To start the processes that otherwise do takes seconds.
"""

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from subprocess import CompletedProcess
from unittest.mock import patch

from spec.certification import command_line
from spec.certification.in_process import judged_here
from spec.certification.ledger.certificate import Certificate
from spec.certification.settings import Request


def run(*words: str) -> CompletedProcess[str]:
    """What `python -m spec` with these words says and returns."""
    out, err = StringIO(), StringIO()
    judging = patch.object(command_line, "certified", _judged)
    with judging, redirect_stdout(out), redirect_stderr(err):
        code = command_line.main(words)
    return CompletedProcess(words, code, out.getvalue(), err.getvalue())


def _judged(request: Request, *_: object) -> Certificate:
    return judged_here(request.target, request)
