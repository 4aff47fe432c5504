"""The kernels in Triton with one mistake each, written in Triton, and the clause that refuses each.

A mistake is a piece of the text of `implementations.*_triton` and what stands there instead. Those
that need a GPU to happen are written as what a GPU makes of them: a product in TF32 has factors of
11 bits, and of sums that are added to without atomics the last one stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import implementations

FOLDER = Path(implementations.__file__).parent
PARTS = "tiles_triton", "kernels_triton", "gradients_triton", "launching_triton", "fused_triton"


@dataclass(frozen=True)
class Wrong:
    """A mistake in one of the `PARTS`.

    right, wrong: what stands there, once, and what the mistake writes. clause: that refuses it.
    """

    part: str
    right: str
    wrong: str
    clause: str


WRONG: Mapping[str, Wrong] = {
    "sees_keys_behind_the_last": Wrong(
        "tiles_triton", "seen = (j < M) & (i < N)", "seen = (i < N) & (j < M + 16)", "A1"
    ),
    "computes_in_tf32": Wrong(
        "tiles_triton",
        "    return tl.dot(a, b, total,",
        "    if a.dtype == tl.float32:\n"
        "        a = (a.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)\n"
        "        b = (b.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)\n"
        "    return tl.dot(a, b, total,",
        "A1",
    ),
    "keeps_the_output_as_the_maximum_rises": Wrong(
        "kernels_triton", "total *= fade[:, None]", "total *= 1.0", "A1"
    ),
    "keeps_the_mass_as_the_maximum_rises": Wrong(
        "kernels_triton", "mass = mass * fade + tl.sum(e, 1)", "mass = mass + tl.sum(e, 1)", "A1"
    ),
    "subtracts_the_maximum_of_an_idle_query": Wrong(
        "kernels_triton", 'tl.where(top == float("-inf"), 0.0, top)', "top", "M9"
    ),
    "takes_bits_for_nats": Wrong(
        "kernels_triton", "e = tl.exp2(s - shift[:, None])", "e = tl.exp(s - shift[:, None])", "A1"
    ),
    "returns_the_log_sum_exp_in_bits": Wrong(
        "fused_triton", "return o, log(2) * bits if asked.lse else bits", "return o, bits", "A7"
    ),
    "forgets_the_mass_of_a_sink": Wrong(
        "kernels_triton", "mass += there.to(SUM)", "mass += 0.0", "Z2"
    ),
    "hides_the_key_at_the_bound": Wrong(
        "tiles_triton", "seen = seen & (ahead <= right)", "seen = seen & (ahead < right)", "C2"
    ),
    "reads_a_mask_as_if_it_were_whole": Wrong(
        "tiles_triton", "mask + i * mask_n + j * mask_m", "mask + i * M + j", "M4"
    ),
    "adds_biases_in_bits": Wrong("tiles_triton", "                b *= BITS\n", "", "M16"),
    "adds_to_what_the_last_product_left": Wrong(
        "gradients_triton",
        "da = product(do, tl.trans(value), tl.zeros([BQ, BK], SUM), WIDE)",
        "da = product(do, tl.trans(value), qk, WIDE)",
        "A2",
    ),
    "forgets_the_row_term": Wrong(
        "gradients_triton",
        "                ds = a * (da - mean)\n                if part != 1:\n"
        '                    ds = tl.where(s == float("-inf"), 0.0, ds)\n'
        "                if DMASK",
        "                ds = a * da\n                if part != 1:\n"
        '                    ds = tl.where(s == float("-inf"), 0.0, ds)\n'
        "                if DMASK",
        "A2",
    ),
    "adds_heads_without_atomics": Wrong(
        "gradients_triton",
        "        h = g * R + r_h\n",
        "        h = g * R + r_h\n"
        "        of_keys = tl.zeros([BK, WD], SUM)\n"
        "        of_values = tl.zeros([BK, WE], SUM)\n",
        "A3",
    ),
    "forgets_the_scale_of_the_keys": Wrong("gradients_triton", "of_keys * sigma", "of_keys", "A3"),
    "forgets_the_slope_of_the_cap": Wrong(
        "gradients_triton",
        "                    if CAP:\n                        ds *= bent\n",
        "",
        "U8",
    ),
}


def written(name: str, folder: Path) -> str:
    """The kernels with a mistake as a package in a folder; the name of the function there."""
    mistake, package = WRONG[name], folder / name
    package.mkdir()
    (package / "__init__.py").touch()
    for part in PARTS:
        text = (FOLDER / f"{part}.py").read_text(encoding="utf-8")
        if part == mistake.part:
            assert text.count(mistake.right) == 1, (name, text.count(mistake.right))
            text = text.replace(mistake.right, mistake.wrong)
        for other in PARTS:
            text = text.replace(f"from implementations.{other} ", f"from {name}.{other} ")
        (package / f"{part}.py").write_text(text, encoding="utf-8")
    return f"{name}.fused_triton:attend"
