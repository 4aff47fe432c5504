"""The log-sum-exp is wrong, which shows when its state meets the next one."""

import numpy as np

from spec.merging.mistakes import steps
from spec.merging.mistakes.making import wrong
from spec.merging.mistakes.steps import Sums
from spec.notation import Array

SENTINEL = -5e4


@wrong("measure", incident="I18", where="two live states or an empty first state beside a live one")
def returns_the_first(sums: Sums) -> Array:
    """Returns the log-sum-exp that came first, and merges the outputs alone."""
    return sums.l_1


@wrong("measure", incident="I18", where="two live states")
def returns_the_larger(sums: Sums) -> Array:
    """Returns the maximum, which is near the logarithm of the sum."""
    return np.maximum(sums.l_1, sums.l_2)


@wrong("measure", incident="plausible", where="a live state")
def adds_the_log_sum_exps(sums: Sums) -> Array:
    """Adds logarithms where the sums are to be added."""
    return sums.l_1 + sums.l_2


@wrong("measure", incident="I18", where="a live state")
def forgets_the_maximum_in_the_sum(sums: Sums) -> Array:
    """Returns the logarithm of the sum of exp(lse - max), and does not add the maximum back."""
    return np.log(sums.total)


@wrong("measure", incident="I18", where="a live state")
def measures_the_mean(sums: Sums) -> Array:
    """Divides by the number of parts before it takes the logarithm."""
    return steps.measure(sums) - np.log(2)


@wrong("measure", incident="I18", where="two live states")
def measures_in_base_two(sums: Sums) -> Array:
    """Adds the log2 of the sum to a maximum in natural units."""
    return sums.top + np.log2(sums.total)


@wrong("measure", incident="plausible", where="a live state")
def rounds_the_log_sum_exp_to_bfloat16(sums: Sums) -> Array:
    """Stores the log-sum-exp in 16 bits, as the output is."""
    lse = steps.measure(sums).astype(np.float32)
    kept = (lse.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.where(np.isinf(lse), lse, kept)


@wrong(
    "measure",
    incident="I18",
    citation="flashinfer-ai/flashinfer#4452",
    where="two empty states or log-sum-exps below -30000",
)
def keeps_a_number_for_nothing(sums: Sums) -> Array:
    """Starts the maximum at -50000 instead of -inf, which stays where there is no key."""
    return np.maximum(steps.measure(sums), SENTINEL)


@wrong(
    "measure",
    incident="I18",
    citation="vllm-project/vllm#15492",
    convention=("lse idle", "+inf"),
    where="two empty states",
)
def returns_infinity_for_nothing(sums: Sums) -> Array:
    """Returns +inf for the log-sum-exp of no keys, whose weights exp(s - lse) are then zero."""
    lse = steps.measure(sums)
    return np.where(np.isneginf(lse), np.inf, lse)


@wrong(
    "measure",
    incident="I18",
    citation="sgl-project/sgl-kernel-xpu#487",
    where="an empty second state beside a live one",
)
def overwrites_by_an_idle_split(sums: Sums) -> Array:
    """Has a split without keys write its log-sum-exp over that of the others."""
    return np.where(np.isneginf(sums.l_2), -np.inf, steps.measure(sums))
