"""The record of an ordinary function that merges two states.

    merge(o_1, lse_1, o_2, lse_2)                            ours, or whatever four are called
    merge_state(v_a, s_a, v_b, s_b)                          flashinfer, SGLang
    merge_attn_states(output, prefix_output, prefix_lse, suffix_output, suffix_lse, output_lse)

The last, vLLM's, writes into what it is given. Read at flashinfer@01c897d7 (flashinfer/cascade.py),
sglang@d9095443 (sgl-kernel/python/sgl_kernel/attention.py) and vllm@01ac819c
(vllm/v1/attention/ops/triton_merge_attn_states.py): flashinfer's lse is in base two and has the
heads last, vLLM's is natural, has them first, and may be +inf for no keys.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.backends.calling import (
    Parameters,
    by_place,
    named,
    parameters_of,
    plugged,
    probing,
    required_and_unknown,
    required_beside,
    spelled,
    unused,
)
from spec.backends.calling import told as signed
from spec.backends.library import Library, Unsuitable
from spec.backends.results import check, read, refusing, watched, words
from spec.backends.unknown import unknown
from spec.comparison import Violation
from spec.entries import eighths
from spec.merging.notation import Gradients, Merging, Problem, State
from spec.merging.plug.layouts import LAYOUTS
from spec.notation import Array, Call
from spec.subject import not_offered

INPUTS = Gradients._fields
SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "o_1": ("o_1", "o1", "out_1", "v_a", "prefix_output"),
    "lse_1": ("lse_1", "lse1", "s_a", "prefix_lse"),
    "o_2": ("o_2", "o2", "out_2", "v_b", "suffix_output"),
    "lse_2": ("lse_2", "lse2", "s_b", "suffix_lse"),
}
WRITTEN: Mapping[str, tuple[str, ...]] = {"o": ("output",), "lse": ("output_lse",)}


def merging(target: Callable[..., Any], *, layout: str = "bhld", **how: Any) -> Merging:
    """The record of a function of o_1, lse_1, o_2, lse_2 that returns (o, lse).

    target: o_1, o_2 (B, H, N, E) and lse_1, lse_2 (B, H, N) give o (B, H, N, E), in their dtype,
        and lse (B, H, N), in float32 where that has 16 bits. They are passed by place; to who
        takes `output`, and `output_lse`, by the names above, and these are written into.
        `target.backward(do, dlse, o_1, lse_1, o_2, lse_2)` gives four gradients, shaped like the
        last four.
    layout: one of `spec.merging.plug.layouts`. how: as `spec.backends.calling.plugged` has it.
    Raises Unsuitable, in one line: an unknown layout; too few parameters, or one that is required
        and unknown; no pair of results, or one of the wrong shape (got, want) or dtype on a probe.
    """
    if layout not in LAYOUTS:
        raise unknown("layout", layout, LAYOUTS)
    arrays, facts = plugged(target, **how)
    wrapped = Wrapped(target, arrays, _called(target, facts["name"]), layout)
    record = Merging(
        **facts,
        forward=wrapped.forward,
        backward=wrapped.gradients if wrapped.differentiable else not_offered,
        call=wrapped.watched,
        notes=named(unused(target, parameters_of(target), wrapped.names.values())),
    )
    with probing(f"{facts['name']} is no merge of two states"):
        record.forward(core(record.dtypes[0]))
    return record


def told(function: Any) -> bool:
    """Whether it is a merge by the names of its parameters."""
    parameters = None if isinstance(function, type) else signed(function)
    return parameters is not None and len(_spelled(parameters, SPELLINGS)) == len(INPUTS)


def core(dtype: str) -> Problem:
    """Four queries of three heads, twice, of width five: no two axes are alike."""
    shapes = [(2, 3, 4, 5), (2, 3, 4)] * 3
    return Problem(*(eighths(*shape, seed=i) for i, shape in enumerate(shapes)), dtype=dtype)


def _called(target: Callable[..., Any], title: str) -> Mapping[str, str]:
    """What the function calls the four arrays, and where it is told where to write, if it is."""
    parameters = parameters_of(target)
    found = _spelled(parameters, {**SPELLINGS, **WRITTEN})
    if "o" not in found or len(found) < len(INPUTS):
        first = by_place(parameters, len(INPUTS))
        if len(first) < len(INPUTS):
            wants = f"want o_1, lse_1, o_2, lse_2: got {len(first)}"
            raise Unsuitable(f"{title} has too few positional parameters, {wants}")
        found = dict(zip(INPUTS, first, strict=True))
    if others := required_beside(parameters, found.values()):
        raise Unsuitable(required_and_unknown(title, others))
    return found


def _spelled(parameters: Parameters, names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    found = {ours: spelled(theirs, parameters) for ours, theirs in names.items()}
    return {ours: name for ours, name in found.items() if name is not None}


@dataclass(frozen=True)
class Wrapped:
    """A function of two states, and the library whose arrays it takes.

    names: our name of an array -> the function's.
    """

    function: Callable[..., Any]
    library: Library
    names: Mapping[str, str]
    layout: str = "bhld"

    @property
    def differentiable(self) -> bool:
        """Whether there are gradients: given, or the library's own of what is returned."""
        own = self.library.differentiate is not None and "o" not in self.names
        return own or callable(self._given)

    @property
    def _given(self) -> Any:
        return getattr(self.function, "backward", None)

    def forward(self, problem: Problem) -> State:
        """The state of both. Raises Violation or Refused."""
        with self.library.quiet(problem.dtype), refusing():
            return self._state(self._call(problem, self._arrays(problem)), problem)

    def watched(self, problem: Problem) -> Call:
        """The forward pass, and what it did to its inputs and their memory."""
        with self.library.quiet(problem.dtype), refusing():
            placed = {name: self._put(problem, name) for name in INPUTS}
            views = [view for _, view in placed.values()]
            return watched(
                self.library,
                {name: buffer for name, (buffer, _) in placed.items()},
                lambda: self._pair(self._call(problem, views))[0],
                lambda o: self._read(o, problem, "o_1", "the output"),
            )

    def gradients(self, problem: Problem) -> Gradients:
        """All four. Raises Violation or Refused."""
        with self.library.quiet(problem.dtype), refusing():
            arrays = self._arrays(problem)
            do, dlse = (self._put(problem, name)[1] for name in ("do", "dlse"))
            if callable(self._given):
                found = self._given(do, dlse, *arrays)
            else:
                found = self.library.gradients(self._differentiated(problem), arrays, (do, dlse))
            if not isinstance(found, tuple | list) or len(found) != len(INPUTS):
                wanted = "want " + ", ".join(f"d{name}" for name in INPUTS)
                raise Violation(f"backward returned {words(found)}, {wanted}")
            pairs = zip(INPUTS, found, strict=True)
            return Gradients(*(self._read(dx, problem, n, f"d{n}") for n, dx in pairs))

    def _differentiated(self, problem: Problem) -> Callable[..., Any]:
        """The call as a function of its arrays, whose results are what they should be."""

        def function(*arrays: Any) -> tuple[Any, Any]:
            o, lse = self._pair(self._call(problem, [*arrays]))
            for x, like in ((o, "o_1"), (lse, "lse_1")):
                shape = self._native(getattr(problem, like)).shape
                check(self.library, x, shape, _format(problem, like), f"d{like}", placed=False)
            return o, lse

        return function

    def _call(self, problem: Problem, arrays: list[Any]) -> Any:
        """What is returned, or was written."""
        if "o" not in self.names:
            return self.function(*arrays)
        given = dict(zip(INPUTS, arrays, strict=True))
        into = {ours: self._blank(problem, ours) for ours in WRITTEN if ours in self.names}
        self.function(**{self.names[ours]: x for ours, x in (given | into).items()})
        return into["o"], into.get("lse")

    def _blank(self, problem: Problem, ours: str) -> Any:
        like = {"o": "o_1", "lse": "lse_1"}[ours]
        x = np.zeros_like(self._native(getattr(problem, like)))
        return self.library.placed(x, _format(problem, like))[1]

    def _arrays(self, problem: Problem) -> list[Any]:
        return [self._put(problem, name)[1] for name in INPUTS]

    def _put(self, problem: Problem, name: str) -> tuple[Any, Any]:
        return self.library.placed(self._native(getattr(problem, name)), _format(problem, name))

    def _pair(self, result: Any) -> tuple[Any, Any]:
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise Violation(f"merge returned {words(result)}, want the output and its log-sum-exp")
        return result[0], result[1]

    def _state(self, result: Any, problem: Problem) -> State:
        o, lse = self._pair(result)
        return State(
            self._read(o, problem, "o_1", "the output"),
            self._read(lse, problem, "lse_1", "the log-sum-exp"),
        )

    def _read(self, result: Any, problem: Problem, like: str, what: str) -> Array:
        """The numbers of a result, once it is known to have the shape of the array `like`."""
        x = getattr(problem, like)
        native = read(self.library, result, self._native(x).shape, _format(problem, like), what)
        return LAYOUTS[self.layout].back(native, x)

    def _native(self, x: Array) -> Array:
        """From our layout to the function's."""
        return LAYOUTS[self.layout].forth(x)


def _format(problem: Problem, name: str) -> str:
    """The dtype of an array of a problem."""
    return problem.lse_dtype if "lse" in name else problem.dtype
