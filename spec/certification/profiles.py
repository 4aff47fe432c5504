"""How thorough a certification is: three profiles."""

from collections.abc import Mapping
from dataclasses import dataclass

from spec.sizes import Reach


@dataclass(frozen=True)
class Profile:
    """How thorough a certification is.

    examples: problems for a clause of effort 1, in one dtype. reduction: seconds for making all
    counterexamples smaller. patience: seconds after which a call of the target counts as hanging,
    `COMPILING` times as many if it compiles. diagnosis: seconds for finding causes; drawn: the
    problems for that in each format. palette, programs: the shapes on which a target that compiles
    is tested, and the programs that they may cost; further: the share of them for each format after
    the first.
    """

    name: Reach
    examples: int
    reduction: float
    patience: float
    diagnosis: float
    drawn: int
    palette: int
    programs: int
    further: float = 1.0


QUICK = Profile(
    name="quick",
    examples=4,
    reduction=3.0,
    patience=30.0,
    diagnosis=60.0,
    drawn=100,
    palette=24,
    programs=80,
    further=0.5,
)
STANDARD = Profile(
    name="standard",
    examples=25,
    reduction=10.0,
    patience=120.0,
    diagnosis=180.0,
    drawn=150,
    palette=48,
    programs=340,
)
DEEP = Profile(
    name="deep",
    examples=250,
    reduction=60.0,
    patience=900.0,
    diagnosis=900.0,
    drawn=600,
    palette=96,
    programs=1200,
)
PROFILES: Mapping[str, Profile] = {x.name: x for x in (QUICK, STANDARD, DEEP)}
