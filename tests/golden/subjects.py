"""What golden certificates are made of: mistakes, right programs, torch's own, others' of a ledger.

Each is judged by the quick profile, seed 0, in one format.
"""

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from spec.certification.ledgers import entries
from spec.kinds import KINDS
from spec.stream import seed_of

ROOT = Path(__file__).parents[2]
LEDGER = ROOT / "implementations" / "ledger"
ONE = {"dtypes": ("float32",)}
BESIDE = ("target", "profile", "budget", "isolate", "jobs")  # what settles no verdict
FEW = {"attention": 64}  # one in so many belongs to the fixed part, of others one in eight
OTHERS = 8
LONG = (  # to judge each of these takes three times as long as most, by the same clauses
    "attention/clips_scores_at_fifty",
    "attention/ignores_the_positions_of_queries",
    "attention/lets_idle_queries_attend",
    "attention/starts_the_maximum_at_zero",
    "attention/takes_the_lengths_of_queries_for_keys",
    "dropout/draws_again_backward",
    "dropout/drops_keys_in_blocks",
    "dropout/forgets_the_mask_backward",
    "right/einsum:attend",
    "right/fused:attend",
    "right/fused_torch:attend",
    "right/multihead_torch:MultiHead",
)
ALWAYS = (
    *("torch/function", "torch/layer", "right/dense:attend"),
    *("right/cached:Growing", "right/paged:Paged", "right/merging:merge"),
    *("right/dropout_torch:attend", "right/rotary_torch:rotate"),
    "right/feed_forward_torch:feed_forward",
)

FUNCTIONS = "loops heads dense einsum online fused einsum_torch fused_torch split"
PACKED = "kvcache kvcache_torch packed packed_torch"
RIGHT = {  # kind, "" if it is detected -> programs in `implementations`
    "": (
        *(f"{module}:attend" for module in f"{FUNCTIONS} {PACKED}".split()),
        *("multihead:MultiHead", "multihead_torch:MultiHead"),
        *("cached:Growing", "cached_torch:Static", "cached_torch:Joined"),
        *("paged:Paged", "rolling:Rolling", "merging:merge", "merging_torch:merge"),
    ),
    "dropout": ("dropout:attend", "dropout_torch:attend"),
    "feed-forward": ("feed_forward:feed_forward", "feed_forward_torch:feed_forward"),
    "sinusoidal": ("sinusoidal:encode", "sinusoidal_torch:PositionalEncoding"),
    "rotary": ("rotary:rotate", "rotary_torch:rotate"),
    "alibi": ("alibi:bias", "alibi_torch:bias"),
}
TORCH = {
    "function": "torch.nn.functional:scaled_dot_product_attention",
    "layer": "torch.nn:MultiheadAttention",
}
RELEASES = {"function": "2.13"}  # whose own answers they are: T10 fails in 2.13, and not in 2.11
LEDGERS = {"torch": "torch", "lucidrains": "x_transformers"}  # some of theirs; what they need
NEVER_ALIKE = ("dropout/draws_from_the_clock",)  # another mask at each time of the day
SLOW = ("flex", "compiled")  # words in the names of those that are not judged here
MOST = 20  # of them


class Golden(NamedTuple):
    """What is judged: its name, the target, and options of `certify`.

    needs: a library without which it cannot be, and how the version of it begins that answers so.
    """

    name: str
    target: Any
    options: Mapping[str, Any]
    needs: str = "numpy"
    release: str = ""

    @property
    def few(self) -> bool:
        """Whether it belongs to the fixed part: by its name alone, so that others may come."""
        kind, _, _ = self.name.partition("/")
        chosen = seed_of(self.name) % FEW.get(kind, OTHERS) == 0 and self.name not in LONG
        return chosen or self.name in ALWAYS

    @property
    def there(self) -> bool:
        """Whether its library is installed, in that version.

        A folder of that name, as of a ledger, is none.
        """
        found = find_spec(self.needs)
        if found is None or found.origin is None:
            return False
        return not self.release or version(self.needs).startswith(self.release)


def every() -> Iterator[Golden]:
    """All of them, group by group."""
    for about, kind in KINDS.items():
        for name, mistake in sorted(kind.mistakes.items()):
            options = {"kind": about, "backend": "numpy", "dtypes": mistake.dtypes[:1]}
            if f"{about}/{name}" not in NEVER_ALIKE:
                yield Golden(f"{about}/{name}", mistake.target, options)
    for about, programs in RIGHT.items():
        for program in programs:
            options = {**ONE, "kind": about} if about else ONE
            needs = "torch" if "_torch:" in program else "numpy"
            yield Golden(f"right/{program}", f"implementations.{program}", options, needs)
    for name, target in TORCH.items():
        yield Golden(f"torch/{name}", target, ONE, "torch", RELEASES.get(name, ""))
    yield from islice(_theirs(), MOST)


def _theirs() -> Iterator[Golden]:
    for ledger, needs in LEDGERS.items():
        for entry in entries(str(LEDGER / f"{ledger}.toml")):
            asked = {n: x for n, x in entry.request.asked.items() if n not in BESIDE} | ONE
            if not any(word in entry.name for word in SLOW):
                yield Golden(f"theirs/{entry.name}", entry.request.target, asked, needs)
