"""The values that options accept, as data: for errors, schemas, and shells that complete."""

from collections.abc import Mapping

from spec.backends import NAMES, Unsuitable
from spec.backends.compiling import WAYS
from spec.backends.unknown import unknown
from spec.boundary.choosing import NONE
from spec.certification.profiles import PROFILES
from spec.certification.settings import DIALECTS, ISOLATIONS, LAYOUTS, Request
from spec.kinds import KINDS
from spec.notation import DTYPES
from spec.promises import PROMISES

CHOICES: Mapping[str, tuple[str, tuple[str, ...]]] = {  # field -> what errors call it, its values
    "kind": ("kind of subject", tuple(KINDS)),
    "backend": ("backend", NAMES),
    "layout": ("layout", LAYOUTS),
    "api": ("API dialect", DIALECTS),
    "compiled": ("way to compile", tuple(WAYS)),
    "isolation": ("isolation", ISOLATIONS),
    "profile": ("profile", tuple(PROFILES)),
    "dtypes": ("dtype", DTYPES),
    "promises": ("promise", tuple(PROMISES)),
}
AT_LEAST = {"lengths": 1, "widths": 1, "jobs": 1}  # whole numbers
SHARED = (
    "--seed secret needs --isolation process: a target that shares a process with its judge "
    "could read the seed"
)
HERE = "--isolation none tests in one process: leave out --jobs, --isolate and --scheduler"
POSITIVE = ("call_timeout", "diagnosis_timeout")  # seconds


def conventions() -> Mapping[str, tuple[str, ...]]:
    """Every convention that some kind of target has, with the choices of all kinds."""
    found: dict[str, dict[str, None]] = {}
    for kind in KINDS.values():
        for name, choices in kind.truth().choices.items():
            found.setdefault(name, {}).update(dict.fromkeys(choices))
    return {name: tuple(choices) for name, choices in found.items()}


def checked(request: Request) -> Request:
    """The request itself. Raises Unsuitable if an option has an unknown value."""
    for name, (what, choices) in CHOICES.items():
        given = getattr(request, name)
        for word in given if isinstance(given, tuple) else (given,):
            if word is not None and word not in choices:
                raise unknown(what, word, choices)
    for name, least in AT_LEAST.items():
        if (number := getattr(request, name)) < least:
            raise Unsuitable(f"--{name} {number}: must be at least {least}")
    if request.secret and not request.apart:
        raise Unsuitable(SHARED)
    if request.isolation == NONE and (request.jobs > 1 or request.isolate or request.scheduler):
        raise Unsuitable(HERE)
    for name in POSITIVE:
        if (seconds := getattr(request, name)) is not None and seconds <= 0:
            option = name.replace("_", "-")
            raise Unsuitable(f"--{option} {seconds:g}: must be more than 0 seconds")
    return request
