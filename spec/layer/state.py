"""The parameters of a layer under the names of torch's `state_dict`, and back.

in_proj_weight (3A, A)                     W_q, W_k and W_v, one above the other
q_proj_weight (A, A), k_proj_weight (A, K), v_proj_weight (A, V)
                                           instead, if K or V is not A
in_proj_bias (3A)                          b_q, b_k and b_v
out_proj.weight (A, A), out_proj.bias (A)  W_o and b_o
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spec.layer.notation import Parameters
from spec.notation import Array

INPUTS = ("q", "k", "v")


def state_of(parameters: Parameters) -> dict[str, Array]:
    """The parameters under torch's names."""
    p = parameters.named()
    weights = [p[f"W_{x}"] for x in INPUTS]
    found = {}
    if len({W.shape for W in weights}) == 1:
        found["in_proj_weight"] = np.concatenate(weights)
    else:
        found |= {f"{x}_proj_weight": W for x, W in zip(INPUTS, weights, strict=True)}
    found["out_proj.weight"] = p["W_o"]
    if "b_o" in p:
        found["in_proj_bias"] = np.concatenate([p[f"b_{x}"] for x in INPUTS])
        found["out_proj.bias"] = p["b_o"]
    return found


def parameters_of(state: Mapping[str, Array]) -> Parameters:
    """The parameters that stand under torch's names; those that are absent are None."""
    if "in_proj_weight" in state:
        weights = dict(zip(INPUTS, np.split(state["in_proj_weight"], 3), strict=True))
    else:
        weights = {x: state[f"{x}_proj_weight"] for x in INPUTS}
    found = {f"W_{x}": W for x, W in weights.items()} | {"W_o": state["out_proj.weight"]}
    if "out_proj.bias" in state:
        biases = zip(INPUTS, np.split(state["in_proj_bias"], 3), strict=True)
        found |= {f"b_{x}": b for x, b in biases} | {"b_o": state["out_proj.bias"]}
    return Parameters(**found)


def mismatch(got: Mapping[str, tuple[int, ...]], want: Mapping[str, tuple[int, ...]]) -> str:
    """How the names and shapes of a state differ from those that are wanted; "" if not at all."""
    for name in want:
        if name not in got:
            return f"state_dict has no {name!r}, want one of shape {want[name]}"
    for name, shape in got.items():
        if name not in want:
            return f"state_dict has an extra {name!r} of shape {shape}, want {', '.join(want)}"
        if shape != want[name]:
            return f"{name}: got shape {shape}, want {want[name]}"
    return ""
