"""The object that a target names, found in a runner: a function or a class."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from spec.backends.elsewhere import settle
from spec.backends.library import Unsuitable
from spec.boundary import importing
from spec.boundary.connection import USUAL, Ending
from spec.boundary.described import TOLD, libraries, named, signature
from spec.boundary.far import ROOT, Far, FarClass, Thing
from spec.boundary.home import Home
from spec.boundary.languages import file_of, usable
from spec.boundary.messages import fields, several, text
from spec.boundary.runners import Zygote
from spec.runner.contests import in_a_form


def of_class(home: Home, number: int, told: Mapping[str, Any]) -> FarClass:
    """A class of a runner as one here."""
    own: dict[str, Any] = {"__module__": text(told["module"]), "__doc__": text(told["line"])}
    own |= {"_home": home, "_number": number, "libraries": libraries(told), "bound": ()}
    for name in ("traits", "bases"):
        own[name] = tuple(text(x) for x in several(told[name], 0))
    if not isinstance(told["parameters"], str):
        own["__signature__"] = signature(told["parameters"])
    return FarClass(named(told["name"]), (), own)


def thing(home: Home, number: int, named: str, kind: str, again: Callable[[], int] | None) -> Any:
    """An object of a runner as one here. named: its type."""
    if kind == "class":
        return of_class(home, number, fields(home.ask("describe", of=number), TOLD))
    return (Far if kind == "callable" else Thing)(home, number, named, again)


def _as_it_is(target: str, folder: str) -> bool:
    """Whether a target is called as it stands in its module, which another program can do too."""
    place, _, name = target.rpartition(":")
    home = os.path.dirname(place) if place.endswith(".py") else folder
    return not file_of(target) and not in_a_form(name, home)


def far(target: str, ending: Ending = USUAL) -> Any:
    """The object that a target names, in runners. Raises Unsuitable; what it raises."""
    usable(target)
    folder = os.getcwd()
    home = Home(Zygote(importing.libraries(target, folder), folder, ending), target, folder)
    home.made = thing
    settle(home)
    try:
        told = fields(home.ask("describe", of=ROOT), TOLD)
    except BaseException:  # a process that goes on needs neither
        home.end()
        home.zygote.end()
        raise
    if told["threads"] == 1:  # else none of it can be copied
        home.zygote.prepare([*libraries(told)[:1], *importing.imported(target, folder)])
    match text(told["kind"]):
        case "class":
            made = of_class(home, ROOT, told)
            made.target, home.root = target, made
            return made
        case "callable":
            found = Far(home, ROOT, text(told["type"]), lambda: ROOT, told)
            found.target = target if ":" in target else f"{target}:{found.__name__}"
            found.path = () if _as_it_is(target, folder) else None
            home.root = found
            return found
    raise Unsuitable(f"{target} is of type {text(told['type'])}, not a function or a class")
