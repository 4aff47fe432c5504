"""Programs that tell positions, as people write them: what is loaded, and what is refused."""

from collections.abc import Callable

import numpy as np
import pytest

import implementations.alibi
import implementations.rotary
import implementations.sinusoidal
from spec.backends import Unsuitable
from spec.comparison import Violation
from spec.notation import Array
from spec.positions.alibi.plug import linear_bias
from spec.positions.record import Capability
from spec.positions.rotary.notation import Problem as Queries
from spec.positions.rotary.plug import rotation
from spec.positions.sinusoidal.notation import Problem as Tokens
from spec.positions.sinusoidal.plug import encoding
from spec.subject import Refused


def queries(D: int, positions: list[int]) -> Queries:
    """A problem of lattice numbers, two batch elements and three heads."""
    chance = np.random.default_rng(4)
    q, k, v, dout = (chance.integers(-64, 65, (2, 3, len(positions), D)) / 16 for _ in range(4))
    return Queries(q, k, v, dout, positions=np.tile(np.array(positions, float), (2, 1)))


def test_what_is_not_taken_is_not_asked() -> None:
    def encode(x: Array) -> Array:
        return x

    assert Capability.OFFSET not in encoding(encode).offers
    assert Capability.PLACES not in rotation(lambda x: x, backend="numpy").offers


def unknown_pairing() -> object:
    return encoding(implementations.sinusoidal.encode, conventions={"pairing": "quarters"})


def unknown_layout() -> object:
    return rotation(implementations.rotary.rotate, layout="hbld")


def unknown_sides() -> object:
    return linear_bias(implementations.alibi.bias, conventions={"sides": "up"})


def too_few_parameters() -> object:
    return linear_bias(lambda heads: heads, backend="numpy")


def a_parameter_that_no_problem_has() -> object:
    def rotate(x: Array, cosines: Array) -> Array:
        return x * cosines

    return rotation(rotate)


def an_option_of_another_kind() -> object:
    return encoding(implementations.rotary.rotate)


def no_function() -> object:
    return encoding(3)  # type: ignore[arg-type]


def a_class_of_biases() -> object:
    return linear_bias(type("Biases", (), {}))


def a_function_that_tells_no_parameters() -> object:
    return encoding(min, backend="numpy")


def a_bias_that_fails() -> object:
    def bias(heads: int, queries: int, keys: int) -> Array:
        raise ZeroDivisionError(f"{heads} {queries} {keys}")

    return linear_bias(bias)


BAD: dict[Callable[[], object], str] = {
    unknown_pairing: "unknown pairing 'quarters': choose from interleaved, halves",
    unknown_layout: "unknown layout 'hbld': choose from bhld, blhd",
    unknown_sides: "unknown sides 'up': choose from past, both",
    too_few_parameters: "takes 1 positional parameters, want at least 3",
    a_parameter_that_no_problem_has: "requires a parameter 'cosines', which cannot be filled",
    an_option_of_another_kind: "rotate takes positions, base, width, want first or less",
    a_class_of_biases: "Biases is a class, want a function of heads, queries, keys",
    a_function_that_tells_no_parameters: "min does not tell its parameters",
    no_function: "int is no function and no class of functions",
    a_bias_that_fails: "fails for one head: ZeroDivisionError: 1 1 1",
}


@pytest.mark.parametrize("make", BAD, ids=lambda make: make.__name__)
def test_what_cannot_be_judged_is_refused_in_one_line(make: Callable[[], object]) -> None:
    with pytest.raises(Unsuitable) as caught:
        make()
    assert BAD[make] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_result_of_the_wrong_shape_or_dtype_is_named() -> None:
    x = np.zeros((2, 3, 4))
    problem = Tokens(x, x)
    with pytest.raises(Violation, match=r"y has the wrong shape: got \(3, 4\), want \(2, 3, 4\)"):
        encoding(lambda x: x[0], backend="numpy").add(problem)
    with pytest.raises(Violation, match="float64 is computed in float32"):
        encoding(lambda x: x.astype(np.float32), backend="numpy").add(problem)
    with pytest.raises(Violation, match="y is None, want an array of numpy"):
        encoding(lambda _: None, backend="numpy").add(problem)
    with pytest.raises(Refused, match="IndexError"):
        encoding(lambda x: x[5], backend="numpy").add(problem)


def test_an_odd_width_is_refused_in_one_line() -> None:
    problem = queries(3, [0, 1])
    with pytest.raises(Refused, match="cannot pair the columns of an odd width, 3"):
        rotation(implementations.rotary.rotate).rotate(problem)


def test_a_layout_with_the_length_before_the_heads_is_the_same() -> None:
    def rotate(x: Array, positions: Array) -> Array:
        return implementations.rotary.rotate(x.swapaxes(1, 2), positions).swapaxes(1, 2)

    problem = queries(4, [0, 1, 2])
    turned = rotation(rotate, layout="blhd").rotate(problem)
    assert (turned == rotation(implementations.rotary.rotate).rotate(problem)).all()
