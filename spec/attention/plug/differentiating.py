"""The gradients of an ordinary attention function, as functions of a problem.

They are the library's own, or come from other functions: `backward(dout, query, key, value,
**options)`, and others called likewise. Where a problem has a cotangent of the log-sum-exp, that is
the second of two results of one call, or a parameter of such a function.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.attention import definition
from spec.attention.notation import Gradients, Problem
from spec.attention.plug.formats import format_of, promoting
from spec.attention.plug.signature import by_name
from spec.attention.plug.wrapping import INPUTS, Wrapped
from spec.backends.results import check, read, refusing, words
from spec.comparison import Violation
from spec.notation import Array
from spec.subject import NoGradient, Refused

CLEAR = 2.0**-10  # a gradient that is no underflow, in any format


@dataclass(frozen=True)
class Differentiable(Wrapped):
    """A function of arrays and its gradients."""

    def gradients(self, problem: Problem) -> Gradients:
        """dq, dk, dv by the library's own differentiation."""
        return Gradients(**self.partial(problem, INPUTS))

    def lse_gradients(self, problem: Problem) -> Gradients:
        """The same where the log-sum-exp has a cotangent too. Raises NoGradient: it is a constant.

        torch says so of a tensor. In JAX only exact zeros, where other numbers are expected,
        show that something stops a gradient.
        """
        found = self.gradients(problem)
        nothing = not any(x.any() for x in (problem.dout, found.q, found.k))
        if nothing and self.library.name == "jax":
            wanted = definition.gradients(problem)
            if max(np.abs(x).max(initial=0.0) for x in (wanted.q, wanted.k)) > CLEAR:
                raise NoGradient("the log-sum-exp is a constant in differentiation")
        return found

    def partial(self, problem: Problem, names: tuple[str, ...]) -> Mapping[str, Array]:
        """The gradients of some of the arrays, the others being constants."""
        with self.library.quiet(problem.dtype):
            placed = dict(zip(INPUTS, self._arrays(problem), strict=True)) | self._options(problem)

            def function(*chosen: Any) -> Any:
                given = {**placed, **dict(zip(names, chosen, strict=True))}
                arrays = [given.pop(name) for name in INPUTS]
                if problem.dlse is not None:
                    return self._with_lse(problem, arrays, given)
                result = self._call(problem, arrays, given)
                self._check_output(problem, result)
                return result

            with refusing():
                found = self.library.gradients(
                    function, [placed[n] for n in names], self._cotangents(problem)
                )
            return self._differentials(problem, names, found)

    def _check_output(self, problem: Problem, result: Any) -> None:
        """Raise Violation unless it is an array like the output."""
        wanted = self.layout.of(problem).shape(problem.dout.shape)
        with promoting(problem):
            check(self.library, result, wanted, problem.dtype, "the output", placed=False)

    def _with_lse(self, problem: Problem, arrays: list[Any], options: Mapping[str, Any]) -> Any:
        """The output and the log-sum-exp of one call. Raises Refused: that is a constant to it."""
        if self.signature.returning is None:
            raise Refused("no log-sum-exp is returned with the output")
        asking = self.with_lse
        both = asking._result(problem, arrays, options)
        lse = asking.signature.wanted(both)
        out = both[0]
        self._check_output(problem, out)
        wanted = self.layout.of(problem).shape(self._shape_of_lse(problem), "")
        check(self.library, lse, wanted, None, "the log-sum-exp", placed=False)
        if problem.M and not getattr(lse, "requires_grad", True):
            raise NoGradient("the log-sum-exp is a constant to autograd")
        return out, lse

    def _cotangents(self, problem: Problem) -> Any:
        """dout, or both where the log-sum-exp has a cotangent too."""
        dout = self._put(problem, "dout")[1]
        if problem.dlse is None:
            return dout
        return dout, self._put(problem, "dlse")[1]

    def _differentials(
        self, problem: Problem, names: tuple[str, ...], found: Sequence[Any]
    ) -> dict[str, Array]:
        """The numbers of gradients, each shaped like what it is taken by.

        What is no input has the axes that it has, in every layout.
        """

        def numbers(name: str, x: Any) -> Array:
            shape, dtype = getattr(problem, name).shape, format_of(problem, name)
            if name in INPUTS:
                return self._read(problem, x, shape, dtype, f"d{name}", like=name)
            return read(self.library, x, shape, dtype, f"d{name}")

        return {name: numbers(name, x) for name, x in zip(names, found, strict=True)}

    def mask_gradient(self, problem: Problem) -> Array:
        """The gradient of an additive mask, shaped like the mask."""
        return self.partial(problem, ("mask",))["mask"]

    def sink_gradient(self, problem: Problem) -> Array:
        """The gradient of the sinks.   (H,)"""
        return self.partial(problem, ("sinks",))["sinks"]

    def slope_gradient(self, problem: Problem) -> Array:
        """The gradient of the slopes.   (H,) or (B, H)"""
        return self.partial(problem, ("slopes",))["slopes"]

    def given_gradients(self, problem: Problem) -> Gradients:
        """dq, dk, dv where the function is `backward(dout, query, key, value, **options)`."""
        return Gradients(**self._given(problem, INPUTS))

    def given_sink_gradient(self, problem: Problem) -> Array:
        """dsinks where that function returns a mapping. Raises Refused: it does not have it."""
        return self._given(problem, ("sinks",))["sinks"]

    def given_slope_gradient(self, problem: Problem) -> Array:
        """dslopes, likewise."""
        return self._given(problem, ("slopes",))["slopes"]

    def _given(self, problem: Problem, names: tuple[str, ...]) -> dict[str, Array]:
        """Of what `backward` returns: (dq, dk, dv), or arrays by the names of parameters."""
        with self.library.quiet(problem.dtype):
            result = self._back(problem)
            if isinstance(result, tuple | list) and len(result) >= 3:
                result = dict(zip(INPUTS, result, strict=False))
            if not isinstance(result, Mapping):
                raise Violation(f"backward returned {words(result)}, want (dq, dk, dv)")
            found = {name: by_name(result, name) for name in names}
            for name in {"sinks", "slopes"} & {*names}:
                if found[name] is None:
                    raise Refused(f"backward returns no gradient of the {name}")
            return self._differentials(problem, names, [found[name] for name in names])

    def given_mask_gradient(self, problem: Problem) -> Array:
        """dmask where the function is `bias_gradient(dout, query, key, value, **options)`."""
        assert problem.mask is not None
        return self._answer(problem, problem.mask.shape, "dmask", inputs=("dout", *INPUTS))

    def own_sink_gradient(self, problem: Problem) -> Array:
        """dsinks where the function is `sink_gradient(dout, query, key, value, **options)`."""
        return self._own(problem, "sinks")

    def own_slope_gradient(self, problem: Problem) -> Array:
        """dslopes where the function is `slope_gradient(dout, query, key, value, **options)`."""
        return self._own(problem, "slopes")

    def _own(self, problem: Problem, name: str) -> Array:
        with self.library.quiet(problem.dtype):
            return self._differentials(problem, (name,), [self._back(problem)])[name]

    def _back(self, problem: Problem) -> Any:
        """What a backward function returns. Raises Refused: it knows no cotangent but dout."""
        if problem.dlse is not None and self.signature.taught is None:
            raise Refused("there is no parameter for a cotangent of the log-sum-exp (dlse)")
        return self._apply(problem, self._arrays(problem, ("dout", *INPUTS)))
