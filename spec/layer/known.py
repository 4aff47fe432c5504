"""Clauses that other people's layers are known to break, each with its reason."""

from spec.abilities import Deviation, Known

ASKED_FOR_WEIGHTS = Deviation(
    ("L32",),
    "torch 2.13: a query that may attend to nothing is NaN as soon as weights are asked for, its "
    "output and its weights (pytorch/pytorch#160064; smallest: one query, one key, "
    "which is forbidden)",
)
FAST_PATH = Deviation(
    ("L45",),
    "torch 2.13: in evaluation, on the fast path (one text, biases, an even number of heads), a "
    "query that may attend to nothing is NaN (pytorch/pytorch#190486; smallest: two heads, one "
    "token, which is padding)",
)

KNOWN: Known = {("torch.nn:MultiheadAttention", "cpu"): (ASKED_FOR_WEIGHTS, FAST_PATH)}
