"""Known bugs of a layer's softmax: it normalises over another axis than that of the keys."""

from spec.attention.mistakes.exponentials import softmax
from spec.layer.mistakes.making import wrong
from spec.notation import Array


@wrong(
    "weigh",
    incident="BUG-16",
    citation="labmlai/annotated_deep_learning_paper_implementations#146",
    where="N > 1 or M > 1",
)
def takes_the_softmax_over_queries(s: Array) -> Array:
    """Normalises the weights of a layer over the queries instead of the keys."""
    return softmax(s.swapaxes(-2, -1)).swapaxes(-2, -1)


@wrong("weigh", incident="BUG-16", where="H > 1 or M > 1")
def takes_the_softmax_over_heads(s: Array) -> Array:
    """Normalises the weights of a layer over the heads instead of the keys."""
    return softmax(s.swapaxes(1, -1)).swapaxes(1, -1)
