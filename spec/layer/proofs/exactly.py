"""Laws of what a layer hides, run through its definition in exact numbers.

A key can be marked as padding, masked or in the future in many ways, and
each law puts one problem in two of them. Fully masked queries, batches and their order are
here as well, since masks express them.
"""

import numpy as np

from spec.layer import definition, moves
from spec.layer.domain import IDLE
from spec.layer.notation import LayerProblem
from spec.layer.proofs.examples import exactly
from spec.notation import Array
from spec.proving.theorem import flat

PADDED = ("padding",)
SHARED = ("mask", "bias")
OF_HEADS = ("mask of heads", "bias of heads")


def untrue(one: LayerProblem, two: LayerProblem) -> Array:
    """The output of one, less that of two."""
    return definition.layer(one) - definition.layer(two)


@exactly(shared=True)
def batch_elements_do_not_meet(problem: LayerProblem, shared: bool = False) -> Array:
    """Each element gets what it would get alone. The control: they share one padding and mask."""
    y, found = definition.layer(problem), []
    for b in range(problem.B):
        alone, first = moves.of_batch(problem, b), moves.of_batch(problem, 0)
        alone = alone.but(padding=first.padding, mask=first.mask) if shared else alone
        found.append(definition.layer(alone) - y[b : b + 1])
    return flat(found)


@exactly(("none", "padding", "mask"), masked=False)
def queries_do_not_meet(problem: LayerProblem, masked: bool = True) -> Array:
    """Queries in another order give outputs in that order. The control leaves the mask's rows."""
    order = np.arange(problem.N)[::-1]
    moved = moves.of_queries(problem, order)
    moved = moved if masked else moved.but(mask=problem.mask)
    return definition.layer(moved) - definition.layer(problem)[:, order]


@exactly(PADDED, shown=1)
def padded_keys_are_deleted_keys(problem: LayerProblem, shown: int = 0) -> Array:
    """Padded keys may be cut off, element by element. The control keeps the first of them."""
    y, found = definition.layer(problem), []
    for b in range(problem.B):
        alone = moves.of_batch(problem, b)
        assert alone.padding is not None
        length = int(np.logical_not(alone.padding).sum()) + shown
        cut = moves.of_keys(alone, np.arange(problem.M)[:length]).but(padding=None)
        found.append(definition.layer(cut) - y[b : b + 1])
    return flat(found)


@exactly(PADDED, penalty=-10.0)
def the_content_of_padding_does_not_matter(
    problem: LayerProblem, penalty: float = -np.inf
) -> Array:
    """Other keys and values at padding give the same output. The control: a penalty of -10."""
    assert problem.padding is not None
    hidden = problem.padding[..., None]
    loud = problem.but(
        key=np.where(hidden, 8, problem.key), value=np.where(hidden, -9, problem.value)
    )
    forbidden = moves.one_mask(problem).mask
    assert forbidden is not None
    mask = np.where(forbidden, penalty, 0)
    return untrue(problem.but(mask=mask, padding=None), loud.but(mask=mask, padding=None))


@exactly(("padding", "mask and padding", "bias and padding"), both=False)
def padding_is_a_mask(problem: LayerProblem, both: bool = True) -> Array:
    """Padding and mask are one mask for every head. The control loses the padding."""
    written = moves.one_mask(problem if both else problem.but(padding=None))
    return untrue(problem, written)


@exactly(SHARED, heads=1)
def a_mask_holds_for_every_head(problem: LayerProblem, heads: int | None = None) -> Array:
    """A mask is its copies for every head. The control copies it for the first head only."""
    written = moves.one_mask(problem).mask
    assert written is not None
    copies = np.zeros_like(written)
    copies[:heads] = written[:heads]
    return untrue(problem, problem.but(mask=copies))


@exactly(OF_HEADS, batch_first=False)
def masks_of_heads_come_batch_by_batch(problem: LayerProblem, batch_first: bool = True) -> Array:
    """Element b has masks b H to (b + 1) H. The control reads every B-th from b on."""
    y, found = definition.layer(problem), []
    assert problem.mask is not None
    for b in range(problem.B):
        H = problem.H
        own = slice(b * H, (b + 1) * H) if batch_first else slice(b, None, problem.B)
        alone = moves.of_batch(problem, b).but(mask=problem.mask[own])
        found.append(definition.layer(alone) - y[b : b + 1])
    return flat(found)


@exactly(("mask", "mask of heads", "mask and padding"), forbidden=1.0)
def truth_values_are_minus_infinity(problem: LayerProblem, forbidden: float = -np.inf) -> Array:
    """True is -inf and False is 0, added to the scores. The control adds 1 for True."""
    assert problem.mask is not None
    return untrue(problem, problem.but(mask=np.where(problem.mask, forbidden, 0.0)))


@exactly(("none",), visible=2)
def the_only_visible_key_has_all_the_weight(problem: LayerProblem, visible: int = 1) -> Array:
    """With one visible key the output does not depend on its score. The control sees two."""
    seen = (np.arange(problem.M) - np.arange(problem.N)[:, None]) % problem.M < visible
    one = problem.but(mask=np.logical_not(seen))
    return untrue(one, moves.asking_nothing(one))


@exactly(("causal", "causal and padding"), diagonal=2)
def the_future_is_a_mask(problem: LayerProblem, diagonal: int = 1) -> Array:
    """Causality is the mask that forbids j > i. The control lets a query see the next key."""
    future = np.triu(np.ones((problem.N, problem.M), dtype=bool), diagonal)
    return untrue(problem, problem.but(causal=False, mask=future))


@exactly(("padding", "mask and padding", "bias and padding"), everywhere=True)
def padding_gets_no_gradient(problem: LayerProblem, everywhere: bool = False) -> Array:
    """dkey_j = 0 and dvalue_j = 0 where j is padding. The control looks at all keys."""
    found = definition.gradients(problem).inputs
    assert problem.padding is not None
    hidden = problem.padding | everywhere
    return flat([found["key"][hidden], found["value"][hidden]])


@exactly((*IDLE, "idle by bias"), everyone=True)
def idle_queries_return_the_output_bias(problem: LayerProblem, everyone: bool = False) -> Array:
    """y_i = b_o if every key is forbidden to i. The control looks at all queries."""
    idle = moves.idle(problem) | everyone
    return (definition.layer(problem) - problem.parameters.b_o)[idle]


@exactly(IDLE, everyone=True)
def idle_queries_have_no_weights(problem: LayerProblem, everyone: bool = False) -> Array:
    """a_h,ij = 0 for all j and h, and y_i = b_o, if i is idle. The control: for all queries."""
    idle = moves.idle(problem) | everyone
    b = problem.parameters.named()["b_o"]
    a = definition.weights(problem.but(asks="heads")).swapaxes(1, 2)
    return flat([a[idle], (definition.layer(problem) - b)[idle]])
