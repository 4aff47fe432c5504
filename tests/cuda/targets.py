"""What is judged on a GPU."""

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import NamedTuple

WIDE, SINGLE, HALVES = ("float64",), ("float32",), ("float16", "bfloat16")
ALL = WIDE + SINGLE + HALVES
ALIGNED = "not views"  # what begins elsewhere is misread, and may end the device
PLAIN = f"{ALIGNED} and no nonpositive scale"  # of which NaN comes


class Judged(NamedTuple):
    """A target, in which formats, on which problems, and how it is compiled, if it is."""

    target: str
    dtypes: tuple[str, ...]
    where: str = ""
    compiled: str | None = None

    def words(self) -> tuple[str, ...]:
        """What a command line says of it, besides its name and formats."""
        said = {"--where": self.where, "--compiled": self.compiled}
        return tuple(word for name, x in said.items() if x for word in (name, x))


TARGETS = {
    "default": Judged("torch.nn.functional:scaled_dot_product_attention", ALL),
    "default-aligned": Judged(
        "torch.nn.functional:scaled_dot_product_attention", HALVES, where=ALIGNED
    ),
    "math": Judged("oracles.sdpa:math", ALL),
    "flash-aligned": Judged("oracles.sdpa:flash", HALVES, where=PLAIN),
    "efficient-aligned": Judged("oracles.sdpa:efficient", SINGLE + HALVES, where=ALIGNED),
    "cudnn-aligned": Judged("oracles.sdpa:cudnn", HALVES, where=PLAIN),
    "triton": Judged("implementations.fused_triton:attend", SINGLE + HALVES),
    "autograd": Judged("oracles.autograd:attend", ALL),
    "einsum": Judged("implementations.einsum_torch:attend", ALL),
    "fused": Judged("implementations.fused_torch:attend", ALL),
    "packed": Judged("implementations.packed_torch:attend", SINGLE + HALVES),
    "cached": Judged("implementations.cached_torch:Static", SINGLE + HALVES),
    "merging": Judged("implementations.merging_torch:merge", SINGLE + HALVES),
    "multihead": Judged("implementations.multihead_torch:MultiHead", ALL),
    "mha": Judged("torch.nn:MultiheadAttention", SINGLE + HALVES),
    "einsum-compiled": Judged("implementations.einsum_torch:attend", SINGLE, compiled="dynamic"),
    "flex": Judged("implementations.adapters.flex_attention:attend", HALVES, compiled="dynamic"),
}


def parser(program: str, about: str | None, names: Iterable[str]) -> ArgumentParser:
    """What a program is told that judges them. names: those that it judges by itself."""
    asked = ArgumentParser(prog=program, description=about)
    asked.add_argument("--jobs", type=int, default=4, help="that run at a time")
    asked.add_argument("--seconds", type=float, default=3600, help="for all of them")
    asked.add_argument("--only", nargs="+", choices=TARGETS, default=[*names])
    asked.add_argument("--device", default="cuda", help="cpu, to try this program without a GPU")
    return asked
