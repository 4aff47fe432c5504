"""The command line in the process of the tests, in which targets are judged as well.

For what it says of bad input, most of which is found where a target is loaded: in the same words,
whoever loads it. To start the processes that otherwise do takes seconds.
"""

from subprocess import CompletedProcess
from unittest.mock import patch

from spec.certification import command_line
from spec.certification.in_process import judged_here
from spec.certification.ledger.certificate import Certificate
from spec.certification.settings import Request
from tests.shell import in_this_process


def run(*words: str) -> CompletedProcess[str]:
    """What `python -m spec` with these words says and returns."""
    with patch.object(command_line, "certified", _judged):
        return in_this_process(lambda: command_line.main(words))


def _judged(request: Request, *_: object) -> Certificate:
    return judged_here(request.target, request)
