"""Habits of array libraries that make correct formulas wrong, and what to write instead."""

OTHERS = ("import torch", "import jax")  # in a script for a target that has other arrays
WIDER = (
    "A NumPy scalar such as np.sqrt(8) is float64, and an array times it becomes float64: use "
    "math.sqrt(8)."
)
SUMS = (
    "If it uses np.einsum: this adds the products of float16 arrays in float16, for some orders of "
    "their axes. Use @, or compute in float32."
)


def of_wider_results(script: str) -> str:
    """Advice where results are float64 and inputs are not. script: one that calls the target."""
    return "" if any(x in script for x in OTHERS) else WIDER


def of_long_sums(script: str) -> str:
    """Advice where float16 alone is wrong, from a size on. script: one that calls the target."""
    return "" if any(x in script for x in OTHERS) else SUMS
