"""Parameters of deployed attention functions that no problem has, and what would test them.

They are named as not tested in a certificate, and in the error where they are required. The names
are those of torch's `flex_attention`, flash-attn, transformers and `torch.nn.functional`.
"""

from collections.abc import Mapping

ADAPTER = "a function of yours that takes {} and makes it from them can be tested"
DROPOUT = "--kind dropout tests it"

OF_BACKWARD = (
    "which a backward pass has: assign it to the function as the attribute `backward`, and test "
    "the function (docs/function.md)"
)
ADVICE: Mapping[str, str] = {
    "key_padding_mask": "bind the other mask with functools.partial to test it",
    "block_mask": ADAPTER.format("attn_mask, is_causal or window_size"),
    "score_mod": ADAPTER.format("attn_mask, alibi_slopes or softcap"),
    **dict.fromkeys(("dropout_p", "dropout", "dropout_rate"), DROPOUT),
    **dict.fromkeys(("q_descale", "k_descale", "v_descale"), "8-bit inputs are not covered"),
    "out": "test a function that makes the array, passes it and returns it",
    "module": "test a function that passes a module of its own",
}
