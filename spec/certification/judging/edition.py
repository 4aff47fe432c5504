"""Hashes of the specification and of the target, for the reader of a certificate."""

import hashlib
import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING

from spec.boundary import languages
from spec.boundary.runners import isolated
from spec.certification.settings import Request
from spec.certification.target.loading import Target, origin_of
from spec.certification.target.versions import installed

if TYPE_CHECKING:
    from _typeshed.importlib import MetaPathFinderProtocol

ROOT = Path(__file__).resolve().parents[2]
SHARED = "fork: the target shares processes with its judge"
ISOLATION = "isolation"  # among the versions of a certificate, as are
OURS, THEIRS = "specification", "target"  # the hashes
COMMITMENT, NONCE = "commitment", "nonce"  # of a secret seed
BITS = 63  # of it


@cache
def edition() -> str:
    """The first digits of the hash of the specification."""
    return whole_edition()[:16]


def whole_edition() -> str:
    """The hash of all source files of the specification."""
    told = hashlib.sha256()
    for path in sorted(ROOT.rglob("*.py")):
        told.update(f"{path.relative_to(ROOT).as_posix()} {path.stat().st_size}\n".encode())
        told.update(path.read_bytes())
    return told.hexdigest()


def identified(request: Request) -> Mapping[str, str]:
    """The hashes, and how the target of a request is kept apart from its judge."""
    return {**hashes(request.target), ISOLATION: isolated() if request.apart else SHARED}


def sealed(request: Request) -> tuple[Request, Mapping[str, str]]:
    """The request with its seed, and what identifies the run; the target is not loaded yet.

    A secret seed is drawn once the target is hashed. Its commitment is the SHA-256 of the text
    SEED:NONCE, both as they are printed: it tells nothing of the seed, and fits no other one.
    """
    known = identified(request)
    if not request.secret:
        return request, known
    request = replace(request, seed=secrets.randbits(BITS), nonce=secrets.token_hex(16))
    text = f"{request.seed}:{request.nonce}"
    told = {COMMITMENT: hashlib.sha256(text.encode()).hexdigest(), NONCE: request.nonce}
    return request, {**known, **told}


def hashes(target: Target) -> Mapping[str, str]:
    """The hashes of the specification and of the target's file, with its distribution.

    They are computed before the target is loaded, as it could change both.
    """
    place, file = origin_of(target).rpartition(":")[0], file_of(target)
    hashed = "of no file"
    with suppress(OSError):
        if file is not None and file.is_file():  # who reads from a pipe waits
            hashed = f"sha256 {hashlib.sha256(file.read_bytes()).hexdigest()}"
    known = installed(place.partition(".")[0], file) if file else ()
    return {OURS: edition(), THEIRS: " ".join([*known, hashed])}


def file_of(target: Target) -> Path | None:
    """The file of a target; None if there is none."""
    origin = origin_of(target)
    place = origin.rpartition(":")[0]
    return languages.file_of(origin) or (Path(place) if place.endswith(".py") else _file(place))


def _file(place: str) -> Path | None:
    """The file of a module, found without an import; None if there is none."""
    loaded = getattr(sys.modules.get(place), "__file__", None)
    here = [] if {os.getcwd(), ""} & {*sys.path} else [os.getcwd()]
    folders, origin, name = [*here, *sys.path], loaded, ""
    for part in place.split(".") if place and not loaded else ():
        name = f"{name}.{part}".removeprefix(".")
        specs = (_found(finder, name, folders) for finder in sys.meta_path)
        found = next(filter(None, specs), None)
        if found is None:
            return None
        folders, origin = [*(found.submodule_search_locations or ())], found.origin
    return Path(origin) if origin else None


def _found(finder: "MetaPathFinderProtocol", name: str, folders: list[str]) -> ModuleSpec | None:
    """The module in some folders; finders of namespace packages may know its last name only."""
    try:
        return finder.find_spec(name, folders)
    except KeyError:  # such packages are looked up among what is imported
        return finder.find_spec(name.rpartition(".")[2], folders)
