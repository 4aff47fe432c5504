"""Known bugs in the gradients of a layer: which gradient each input and parameter receives."""

import numpy as np

from spec.layer.mistakes import steps
from spec.layer.mistakes.making import wrong
from spec.layer.mistakes.steps import Named
from spec.notation import Array


@wrong("score_gradients", incident="list-of-heads", where="gradients asked for and M > 1")
def differentiates_softmax_by_element_in_a_layer(a: Array, da: Array) -> Array:
    """Multiplies by p (1 - p): uses only the diagonal of the Jacobian of the softmax."""
    return a * (1 - a) * da


@wrong("score_gradients", incident="list-of-heads", where="gradients asked for and N = M and M > 1")
def multiplies_by_the_diagonal_as_a_matrix(a: Array, da: Array) -> Array:
    """Computes the score gradients as the matrix product of da and p (1 - p) if N = M."""
    square = a.shape[-1] == a.shape[-2]
    return np.asarray(da @ (a * (1 - a)) if square else steps.score_gradients(a, da))


@wrong("into_keys", incident="list-of-heads", where="gradients asked for and N = M and M > 1")
def sends_values_to_the_keys_in_gradients(ds: Array, q: Array, v: Array) -> Array:
    """Computes the gradient of the keys as ds^T v instead of ds^T q if N = M."""
    return steps.into_keys(ds, v if v.shape == q.shape else q, v)


@wrong("of_input", incident="BUG-21", where="gradients asked for and M > 1")
def forgets_the_way_through_the_keys(dy: Array, W: Array, place: str) -> Array:
    """Returns a zero gradient for the key input: self-attention loses one of its three paths."""
    return steps.of_input(dy, W, place) * dy.dtype.type(place != "k")


@wrong("of_input", incident="BUG-21", where="gradients asked for and M > 1")
def forgets_the_way_through_the_queries(dy: Array, W: Array, place: str) -> Array:
    """Returns a zero gradient for the query input, as if the queries were constants."""
    return steps.of_input(dy, W, place) * dy.dtype.type(place != "q")


@wrong("arrive", incident="BUG-21", where="gradients asked for and self-attention and M > 1")
def forgets_a_way_of_self_attention(found: list[Array], inputs: tuple[Array, ...]) -> list[Array]:
    """Returns a zero gradient for the key input if query and key are the same array."""
    if inputs[0] is not inputs[1]:
        return found
    return [found[0], np.zeros_like(found[1]), found[2]]


@wrong("of_input", incident="BUG-25", where="gradients asked for and A > 1")
def sends_gradients_through_the_transpose(dy: Array, W: Array, place: str) -> Array:
    """Computes the gradient of an input as dy W^T instead of dy W if W is square."""
    return steps.of_input(dy, W.T if W.shape[0] == W.shape[1] else W, place)


@wrong("into_context", incident="list-of-heads", where="gradients asked for")
def forgets_the_output_projection_in_gradients(dout: Array, W: Array) -> Array:
    """Passes the gradient of the output to the heads without multiplying it by W_o."""
    del W
    return dout


@wrong("of_weight", incident="BUG-21", where="gradients asked for and B > 1")
def averages_weight_gradients_over_the_batch(dy: Array, x: Array) -> Array:
    """Divides the gradients of the weights by the batch size, as if the loss were a mean."""
    return steps.of_weight(dy, x) / dy.dtype.type(len(dy))


@wrong("of_weight", incident="BUG-21", where="gradients asked for and B > 1")
def takes_weight_gradients_from_the_first_batch(dy: Array, x: Array) -> Array:
    """Computes the gradients of the weights from the first batch element only."""
    return steps.of_weight(dy[:1], x[:1])


@wrong("of_weight", incident="BUG-25", where="gradients asked for and A > 1")
def transposes_square_weight_gradients(dy: Array, x: Array) -> Array:
    """Returns the gradient of a square weight matrix transposed, as (in, out)."""
    found = steps.of_weight(dy, x)
    return found.T if found.shape[0] == found.shape[1] else found


@wrong("of_bias", incident="BUG-21", where="gradients asked for and biases and B > 1")
def adds_bias_gradients_over_the_first_batch(dy: Array) -> Array:
    """Sums the gradients of the biases over the first batch element only."""
    return np.asarray(dy[0].sum(axis=0))


@wrong("of_bias", incident="BUG-21", where="gradients asked for and biases")
def averages_bias_gradients(dy: Array) -> Array:
    """Averages the gradients of the biases over the positions instead of summing them."""
    return np.asarray(dy.mean(axis=1).sum(axis=0))


@wrong("gather", incident="BUG-21", where="gradients asked for and biases and M > 1")
def gives_the_key_bias_the_gradient_of_the_query_bias(named: Named) -> Named:
    """Returns the gradient of the query bias for the key bias too, whose true gradient is zero."""
    return {**named, "b_k": named["b_q"]} if "b_k" in named else named


@wrong("gather", incident="BUG-21", where="gradients asked for and keys as wide as values")
def swaps_the_gradients_of_keys_and_values(named: Named) -> Named:
    """Swaps the gradients of W_k and W_v if they have the same shape."""
    same = named["W_k"].shape == named["W_v"].shape
    return {**named, "W_k": named["W_v"], "W_v": named["W_k"]} if same else named


@wrong("gather", incident="BUG-21", where="gradients asked for")
def returns_zero_gradients_of_the_output_weights(named: Named) -> Named:
    """Returns a zero gradient for W_o, so training never changes the output projection."""
    return {**named, "W_o": np.zeros_like(named["W_o"])}


@wrong("descend", incident="BUG-21", where="gradients asked for")
def climbs(p: Array, dp: Array, rate: float) -> Array:
    """Adds the gradient to the parameters in a training step instead of subtracting it."""
    return steps.descend(p, dp, -rate)


@wrong("descend", incident="BUG-21", where="gradients asked for")
def steps_twice_as_far(p: Array, dp: Array, rate: float) -> Array:
    """Takes a training step of twice the length, as if the squared loss had no factor 1/2."""
    return steps.descend(p, dp, 2 * rate)
