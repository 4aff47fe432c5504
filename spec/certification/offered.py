"""The options of a certification in one table: what every door says of each, and checks.

The doors are the command line, pytest, `certify` in Python, and [tool.attention-spec] of a
pyproject.toml. Shells complete by this table, and editors by schemas that are made of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spec.abilities import never
from spec.backends import NAMES
from spec.backends.compiling import WAYS
from spec.boundary.choosing import FORK, NONE, PROCESS
from spec.certification.profiles import PROFILES
from spec.kinds import KINDS
from spec.notation import DTYPES
from spec.promises import PROMISES

# The groups of a help.
HOW = "what the target is, and how it is called"
TESTED = "what is tested"
ACCEPTED = "what is accepted"
RUN = "how it runs"
STOPS = "when it stops"

COMPILING = 4.0  # times the patience for a call that may compile: that alone can take half a minute
ISOLATIONS = (PROCESS, FORK, NONE)
LAYOUT, DEVICE, PROFILE, SEED = "bhld", "cpu", "standard", 0  # the defaults
DEPEND = "problems depend on it (default: {})"
SECRET = "secret"  # the seed that nobody knows beforehand
_TARGETS = [kind.targets for kind in KINDS.values()]
# Of arrays, that some kind is taken in; the first that is met is what all are taken in.
LAYOUTS = tuple(dict.fromkeys(layout for targets in _TARGETS for layout in targets.layouts))
DIALECTS = tuple(dict.fromkeys(word for targets in _TARGETS for word in targets.spellings))
_DETECTED = [name for name, kind in KINDS.items() if kind.targets.told is not never]
_SIZES = ", ".join(f"{profile.name}: {profile.examples}" for profile in PROFILES.values())


@dataclass(frozen=True)
class Option:
    """An option of a certification.

    group: in a help. says: the help. value: what stands there for the value.
    noun, values: what an error calls a value, and all that are known, where there are only these.
    least: the smallest number. above: where a number has to be larger, than which.
    repeated: whether a command that repeats a certificate has it, as verdicts may depend on it.
    """

    group: str
    says: str
    value: str | None = None
    noun: str = ""
    values: tuple[str, ...] = ()
    least: int | None = None
    above: int | None = None
    repeated: bool = True


OPTIONS: Mapping[str, Option] = {  # by the field of a request
    "kind": Option(
        HOW,
        f"kind of target (default: detected among {', '.join(_DETECTED)})",
        "KIND",
        "kind of subject",
        tuple(KINDS),
    ),
    "backend": Option(
        HOW,
        f"{', '.join(NAMES)} (default: inferred from the target's imports)",
        "BACKEND",
        "backend",
        NAMES,
    ),
    "layout": Option(
        HOW,
        f"order of the axes (default: {LAYOUT}: batch, heads, length, head size)",
        "LAYOUT",
        "layout",
        LAYOUTS,
    ),
    "api": Option(
        HOW,
        "use this library's argument names and conventions (spec/options.md)",
        "LIBRARY",
        "API dialect",
        DIALECTS,
    ),
    "lengths": Option(HOW, "use only sequence lengths that are multiples of N", "N", least=1),
    "widths": Option(HOW, "use only head sizes that are multiples of N", "N", least=1),
    "description": Option(
        HOW,
        "how a target with other names is built and called: a file, or a name from `targets`",
        "FILE",
    ),
    "device": Option(HOW, f"cpu or cuda (default: {DEVICE})"),
    "compiled": Option(
        HOW,
        "test the compiled function: jax.jit (static, traced), torch.compile (static, dynamic)",
        "WAY",
        "way to compile",
        tuple(WAYS),
    ),
    "dtypes": Option(
        TESTED, "formats to test (default: all that the backend has)", "D[,D]", "dtype", DTYPES
    ),
    "profile": Option(
        TESTED,
        f"problems for each clause: {_SIZES} (default: {PROFILE})",
        "PROFILE",
        "profile",
        tuple(PROFILES),
    ),
    "seed": Option(TESTED, DEPEND.format(SEED), f"N or {SECRET}"),
    "clauses": Option(
        TESTED,
        "clauses or sections to test; the definition is always tested (default: all)",
        "NUMBER[,SECTION]",
    ),
    "where": Option(
        TESTED, 'test only problems that meet a condition: "not causal or N >= M"', "CONDITION"
    ),
    "conventions": Option(
        ACCEPTED, "choice that mathematics leaves open, such as causal=bottom-right", "NAME=VALUE"
    ),
    "deviations": Option(
        ACCEPTED,
        "accept that a clause fails, and say why; not possible for the definition",
        "CLAUSE=REASON",
    ),
    "promises": Option(
        ACCEPTED,
        f"equal bits that are required, not only tried: {', '.join(PROMISES)}",
        "WORD[,WORD]",
        "promise",
        tuple(PROMISES),
    ),
    "jobs": Option(RUN, "clauses to test in parallel, at least", "N", least=1, repeated=False),
    "scheduler": Option(RUN, "test on the workers of a Dask scheduler", "ADDRESS", repeated=False),
    "call_timeout": Option(
        RUN,
        f"a longer call counts as hung ({COMPILING:g} times as long if it may compile)",
        "SECONDS",
        above=0,
    ),
    "diagnosis_timeout": Option(
        RUN, "time limit for finding the causes of failures", "SECONDS", above=0
    ),
    "isolation": Option(
        RUN,
        "process (usual): the target shares no process with its judge; fork: it does; "
        "none: all is one process, for debuggers",
        "HOW",
        "isolation",
        ISOLATIONS,
    ),
    "isolate": Option(RUN, "continue after any number of crashes"),
    "budget": Option(
        STOPS,
        "stop after this time, and report clauses not reached; clauses run in random order",
        "SECONDS",
    ),
    "fail_fast": Option(STOPS, "stop at the first required clause that fails"),
}


def in_group(group: str) -> Iterator[str]:
    """The fields of the options of a group, in the order of a help."""
    return (name for name, option in OPTIONS.items() if option.group == group)
