"""Clauses that other people's attention functions are known to break, each with the reason.

This specification found all of them, at the versions named.
"""

from spec.abilities import Deviation, Known

ODD_SCALES = Deviation(
    ("C14",),
    "torch 2.13 on a CPU: the flash kernel adds -inf for the future before it scales, so "
    "that causal attention with a scale of zero or less is NaN (smallest: one query, two keys)",
)
NO_KEYS = Deviation(
    ("T10",),
    "torch 2.13: without keys, zero times the sum of all queries is added to zeros, which is NaN "
    "where that sum overflows (pytorch/pytorch#175063; smallest: one query of width two)",
)

# By origin and device, whatever name the target has; targets that are not listed have none.
KNOWN: Known = {
    ("torch.nn.functional:scaled_dot_product_attention", "cpu"): (ODD_SCALES, NO_KEYS),
    ("oracles.sdpa:flash", "cpu"): (ODD_SCALES, NO_KEYS),
    ("oracles.sdpa:math", "cpu"): (NO_KEYS,),
}
