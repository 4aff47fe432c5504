"""Where dropout gets its random numbers, what torch does, and what is no target."""

from typing import Any

import numpy as np
import pytest

import implementations.dropout
from spec import CLAUSES
from spec.backends import Unsuitable
from spec.dropout import reading
from spec.dropout.plug import dropout
from tests.dropout.test_definition import small
from tests.dropout.test_dropout import right
from tests.judging import EXAMPLES, QUICK, broken, found
from tests.night import deep

EVALUATION = ("D7", "D8", "D9", "D12", "D16", "D22")  # the last at the 25 examples alone

# Random numbers


def test_a_generator_runs_on_from_call_to_call_and_starts_anew() -> None:
    problem = reading.readable(small(p=0.5))
    network = right("numpy")
    first, second = network.sequence(problem, (True, True))
    assert np.array_equal(first, network.forward(problem))
    assert not np.array_equal(first != 0, second != 0)


def test_a_function_that_takes_a_seed_is_told_the_next_one() -> None:
    told: list[int] = []

    def attend(query: Any, key: Any, value: Any, dropout_p: float = 0.0, seed: int = 0) -> Any:
        told.append(seed)
        return implementations.dropout.attend(
            query, key, value, dropout_p=dropout_p, rng=np.random.default_rng(seed)
        )

    network = dropout(attend, backend="numpy")
    told.clear()
    network.sequence(small(seed=7), (True, False, True))
    assert told == [7, 8, 9]


def test_the_global_source_of_numpy_is_left_as_it_was() -> None:
    def attend(query: Any, key: Any, value: Any, dropout_p: float = 0.0) -> Any:
        a = np.exp(query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]))
        a /= a.sum(axis=-1, keepdims=True)
        return a * (np.random.random(a.shape) >= dropout_p) / (1 - dropout_p) @ value

    network = dropout(attend, backend="numpy")
    before = np.random.get_state()
    one, two = network.forward(small()), network.forward(small())
    after = np.random.get_state()
    assert np.array_equal(one, two)
    assert all(np.array_equal(x, y) for x, y in zip(before, after, strict=True))


@pytest.mark.torch
@pytest.mark.parametrize("name", ["torch", "module", "sdpa", "composed", "multihead"])
def test_the_global_source_of_torch_is_left_as_it_was(name: str) -> None:
    import torch

    problem = reading.readable(small(q=np.ones((2, 3, 4, 5))))
    before = torch.get_rng_state()
    right(name).forward(problem)
    right(name).backward(problem)
    right(name).sequence(problem, (True, False))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.torch
@pytest.mark.parametrize(
    ("examples", "numbers"), [(QUICK, EVALUATION[:-1]), deep(EXAMPLES, EVALUATION)]
)
def test_the_function_of_torch_drops_whenever_it_is_told_a_rate(
    examples: int, numbers: tuple[str, ...]
) -> None:
    """So this is a user's mistake, and refused: to pass the rate in evaluation too."""
    import torch

    def attend(
        query: Any, key: Any, value: Any, dropout_p: float = 0.0, training: bool = True
    ) -> Any:
        del training
        attention = torch.nn.functional.scaled_dot_product_attention
        return attention(query, key, value, dropout_p=dropout_p)

    network = dropout(attend, backend="torch")
    wrong = [*broken(network, "float32", examples, seed=3)]
    assert wrong == [CLAUSES[number].id for number in numbers]
    assert found(CLAUSES["D22"], network, "float32", seed=3).violation


@pytest.mark.torch
def test_the_layer_of_torch_returns_weights_after_dropout() -> None:
    """pytorch/pytorch#42929: rows that sum to more than one."""
    problem = reading.readable(small(p=0.5, q=np.ones((2, 3, 4, 5))))
    shown = right("multihead").weights(problem)
    assert np.array_equal(shown, right("multihead").forward(problem))
    assert shown.sum(axis=-1).max() > 1


# What is no target


def no_rate(query: Any, key: Any, value: Any) -> Any:  # noqa: ARG001
    return value


def too_few(query: Any, dropout_p: float) -> Any:  # noqa: ARG001
    return query


def wrong_shape(query: Any, key: Any, value: Any, dropout_p: float = 0.0) -> Any:  # noqa: ARG001
    return value[:, :1]


class NoRate:
    def __call__(self, query: Any, key: Any, value: Any) -> Any:
        return query, key, value


class NoMode:
    def __init__(self, p: float) -> None:
        self.p = p

    def __call__(self, query: Any, key: Any, value: Any) -> Any:
        return query, key, value


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (no_rate, "no parameter dropout_p or dropout or p, so it drops nothing"),
        (too_few, "an attention function takes at least 3"),
        (wrong_shape, r"wrong shape: got \(2, 1, 3, 3\), want \(2, 2, 3, 3\)"),
        (NoRate, "cannot be built from a rate"),
        (NoMode, r"has no train\(\) and eval\(\), so no mode"),
    ],
)
def test_what_has_no_dropout_is_told_so_in_a_line(target: Any, words: str) -> None:
    with pytest.raises(Unsuitable, match=words) as caught:
        dropout(target, backend="numpy")
    assert "\n" not in str(caught.value)


def test_what_has_no_gradients_is_not_asked_for_them() -> None:
    def attend(query: Any, key: Any, value: Any, dropout_p: float = 0.0, *, rng: Any) -> Any:
        return implementations.dropout.attend(query, key, value, dropout_p=dropout_p, rng=rng)

    bound = {c.number for c in CLAUSES.values() if c.binds(dropout(attend, backend="numpy"))}
    assert {"D1", "D2", "D17"} <= bound
    assert not bound & {"D3", "D4", "D5", "D6", "D11", "D12"}
