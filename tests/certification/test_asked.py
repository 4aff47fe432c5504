"""Options of a command line: each is kept, and a certificate names the command with all of them."""

import shlex
from typing import Any

import pytest

from spec.backends import Unsuitable
from spec.certification import command_line
from spec.certification.doors import requested
from spec.certification.options import Parser, add_options, asked
from spec.certification.settings import Request

TARGET = "mine.py:attend"


def read(*words: str) -> Request:
    """The request that words on a command line are."""
    parser = Parser("certify")
    add_options(parser)
    return requested(TARGET, asked(parser.parse_args(words)))


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        (("--dtype", "float32", "--dtype", "float16"), {"dtypes": ("float32", "float16")}),
        (("--dtype", "float32,float16"), {"dtypes": ("float32", "float16")}),
        (("--clause", "A1,C", "--clause", "K2"), {"clauses": ("A1", "C", "K2")}),
        (("--seed", "0", "--profile", "deep"), {"seed": 0, "profile": "deep"}),
        (
            ("--convention", "fully-masked=nan", "--convention", "causal=bottom-right"),
            {"conventions": {"fully-masked": "nan", "causal": "bottom-right"}},
        ),
        (
            ("--deviation", "C1=so published", "--deviation", "C2=so built"),
            {"deviations": {"C1": "so published", "C2": "so built"}},
        ),
    ],
)
def test_an_option_that_is_given_several_times_is_all_that_was_given(
    words: tuple[str, ...], fields: dict[str, Any]
) -> None:
    assert read(*words) == Request(TARGET, **fields)


SETTLING: list[dict[str, Any]] = [
    {"where": "not causal and N > 4"},
    {"clauses": ("A1", "C")},
    {"dtypes": ("float32", "bfloat16")},
    {"seed": 7},
    {"profile": "quick"},
    {"conventions": {"fully-masked": "nan", "causal": "bottom-right"}},
    {"deviations": {"C1": "it's known; so published"}},
    {"kind": "attention", "backend": "numpy", "layout": "blhd", "api": "flash-attn-2"},
    {"lengths": 16, "widths": 8, "device": "cuda", "description": "mine.toml"},
    {"compiled": "static"},
]


@pytest.mark.parametrize("fields", SETTLING, ids=lambda x: ",".join(x))
def test_the_command_of_a_certificate_asks_for_the_same(fields: dict[str, Any]) -> None:
    request = Request(TARGET, **fields)
    *begin, target = shlex.split(request.command())[:5]
    assert (begin[:2], begin[3], target) == (["python", "-m"], "certify", TARGET)
    assert read(*shlex.split(request.command())[5:]) == request


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), 3, "interrupted\n"),
        (Unsuitable("there is no module"), 2, "error: there is no module\n"),
    ],
)
def test_a_command_that_ends_early_does_not_succeed(
    raised: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ends(*_: object) -> None:
        raise raised

    monkeypatch.setattr(command_line, "certified", ends)
    assert command_line.main(["certify", TARGET]) == code
    assert capsys.readouterr() == ("", said)
