"""Three rules by which functions are compared elsewhere, on normal inputs of one usual shape.

    assert_close   `torch.testing.assert_close` of each result, with its default tolerances
    1e-2           no number is off by more than 1e-2
    2 × eager      in 16 bits: no result is off by more than twice the largest error of the same
                   formula computed in the format of its inputs. The tests of FlashAttention hold
                   outputs to that (`(out - out_ref).abs().max() <= 2 * (out_pt -
                   out_ref).abs().max()`); to gradients, some of them allow more

Each compares with the definition in float64, which no fault touches. The inputs have what a family
needs: an additive mask, a cap, slopes, sinks.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor

from tests.power.attention import Attention, Eager

SHAPE = {"B": 2, "H": 4, "N": 128, "M": 128, "D": 64}
LEARNING = ("query", "key", "value", "attn_mask", "alibi_slopes", "sinks")
OTHERS = ("assert_close", "1e-2")
TWICE = "2 × eager"
Results = Mapping[str, Tensor]


@cache
def inputs(option: str) -> Mapping[str, Any]:
    """The arguments in float64, the same in every run, as numbers that bfloat16 has.

    (B, H, N, D) each; half of all pairs are hidden, by causality.
    """
    B, H, N, M, D = SHAPE.values()
    chance = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=chance).bfloat16().double()

    more: dict[str, dict[str, Any]] = {
        "bias": {"attn_mask": normal(1, 1, N, M)},
        "cap": {"softcap": 2.0},
        "slopes": {"alibi_slopes": 2.0 ** -torch.arange(1, H + 1).double()},
        "sinks": {"sinks": normal(H)},
    }
    return {
        "query": normal(B, H, N, D),
        "key": normal(B, H, M, D),
        "value": normal(B, H, M, D),
        "dout": normal(B, H, N, D),
        "dlse": normal(B, H, N),
        "is_causal": True,
        "return_lse": True,
        **more.get(option, {}),
    }


def results(function: Any, option: str, dtype: torch.dtype) -> Results:
    """The output, the log-sum-exp and all gradients of a function, in float64."""
    given = dict(inputs(option))
    dout, dlse = given.pop("dout"), given.pop("dlse")
    arrays = {n: x.to(dtype, copy=True) for n, x in given.items() if n in LEARNING}
    arrays = {n: x.requires_grad_() for n, x in arrays.items()}
    o, lse = function(**given | arrays)
    torch.autograd.backward([o, lse], [dout.to(o.dtype), dlse.to(lse.dtype)])
    gradients = {f"d{n}": x.grad for n, x in arrays.items()}
    return {n: x.detach().double() for n, x in {"o": o, "lse": lse, **gradients}.items()}


@cache
def truth(option: str) -> Results:
    """The definition's results."""
    return results(Attention().attend, option, torch.float64)


@cache
def usual_errors(option: str, dtype: torch.dtype) -> Mapping[str, float]:
    """The largest error of each result of the same formula in the format of its inputs."""
    want = truth(option)
    return {n: _error(x, want[n]) for n, x in results(Eager().attend, option, dtype).items()}


def _error(got: Tensor, want: Tensor) -> float:
    return float((got - want).abs().nan_to_num(torch.inf).max())


def _close(got: Tensor, want: Tensor, dtype: torch.dtype) -> bool:
    try:
        torch.testing.assert_close(got.to(dtype), want.to(dtype))
    except AssertionError:
        return False
    return True


def refused(function: Attention, option: str, rule: str, dtype: torch.dtype) -> bool:
    """Whether a rule refuses a function. option: of `inputs`."""
    got, want = results(function.attend, option, dtype), truth(option)
    if rule == OTHERS[0]:
        return not all(_close(got[n], want[n], dtype) for n in want)
    if rule == OTHERS[1]:
        return any(_error(got[n], want[n]) > 1e-2 for n in want)
    usual = usual_errors(option, dtype)
    return any(_error(got[n], want[n]) > 2 * usual[n] for n in want)
