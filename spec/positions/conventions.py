"""Which columns are paired is a convention.

A program that was plugged in can be asked anew under another choice; a record of plain
functions of a problem says itself what it follows.
"""

from collections.abc import Callable, Mapping
from typing import Any

from spec.backends import Unsuitable
from spec.backends.calling import anew
from spec.positions.rotary.notation import Rotation
from spec.positions.sinusoidal.notation import Encoding

Paired = Encoding | Rotation


def paired(record: Paired, declared: Mapping[str, str]) -> Paired:
    """The record, its columns being paired as declared.

    Raises Unsuitable for a record that was written by hand, and is paired in another way.
    """
    pairing = declared.get("pairing", record.chosen["pairing"])
    if pairing == record.chosen["pairing"]:
        return record
    if not _plugged_in(record.call):
        raise Unsuitable(f"--convention pairing={pairing}: {record.name} is a record already")

    def anew_paired(_: str, function: Callable[..., Any]) -> Any:
        return anew(function, pairing=pairing) if _plugged_in(function) else function

    return record.but(conventions={"pairing": pairing}).through(anew_paired)


def _plugged_in(function: Any) -> bool:
    """Whether a function is the method of a program that can be paired anew."""
    return hasattr(getattr(function, "__self__", None), "pairing")
