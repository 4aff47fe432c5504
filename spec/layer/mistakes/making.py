"""A layer of NumPy arrays with torch's names, built from steps of which one is wrong.

    @wrong("scale", incident="BUG-14")
    def scales_by_the_whole_width(sizes: Sizes) -> float:
        '''Divides the scores by the square root of the model width A, not of the head size D.'''
        return 1 / np.sqrt(sizes.A)

The decorated name stands for a class that is built, loaded and called like torch's. A function
for the step "call" receives the correct call, the layer, and the arguments of the call.
"""

from functools import partial, wraps
from typing import Any, ClassVar

import numpy as np

from spec import mistake
from spec.attention.mistakes.exponentials import softmax
from spec.layer.definition import linear, merge, split
from spec.layer.mistakes import steps as right
from spec.layer.mistakes.steps import Mask, Named, Pass, Sizes
from spec.layer.notation import Parameters
from spec.layer.state import parameters_of, state_of
from spec.mistake import Steps
from spec.notation import Array


class MultiHead:
    """Multi-head attention on NumPy arrays, called like `torch.nn.MultiheadAttention`."""

    steps: ClassVar[Steps]

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
    ) -> None:
        A, K, V = embed_dim, kdim or embed_dim, vdim or embed_dim
        self.heads, self.training = num_heads, True
        biases = [np.zeros(A)] * 4 if bias else []
        shapes = ((A, A), (A, K), (A, V), (A, A))
        self.parameters = Parameters(*(np.zeros(shape) for shape in shapes), *biases)
        self.seen: Pass | None = None
        self.found: dict[str, Array] = {}

    def load_state_dict(self, state: dict[str, Array]) -> None:
        self.parameters = parameters_of(self.steps.restore(state))

    def state_dict(self) -> dict[str, Array]:
        return state_of(self.parameters)

    def train(self, mode: bool = True) -> None:
        self.training = mode

    def __call__(
        self,
        query: Array,
        key: Array,
        value: Array,
        key_padding_mask: Mask = None,
        need_weights: bool = True,
        attn_mask: Mask = None,
        average_attn_weights: bool = True,
    ) -> tuple[Array, Array | None]:
        batched = query.ndim == 3
        if not batched:
            query, key, value = query[None], key[None], value[None]
            key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        y, a = self._attend(query, key, value, key_padding_mask, attn_mask, need_weights)
        shown = self.steps.show(a, average_attn_weights) if need_weights else None
        if batched:
            return y, shown
        return y[0], None if shown is None else shown[0]

    def _attend(
        self, query: Array, key: Array, value: Array, padding: Mask, mask: Mask, asked: bool
    ) -> tuple[Array, Array]:
        p = self.steps.pick(self.parameters.named())
        sizes = Sizes(len(query), self.heads, query.shape[1], key.shape[1], query.shape[2])
        inputs = self.steps.receive(query, key, value, sizes)
        q, k, v = (
            self.steps.split(self.steps.project(x, p[f"W_{n}"], p.get(f"b_{n}")), sizes.H)
            for n, x in zip("qkv", inputs, strict=True)
        )
        sigma = q.dtype.type(self.steps.scale(sizes))
        s = sigma * (q @ k.swapaxes(-1, -2))
        full = None if mask is None else self.steps.spread(mask, sizes)
        hidden = None if padding is None else self.steps.hidden_by_padding(padding, sizes)
        a = self.steps.weigh(self.steps.combine(s, full, hidden)).astype(q.dtype)
        context = self.steps.merge(a @ v)
        self.seen = Pass(sizes, inputs, (q, k, v), sigma, a, context)
        y = self.steps.finish(context, p["W_o"], p.get("b_o"), sizes.H)
        return self.steps.answer(y, not self.training, padding, asked), a

    def backward(self, dout: Array) -> tuple[Array, Array, Array, dict[str, Array]]:
        batched = dout.ndim == 3
        assert self.seen is not None
        of_inputs, named = differentiated(
            self.steps, self.seen, self.parameters.named(), dout if batched else dout[None]
        )
        self.found = state_of(Parameters(**self.steps.gather(named)))
        dquery, dkey, dvalue = (x if batched else x[0] for x in of_inputs)
        return dquery, dkey, dvalue, self.found

    def step(self, rate: float) -> None:
        state = self.state_dict()
        moved = {n: self.steps.descend(x, self.found[n], rate) for n, x in state.items()}
        self.parameters = parameters_of(moved)


def program(steps: Steps) -> Any:
    """A class of layers that uses these steps."""

    @wraps(MultiHead.__call__)
    def call(layer: MultiHead, *inputs: Any, **options: Any) -> Any:
        return steps.call(MultiHead.__call__, layer, *inputs, **options)

    return type("MultiHead", (MultiHead,), {"steps": steps, "__call__": call})


def differentiated(steps: Steps, seen: Pass, p: Named, dout: Array) -> tuple[list[Array], Named]:
    """The gradients with respect to inputs and parameters, from the results of a forward pass."""
    q, k, v = seen.heads
    do = split(steps.into_context(dout, p["W_o"]), seen.sizes.H)
    ds = steps.score_gradients(seen.a, do @ v.swapaxes(-1, -2))
    of_heads = {
        "q": seen.sigma * (ds @ k),
        "k": seen.sigma * steps.into_keys(ds, q, v),
        "v": seen.a.swapaxes(-1, -2) @ do,
    }
    wide = {n: merge(d) for n, d in of_heads.items()}
    named = {f"W_{n}": steps.of_weight(wide[n], x) for n, x in zip("qkv", seen.inputs, strict=True)}
    named["W_o"] = steps.of_weight(dout, seen.context)
    if "b_o" in p:
        named |= {f"b_{n}": steps.of_bias(d) for n, d in wide.items()}
        named["b_o"] = steps.of_bias(dout)
    found = [steps.of_input(wide[n], p[f"W_{n}"], n) for n in "qkv"]
    return steps.arrive(found, seen.inputs), named


RIGHT = mistake.steps(
    right, call=mistake.call, project=linear, split=split, merge=merge, weigh=softmax
)
wrong = partial(mistake.wrong, RIGHT, program)
