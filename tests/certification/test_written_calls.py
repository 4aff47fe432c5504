"""What a script says is what was asked: numbers, arguments, messages, and how near is near."""

import ast
import inspect
import itertools
import warnings
from typing import Any

import numpy as np
import pytest

from implementations.dense import attend
from spec import CLAUSES
from spec.attention.plug import implementation
from spec.attention.plug.trials import square
from spec.backends.numpy import library
from spec.backends.texts import CLOSE
from spec.certification.explaining.called import Called
from spec.certification.explaining.looping import as_list, as_loops
from spec.certification.explaining.script import script
from spec.certification.explaining.writer import Writer
from spec.certification.settings import Request
from spec.notation import Array
from spec.written import array_of, literal


def near(got: float, want: float, within: float) -> bool:
    found = {name: np.array([x]) for name, x in (("got", got), ("want", want), ("within", within))}
    return bool(eval(CLOSE, {"np": np}, found))


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e6, 1e30])
def test_a_script_allows_the_budget_and_nothing_relative_to_what_is_wanted(size: float) -> None:
    for off in (size * 2.0**-40, size / 2):
        assert near(size + off, size, within=2 * off)
        assert not near(size + off, size, within=off / 2)
        assert not near(size - off, size, within=0.0)
    assert near(np.nan, np.nan, within=0.0)
    assert near(np.inf, np.inf, within=0.0)
    assert not near(np.nan, size, within=size)


def asked(q: Any, k: Any = "k", v: Any = "v", /, mask: Any = None, *, scale: Any = 1.0) -> Any:
    """What it was given, by name."""
    return {"q": q, "k": k, "v": v, "mask": mask, "scale": scale}


GIVEN = [
    chosen
    for count in range(5)
    for chosen in itertools.combinations(("k", "v", "mask", "scale"), count)
    if "v" not in chosen or "k" in chosen  # these two have no other way
]


@pytest.mark.parametrize("names", GIVEN, ids=",".join)
def test_a_call_in_a_script_gives_each_argument_to_its_own_parameter(
    names: tuple[str, ...],
) -> None:
    given = {name: np.full((2,), float(place)) for place, name in enumerate(("q", *names))}
    call = Called("", None, inspect.signature(asked), given, None)
    program = "\n".join(Writer(library("cpu"), "asked", "").call(0, call, kept="found"))
    found: dict[str, Any] = {"asked": asked, "np": np}
    exec(program, found)
    usual = asked("q")
    for name, x in found["found"].items():
        np.testing.assert_array_equal(x, given.get(name, usual[name]))


def plainly(q: Any, k: Any = None, v: Any = None, scale: Any = 1.0) -> Any:
    """The same, where all can be given by their places or by their names."""
    return {"q": q, "k": k, "v": v, "scale": scale}


@pytest.mark.parametrize("count", range(4))
def test_what_stands_behind_something_left_out_is_given_by_its_name(count: int) -> None:
    for names in itertools.combinations(("k", "v", "scale"), count):
        given = {"q": 0.5, **{name: 1.5 + place for place, name in enumerate(names)}}
        call = Called("", None, inspect.signature(plainly), given, None)
        (line,) = Writer(library("cpu"), "plainly").call(0, call)
        assert eval(line) == plainly(**given), line


ODD = [
    np.array([np.nan, np.inf, -np.inf, 1.5]),
    np.full((3, 100), np.nan),
    np.full((3, 100), -np.inf),
    np.where(np.arange(300) < 150, np.nan, 0.25),
]


@pytest.mark.parametrize("x", ODD, ids=lambda x: f"{x[..., 0]}{x.shape}")
def test_numbers_that_are_none_are_named_as_numpy_has_them(x: Array) -> None:
    for text in (literal(x), array_of("numpy", x, "float32")):
        np.testing.assert_array_equal(eval(text, {"np": np}), x)


MESSAGES = [
    "got 1, want 2",
    r"no file C:\new\table.py",
    r"\N{nothing} \x \u12 \d \q",
    'it says "no" and """no"""',
    "ends in a backslash \\",
    'ends in a quotation mark "',
    "two\nlines",
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_stands_in_the_docstring_of_a_script_as_it_was_said(message: str) -> None:
    raw = implementation(attend, backend="numpy", origin="implementations.dense:attend")
    request = Request(raw.origin)
    text = script(CLAUSES["A1"], raw, request, square("float32"), message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = ast.get_docstring(ast.parse(text), clean=False)
        compile(text, "cause.py", "exec")
    assert said is not None
    assert said.split("\n\n", 1)[1] == message.replace('"', "'") + "\n"


@pytest.mark.parametrize("first", [0, 1, 3])
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_a_loop_makes_as_many_calls_as_there_were(first: int, count: int) -> None:
    numbers = [*range(first, first + count)]
    assert eval(as_list([f"({x}, 0.5)" for x in numbers])) == [(x, 0.5) for x in numbers]
    made: list[int] = []
    exec("\n".join(as_loops([[f"made.append({x})"] for x in numbers], "seed")), {"made": made})
    assert made == numbers
