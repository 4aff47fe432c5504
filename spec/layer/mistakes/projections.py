"""Known bugs of the projections and heads: which matrix entries apply to which token."""

import numpy as np

from spec.layer.definition import linear, merge
from spec.layer.mistakes.making import wrong
from spec.layer.mistakes.steps import Inputs, Named, Sizes
from spec.notation import Array


@wrong("split", incident="BUG-24", citation="reczoo/FuxiCTR#30", where="H > 1 and M > 1")
def splits_without_transposing(x: Array, H: int) -> Array:
    """Reshapes (B, L, A) to (B, H, L, D) without a transpose, so each head gets a run of tokens."""
    B, L, A = x.shape
    return x.reshape(B, H, L, A // H)


@wrong(
    "merge",
    incident="BUG-24",
    citation="jsbaan/transformer-from-scratch#6",
    where="H > 1 and N > 1",
)
def merges_without_transposing(x: Array) -> Array:
    """Reshapes (B, H, L, D) to (B, L, A) without a transpose, so a row mixes several tokens."""
    B, H, L, D = x.shape
    return x.reshape(B, L, H * D)


@wrong("split", incident="BUG-24", where="H > 1 and D > 1")
def gives_heads_every_hth_column(x: Array, H: int) -> Array:
    """Gives head h the columns h, h + H, ... instead of columns h D to (h + 1) D."""
    B, L, A = x.shape
    return np.moveaxis(x.reshape(B, L, A // H, H), -1, 1)


@wrong("merge", incident="BUG-24", where="H > 1")
def joins_heads_in_reverse(x: Array) -> Array:
    """Concatenates the heads in reverse order, the last head first."""
    return merge(x[:, ::-1])


@wrong("project", incident="BUG-25", citation="rasbt/LLMs-from-scratch#857", where="A > 1")
def projects_with_the_transpose(x: Array, W: Array, b: Array | None) -> Array:
    """Projects an input as x W instead of x W^T if W is square."""
    square = W.shape[0] == W.shape[1]
    return linear(x, W.T if square else W, b)


@wrong("pick", incident="BUG-25", where="keys as wide as queries and M > 1")
def swaps_the_projections_of_queries_and_keys(p: Named) -> Named:
    """Swaps the weights W_q and W_k if they have the same shape."""
    same = p["W_q"].shape == p["W_k"].shape
    return {**p, "W_q": p["W_k"], "W_k": p["W_q"]} if same else p


@wrong(
    "pick",
    incident="BUG-25",
    citation="episodic-transformer-memory-ppo#22",
    where="keys as wide as values",
)
def projects_values_as_keys(p: Named) -> Named:
    """Projects the values with W_k instead of W_v if both have the same shape."""
    return {**p, "W_v": p["W_k"]} if p["W_v"].shape == p["W_k"].shape else p


@wrong("receive", incident="BUG-25", where="three different inputs and keys as wide as values")
def takes_values_from_the_keys(query: Array, key: Array, value: Array, _: Sizes) -> Inputs:
    """Computes the values from the key input if it has the shape of the value input."""
    return query, key, key if key.shape == value.shape else value


@wrong(
    "receive",
    incident="BUG-25",
    where="not self-attention and keys as wide as queries and N = M and M > 1",
)
def takes_keys_from_the_queries(query: Array, key: Array, value: Array, _: Sizes) -> Inputs:
    """Computes the keys from the query input if it has the shape of the key input."""
    return query, query if key.shape == query.shape else key, value


@wrong(
    "receive",
    incident="BUG-25",
    where="keys used as values and keys as wide as queries and N = M and M > 1",
)
def takes_a_memory_for_self_attention(query: Array, key: Array, value: Array, _: Sizes) -> Inputs:
    """Computes the queries from the key input if key is value, as if it were self-attention."""
    if key is not value or query.shape != key.shape:
        return query, key, value
    return key, key, key


@wrong(
    "receive", incident="BUG-24", citation="aipixel/AEMatter#3", where="B = N and N = M and M > 1"
)
def takes_the_batch_for_the_length(query: Array, key: Array, value: Array, s: Sizes) -> Inputs:
    """Reads inputs of shape (batch, length, A) as (length, batch, A) if B = N = M."""
    if not s.B == s.N == s.M:
        return query, key, value
    return query.swapaxes(0, 1), key.swapaxes(0, 1), value.swapaxes(0, 1)


@wrong("scale", incident="BUG-14", where="H > 1 and M > 1")
def scales_by_the_whole_width(sizes: Sizes) -> float:
    """Divides the scores by the square root of the model width A, not of the head size D."""
    return float(1 / np.sqrt(sizes.A))


@wrong("scale", incident="BUG-14", where="D > 1 and M > 1")
def leaves_the_scores_of_a_layer_unscaled(sizes: Sizes) -> float:
    """Does not divide the scores by the square root of the head size D."""
    del sizes
    return 1.0


@wrong("scale", incident="BUG-14", where="D > 1 and M > 1")
def divides_by_the_head_size(sizes: Sizes) -> float:
    """Divides the scores by the head size D instead of its square root."""
    return 1 / sizes.D


@wrong("scale", incident="BUG-14", where="D != H and M > 1")
def scales_by_the_number_of_heads(sizes: Sizes) -> float:
    """Divides the scores by the square root of the number of heads instead of the head size D."""
    return float(1 / np.sqrt(sizes.H))


@wrong("finish", incident="BUG-25", where="biases and H > 1")
def adds_the_output_bias_for_every_head(context: Array, W: Array, b: Array | None, H: int) -> Array:
    """Adds the output bias once for each head, so H times."""
    return linear(context, W, None if b is None else b * context.dtype.type(H))


@wrong("finish", incident="BUG-25", where="biases")
def forgets_the_output_bias(context: Array, W: Array, b: Array | None, H: int) -> Array:
    """Does not add the output bias, which is zero in a new layer."""
    del b, H
    return linear(context, W, None)


@wrong("pick", incident="BUG-25", where="biases")
def forgets_the_value_bias(p: Named) -> Named:
    """Does not add the value bias, which is zero in a new layer."""
    return {name: x for name, x in p.items() if name != "b_v"}


@wrong("pick", incident="BUG-25", where="biases")
def adds_the_key_bias_to_values(p: Named) -> Named:
    """Adds the key bias to the values instead of the value bias."""
    return {**p, "b_v": p["b_k"]} if "b_k" in p else p


@wrong("pick", incident="BUG-25", where="biases and M > 1")
def adds_the_query_bias_twice(p: Named) -> Named:
    """Adds the query bias twice."""
    return {**p, "b_q": 2 * p["b_q"]} if "b_q" in p else p


@wrong("finish", incident="BUG-25", citation="pytorch/text#1371")
def leaves_out_the_output_projection(context: Array, W: Array, b: Array | None, H: int) -> Array:
    """Returns the concatenated heads without the output projection and its bias."""
    del W, b, H
    return context


@wrong("restore", incident="BUG-25")
def loads_weights_in_half_precision(state: Named) -> Named:
    """Rounds all weights and biases to float16 when it loads them."""
    return {name: x.astype(np.float16).astype(x.dtype) for name, x in state.items()}


@wrong("restore", incident="BUG-25", where="biases or not input widths that differ")
def loads_keys_before_queries(state: Named) -> Named:
    """Loads in_proj_weight and in_proj_bias with the query and key parts swapped."""
    found = dict(state)
    for name in ("in_proj_weight", "in_proj_bias"):
        if name in found:
            q, k, v = np.split(found[name], 3)
            found[name] = np.concatenate([k, q, v])
    return found
