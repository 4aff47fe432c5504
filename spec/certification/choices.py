"""Whether the options of a request have values that they may have, and go together."""

from collections.abc import Mapping

from spec.backends import Unsuitable
from spec.backends.unknown import unknown
from spec.boundary.choosing import NONE
from spec.certification.offered import OPTIONS
from spec.certification.settings import Request, option_of
from spec.kinds import KINDS

SHARED = (
    "--seed secret needs --isolation process: a target that shares a process with its judge "
    "could read the seed"
)
HERE = "--isolation none tests in one process: leave out --jobs, --isolate and --scheduler"


def conventions() -> Mapping[str, tuple[str, ...]]:
    """Every convention that some kind of target has, with the choices of all kinds."""
    found: dict[str, dict[str, None]] = {}
    for kind in KINDS.values():
        for name, choices in kind.truth().choices.items():
            found.setdefault(name, {}).update(dict.fromkeys(choices))
    return {name: tuple(choices) for name, choices in found.items()}


def checked(request: Request) -> Request:
    """The request itself. Raises Unsuitable if an option has an unknown value."""
    for name, option in OPTIONS.items():
        given = getattr(request, name)
        for word in given if isinstance(given, tuple) else (given,):
            if option.values and word is not None and word not in option.values:
                raise unknown(option.noun, word, option.values)
        if option.least is not None and given < option.least:
            raise Unsuitable(f"--{name} {given}: must be at least {option.least}")
        if option.above is not None and given is not None and given <= option.above:
            raise Unsuitable(f"{option_of(name)} {given:g}: must be more than 0 seconds")
    if request.secret and not request.apart:
        raise Unsuitable(SHARED)
    if request.isolation == NONE and (request.jobs > 1 or request.isolate or request.scheduler):
        raise Unsuitable(HERE)
    return request
