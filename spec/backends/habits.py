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


def where_it_fits(advice: str, script: str) -> str:
    """Advice on NumPy, or "" for a target of another library. script: one that calls the target."""
    return "" if any(x in script for x in OTHERS) else advice
