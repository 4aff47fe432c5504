"""The options of a layer, by the names of torch.nn.MultiheadAttention or by its own."""

from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np

from spec.backends.calling import Parameters, by_place
from spec.backends.shapes import in_letters
from spec.layer import moves
from spec.layer.notation import LayerProblem
from spec.layer.plug.described import Description, Form
from spec.layer.plug.expressions import is_told
from spec.layer.record import BUILT_WITH, Capability
from spec.notation import Array

MADE = ("batch_first", "bias", "kdim", "vdim")
FLAGS = ("need_weights", "average_attn_weights", "is_causal")
MASKS = ("attn_mask", "key_padding_mask")
OTHER_MASKS = ("mask", "attention_mask", "padding_mask")  # their meaning differs between layers
ADVICE = {
    name: f'a --description tests it with [masks] {name} = "seen (N, M)", or as docs/layer.md lists'
    for name in OTHER_MASKS
}


def kinds(
    options: Container[str], takes: Container[str], told: Description
) -> frozenset[Capability]:
    """The kinds of problem for which a constructor and a call have parameters."""
    masked, padded = "attn_mask" in takes, "key_padding_mask" in takes
    wanted = {
        Capability.MASK: masked,
        Capability.BIAS: masked,
        Capability.HEAD_MASK: masked,
        Capability.CAUSAL: masked or "is_causal" in takes,
        Capability.PADDING: padded,
    }
    if told.masks:
        said = frozenset[Capability]().union(*(form.kinds for form in told.masks.values()))
        wanted = dict.fromkeys(said, True)
    without = is_told(told.make, "bias") if told.make else "bias" in options
    wanted |= {
        Capability.WIDTHS: "kdim" in options and "vdim" in options and told.of_torch,
        **{BUILT_WITH[name]: True for name in told.biases},
        Capability.UNBIASED: without or not told.biases,
        Capability.EACH_HEAD: "average_attn_weights" in takes,
        Capability.MEAN: True,
        Capability.UNBATCHED: True,
        Capability.MANY_TOKENS: True,
        Capability.APART: told.inputs > 1,
        Capability.FUTURE: True,
        Capability.STILL: True,
        Capability.GROUPS: is_told(told.make, "G"),
    }
    return frozenset(kind for kind, there in wanted.items() if there)


def making(options: Parameters) -> tuple[str, ...]:
    """The parameters that a constructor is passed; format and device are settled around it."""
    return (*by_place(options, 2), *MADE, "device", "dtype")


def asking(takes: Parameters, told: Description) -> tuple[str, ...]:
    """The parameters that some call of a layer is passed, the layer itself being the first."""
    masks = told.masks or MASKS
    return (*by_place(takes, 1 + told.inputs), *FLAGS, *masks, *told.given)


def constructed(problem: LayerProblem, options: Container[str]) -> dict[str, Any]:
    """The arguments of a constructor other than the width and the heads, as far as it has them."""
    found: dict[str, Any] = {"batch_first": True} if "batch_first" in options else {}
    if not problem.biases and "bias" in options:
        found["bias"] = False
    if problem.own_widths:
        found |= {"kdim": problem.key.shape[2], "vdim": problem.value.shape[2]}
    return found


def flags(problem: LayerProblem, takes: Container[str]) -> dict[str, Any]:
    """The options that are no arrays, of those that the call takes."""
    found: dict[str, Any] = {}
    if "need_weights" in takes:
        found["need_weights"] = problem.asks != "nothing"
    if "average_attn_weights" in takes and problem.asks != "nothing":
        found["average_attn_weights"] = problem.asks == "mean"
    if problem.causal and problem.mask is None and "is_causal" in takes:
        found["is_causal"] = True
    return found


def masks(
    problem: LayerProblem, takes: Container[str], *, true_attends: bool = False
) -> dict[str, tuple[str, Array]]:
    """The masks that the call is given, each with the field of the problem it stands for.

    Causality is written out in addition to its flag, which for torch is no more than a hint; and
    two masks are of one type, as torch wants them. Truth values are turned over last, for a
    layer in which True says what may be attended to: what is added means the same to all.
    """
    mask, padding = problem.mask, problem.padding
    if problem.causal:
        mask = _with_the_future(problem) if "attn_mask" in takes else None
    if padding is not None and mask is not None and mask.dtype != bool:
        padding = np.where(padding, -np.inf, 0.0)
    found = {"attn_mask": ("mask", mask), "key_padding_mask": ("padding", padding)}

    def written(x: Array) -> Array:
        return np.logical_not(x) if true_attends and x.dtype == bool else x

    return {word: (name, written(x)) for word, (name, x) in found.items() if x is not None}


def shapes(
    problem: LayerProblem, words: Iterable[str], options: Mapping[str, Any]
) -> Mapping[str, str]:
    """The shapes of the masks among the options of a call, by their names there, in letters."""
    sizes = {letter: getattr(problem, letter) for letter in "BHNM"}
    return {word: in_letters(tuple(options[word].shape), sizes) for word in words}


def forms(problem: LayerProblem, told: Mapping[str, Form]) -> dict[str, tuple[str, Array]]:
    """The masks of a call that a description speaks of, of those in which anything is hidden.

    A mask with rows for queries hides all that is masked; one without them hides padding.
    """
    found: dict[str, tuple[str, Array]] = {}
    for word, form in told.items():
        rows = "N" in form.axes
        said = problem if rows else problem.but(mask=None, causal=False)
        if said.causal:
            said = said.but(mask=_with_the_future(said))
        if said.mask is not None or said.padding is not None:
            found[word] = ("padding" if "B" in form.axes else "mask", _shaped(said, form))
    return found


def _shaped(problem: LayerProblem, form: Form) -> Array:
    """Mask and padding of a problem as one mask of a form."""
    whole = moves.one_mask(problem).mask
    assert whole is not None
    x = whole.reshape(problem.B, problem.H, problem.N, problem.M)
    index = [slice(None) if axis in form.axes else 0 for axis in "BHNM"]
    x = x[tuple(index)].reshape([getattr(problem, n) if n != "1" else 1 for n in form.axes])
    if x.dtype != bool:
        return x
    return {"hidden": x, "seen": ~x, "added": np.where(x, -np.inf, 0.0)}[form.means]


def _with_the_future(problem: LayerProblem) -> Array:
    """The mask of the problem, with the future forbidden too.   (N, M) or (B H, N, M)"""
    future = np.arange(problem.M)[None, :] > np.arange(problem.N)[:, None]
    if problem.mask is None:
        return future
    if problem.mask.dtype == bool:
        return np.logical_or(problem.mask, future)
    return np.where(future, -np.inf, problem.mask)
