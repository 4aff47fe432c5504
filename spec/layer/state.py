"""The parameters of a layer under the names of its state, and back.

Names say for each array of a state which parameters stand in it, one above the other, and in which
order its axes are (`axes`). The names of torch's `state_dict`:

in_proj_weight (3A, A)                     W_q, W_k and W_v
q_proj_weight (A, A), k_proj_weight (A, K), v_proj_weight (A, V)
                                           instead, if K or V is not A
in_proj_bias (3A)                          b_q, b_k and b_v
out_proj.weight (A, A), out_proj.bias (A)  W_o and b_o
"""

from collections.abc import Mapping

import numpy as np

from spec.layer.axes import gathered, laid, parts_of
from spec.layer.notation import Parameters
from spec.notation import Array

Names = Mapping[str, str]

TORCH: Names = {
    "in_proj_weight": "W_q W_k W_v",
    "q_proj_weight": "W_q",
    "k_proj_weight": "W_k",
    "v_proj_weight": "W_v",
    "out_proj.weight": "W_o",
    "in_proj_bias": "b_q b_k b_v",
    "out_proj.bias": "b_o",
}
APART = ("q_proj_weight", "k_proj_weight", "v_proj_weight")


def state_of(parameters: Parameters, names: Names = TORCH, width: int = 1) -> dict[str, Array]:
    """The parameters under the names of a state; biases only if there are any.

    width: of a head, for a state whose arrays have an axis of heads.
    """
    p = parameters.named()
    if names is TORCH:
        together = len({p[x].shape for x in ("W_q", "W_k", "W_v")}) == 1
        left_out = APART if together else ("in_proj_weight",)
        names = {name: text for name, text in names.items() if name not in left_out}
    return {
        name: laid(np.concatenate([p[part] for part in parts_of(text)]), text, width)
        for name, text in names.items()
        if p.keys() >= {*parts_of(text)}
    }


def parameters_of(
    state: Mapping[str, Array], names: Names = TORCH, like: Parameters | None = None
) -> Parameters:
    """The parameters that stand under the names of a state; those that are absent are None.

    like: parameters of the same shapes, where those that stand together have several.
    """
    found: dict[str, Array] = {}
    for name, text in names.items():
        if name in state:
            each = parts_of(text)
            ends = np.cumsum([len(like.named()[part]) for part in each])[:-1] if like else len(each)
            found |= zip(each, np.split(gathered(state[name], text), ends), strict=True)
    return Parameters(**found)


def mismatch(
    got: Mapping[str, tuple[int, ...]],
    want: Mapping[str, tuple[int, ...]],
    whose: str = "state_dict",
) -> str:
    """How the names and shapes of a state differ from those that are wanted; "" if not at all."""
    for name in want:
        if name not in got:
            return f"{whose} has no {name!r}, want one of shape {want[name]}"
    for name, shape in got.items():
        if name not in want:
            return f"{whose} has an extra {name!r} of shape {shape}, want {', '.join(want)}"
        if shape != want[name]:
            return f"{name}: got shape {shape}, want {want[name]}"
    return ""
