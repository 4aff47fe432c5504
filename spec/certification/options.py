"""What a person asks for in words: the options of a request, on a command line and under pytest."""

import argparse
from typing import Any, NoReturn

from spec.backends import NAMES, Unsuitable
from spec.backends.compiling import WAYS
from spec.certification.settings import LAYOUTS, MULTIPLES, PROFILES, Request
from spec.certification.target.declared import declared, pairs
from spec.kind import never
from spec.kinds import KINDS

LISTED: dict[str, Any] = {"action": "append", "default": []}  # given once or several times


class Parser(argparse.ArgumentParser):
    """Takes options by their whole names: beside those of pytest, no other would be safe."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.allow_abbrev = False

    def error(self, message: str) -> NoReturn:
        """Raises Unsuitable: what is no good is told in one line, as all that is."""
        raise Unsuitable(f"{message} (see {self.prog} --help)")


def add_options(parser: argparse.ArgumentParser) -> None:
    """What settles the verdicts; an option that is not given is not in what was asked."""
    add = parser.add_argument
    look = [about for about, kind in KINDS.items() if kind.told is not never]
    add("--about", choices=tuple(KINDS), help=f"default: {', '.join(look)}, by the look of it")
    add("--backend", choices=NAMES, help="default: told from the imports of the target's module")
    add("--layout", choices=LAYOUTS, help=f"order of the axes (default: {Request.layout})")
    words = "in whose words options are asked, and whose conventions hold (spec/options.md)"
    add("--spelling", metavar="LIBRARY", help=words)
    for axes in MULTIPLES:
        add(f"--{axes}", type=int, metavar="N", help=f"only {axes} that are multiples of N")
    add("--description", metavar="FILE", help="how a target is built, named and called")
    add("--device", help=f"cpu or cuda (default: {Request.device})")
    run = "as jax.jit (static, traced) or torch.compile (static, dynamic) runs it"
    add("--compiled", choices=WAYS, help=run)
    dtypes = "default: all that the backend has"
    add("--dtype", dest="dtypes", metavar="D[,D]", help=dtypes, **LISTED)
    add("--profile", choices=tuple(PROFILES), help=f"default: {Request.profile}")
    add("--seed", type=int, help=f"default: {Request.seed}")
    chosen = "clauses or sections; the definition is run in any case (default: all)"
    add("--clause", dest="clauses", metavar="NUMBER[,SECTION]", help=chosen, **LISTED)
    add("--convention", dest="conventions", metavar="NAME=VALUE", **LISTED)
    add("--where", metavar="SENTENCE", help="the problems that it is judged on (default: all)")
    known = "a clause that the target is known to break, and why; never the definition's"
    add("--deviation", metavar="CLAUSE=REASON", help=known, **LISTED)
    add("--deviations", metavar="FILE", help="the same as a table of TOML or JSON")


def asked(options: argparse.Namespace) -> dict[str, Any]:
    """Of the fields of a request but its target, those that were given. Raises Unsuitable."""
    given = vars(options) | {
        "target": None,
        "conventions": pairs("--convention", options.conventions, "NAME=VALUE"),
        "deviations": declared(options.deviation, options.deviations),
        "dtypes": ",".join(options.dtypes),
        "clauses": ",".join(options.clauses),
    }
    fields = Request.__dataclass_fields__
    return {name: x for name, x in given.items() if name in fields and x not in (None, "", {})}
