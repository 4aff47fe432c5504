"""The record of ordinary attention with dropout, written in NumPy or torch.

    attend(query, key, value, ..., dropout_p=0.0)      a function in torch's spelling
    Attention(p)(query, key, value, ...)               a class with train() and eval()

A function gets the rate as `dropout_p`, and the mode as `training`, if it has such a
parameter; else it gets the rate 0 in evaluation, as users of torch's function have to
(pytorch/pytorch#124464). A class is built from the rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from spec.attention.notation import Gradients
from spec.attention.options import Capability
from spec.attention.plug.differentiating import Differentiable
from spec.attention.plug.signature import Signature, signature_of
from spec.backends.calling import named, parameters_of, plugged, probing, spelled
from spec.backends.library import Library, Unsuitable
from spec.dropout.notation import Dropout, Modes, Problem
from spec.dropout.plug.randomness import GENERATORS, SEEDS, started
from spec.notation import Array, Call
from spec.subject import not_offered

RATES = ("dropout_p", "dropout", "p")
MODES = ("training", "is_training")
QUERIES = ("dout", "q", "k", "v")


def dropout(target: Any, *, refuses: frozenset[str] = frozenset(), **how: Any) -> Dropout:
    """The record of a function with a rate, or of a class that is built from one.

    target: query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E), in
        their dtype; `backward` takes dout (B, H, N, E) first and gives dq, dk, dv, shaped like
        query, key, value, its generator starting once more; `weights` gives (B, H, N, M). Random
        numbers come from a parameter `rng` or `generator`, which is a generator of the backend;
        from a parameter `seed`; or, where there is neither, from the backend's global source.
    refuses: the kinds of problem that are not to be asked. how: as
        `spec.backends.calling.plugged` has it.
    Raises Unsuitable, in one line: no rate; no mode; parameters that no problem has; an output
        of the wrong shape (got, want) or dtype on a probe.
    """
    arrays, facts = plugged(target, **how)
    title = facts["name"]
    made = (_of_class if isinstance(target, type) else _of)(target, title, arrays)
    kinds = made.answers - refuses
    record = Dropout(
        **facts,
        forward=made.forward,
        sequence=made.sequence,
        backward=made.backward if made.differentiable else not_offered,
        weights=made.weights if callable(getattr(made.example, "weights", None)) else not_offered,
        call=made.watched,
        answers=kinds,
        differentiates=kinds,
        notes=named(made.signatures[""].unused),
    )
    x = np.ones((2, 2, 3, 3))
    with probing(f"{title} is no attention with dropout"):
        record.forward(Problem(x, x, x, x, p=0.5, dtype=record.dtypes[0]))
    return record


def _of(function: Any, title: str, library: Library) -> Made:
    """A function, which has no state: every instance is itself."""
    parameters = parameters_of(function)
    rate, mode = spelled(RATES, parameters), spelled(MODES, parameters)
    if rate is None:
        raise Unsuitable(f"{title} has no parameter {' or '.join(RATES)}, so it drops nothing")
    source = spelled((*GENERATORS, *SEEDS), parameters)
    return Made(lambda _: function, function, library, source, rate, mode)


def _of_class(make: Any, title: str, library: Library) -> Made:
    """A class, whose instances know the rate and the mode."""
    try:
        example = make(0.5)
    except (TypeError, ValueError) as error:
        raise Unsuitable(f"{title} cannot be built from a rate: {error}") from None
    if not (callable(getattr(example, "train", None)) and callable(getattr(example, "eval", None))):
        raise Unsuitable(f"{title} has no train() and eval(), so no mode")
    source = spelled((*GENERATORS, *SEEDS), parameters_of(_call_of(example)))
    return Made(make, example, library, source, None, None)


def _call_of(instance: Any) -> Any:
    """Where to read the parameters of a call: of a torch module, those of `forward`."""
    return instance.forward if hasattr(instance, "forward") else instance


@dataclass(frozen=True)
class Made:
    """How to get an instance, call it, and start its random numbers.

    make: an instance from a rate. example: one of them. source, rate, mode: the parameters
    of a call that tell the source of randomness, the rate and the mode, if it has any.
    """

    make: Callable[[float], Any]
    example: Any
    library: Library
    source: str | None
    rate: str | None
    mode: str | None

    @property
    def differentiable(self) -> bool:
        """Whether there are gradients: given, or the library's own."""
        given = callable(getattr(self.example, "backward", None))
        return self.library.differentiate is not None or given

    @property
    def answers(self) -> frozenset[str]:
        """The kinds of problem that can be put to a call at all."""
        return self._wrapped(self.example, "", {}).signature.kinds - {Capability.GROUPS}

    def forward(self, problem: Problem) -> Array:
        """The output, from the problem's seed. Raises Violation or Refused."""
        (o,) = self.sequence(problem, (problem.training,))
        return o

    def sequence(self, problem: Problem, modes: Modes) -> tuple[Array, ...]:
        """The outputs of calls in a row, on one instance."""
        instance = self.make(problem.p)
        with started(self.library, self.source, problem.seed) as extra:
            turns = [problem.but(training=training) for training in modes]
            return tuple(self._at(instance, t, extra).forward(t.attention) for t in turns)

    def watched(self, problem: Problem) -> Call:
        """The forward pass, and what it did to its inputs and their memory."""
        with started(self.library, self.source, problem.seed) as extra:
            return self._at(self.make(problem.p), problem, extra).watched(problem.attention)

    def weights(self, problem: Problem) -> Array:
        """The weights that are shown."""
        with started(self.library, self.source, problem.seed) as extra:
            wrapped = self._at(self.make(problem.p), problem, extra, "weights")
            return wrapped.weights(problem.attention)

    def backward(self, problem: Problem) -> Gradients:
        """dq, dk, dv, from the problem's seed."""
        instance = self.make(problem.p)
        given = "backward" if callable(getattr(instance, "backward", None)) else ""
        with started(self.library, self.source, problem.seed) as extra:
            wrapped = self._at(instance, problem, extra, given)
            found = wrapped.given_gradients if given else wrapped.gradients
            return found(problem.attention)

    def _at(self, instance: Any, problem: Problem, extra: Any, method: str = "") -> Differentiable:
        """An instance or its method, in the mode and at the rate of the problem."""
        options = dict(extra())
        if self.rate is not None:
            options[self.rate] = problem.rate if self.mode is None else problem.p
        else:
            (instance.train if problem.training else instance.eval)()
        if self.mode is not None:
            options[self.mode] = problem.training
        return self._wrapped(instance, method, options)

    def _wrapped(self, instance: Any, method: str, options: dict[str, Any]) -> Differentiable:
        """A call, with what is not an array of the problem already given."""
        function = getattr(instance, method) if method else instance
        return Differentiable(partial(function, **options), self.signatures[method], self.library)

    @cached_property
    def signatures(self) -> Mapping[str, Signature]:
        """How a call and each method that is there take the arrays of a problem."""
        blank = dict.fromkeys(x for x in (self.source, self.rate, self.mode) if x is not None)
        found = {"": signature_of(partial(_call_of(self.example), **blank))}
        for method, roles in (("weights", QUERIES[1:]), ("backward", QUERIES)):
            function = getattr(self.example, method, None)
            if callable(function):
                found[method] = signature_of(partial(function, **blank), roles=roles)
        return found
