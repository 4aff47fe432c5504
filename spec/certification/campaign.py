"""Many seeds of some targets: a certificate for each, saved as soon as it is known.

A campaign that was killed resumes: a seed with a certificate in the folder is not tested again. The
folder records the campaign, so that certificates of another specification or with other options are
not mixed with it. Problems that broke a clause before are tested first.

A secret seed is drawn for its certificate, so that no target knows its problems beforehand. It has
a name (`secret-1`), by which a campaign that resumes finds the certificate.
"""

import dataclasses
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spec.backends import Unsuitable
from spec.certification.attended import certified
from spec.certification.choices import checked
from spec.certification.judging.edition import edition
from spec.certification.judging.verdict import INTERRUPTED
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.files import in_lines, written
from spec.certification.ledger.reading import read
from spec.certification.offered import SECRET
from spec.certification.remembered import Remembered, database, replays
from spec.certification.settings import Request
from spec.certification.several import GRAVITY, table

HEAD = ("target", "seeds", "problems", "failures", "clauses that are violated")
ABOUT = "campaign.json"
HOW = ("jobs", "scheduler", "isolate", "call_timeout")  # may change when one is resumed
DRAWN = ("seed", "secret")  # by each certificate
MANY = 100  # seeds, unless somebody says how many
Seed = int | str  # its number; the name of one that is secret


@dataclass
class Tally:
    """The results of a target's certificates. seeds: how many there are.

    problems: the number tested. failures: failing verdicts by clause. code: the worst exit code.
    """

    wanted: int
    seeds: int = 0
    problems: int = 0
    code: int = 0
    failures: dict[str, int] = dataclasses.field(default_factory=dict)

    def add(self, certificate: Certificate) -> None:
        """Add the certificate of one more seed."""
        self.seeds += 1
        self.problems += sum(verdict.examples for verdict in certificate.verdicts)
        self.code = max(self.code, certificate.exit_code, key=GRAVITY.index)
        for verdict in certificate.failures:
            self.failures[verdict.clause] = self.failures.get(verdict.clause, 0) + 1

    def row(self, name: str) -> tuple[str, ...]:
        """The row of the table."""
        failures = sum(self.failures.values())
        clauses = ", ".join(sorted(self.failures))
        return (name, f"{self.seeds}/{self.wanted}", str(self.problems), str(failures), clauses)


def campaign(
    requests: Mapping[str, Request], wanted: Sequence[Seed], folder: Path, where: str | None
) -> int:
    """Test what is not yet tested, with a table before and after; return the worst exit code.

    wanted: the seeds. where: the database of failing problems, if not in the folder. Raises
    Unsuitable if the folder holds another campaign, the database cannot be used, or a target that
    shares a process with its judge is to have a secret seed.
    """
    for request in requests.values():
        _ = [with_seed(request, seed) for seed in wanted]
    places = {name: folder / _written_as(name) for name in requests}
    if len({*places.values()}) < len(requests):
        raise Unsuitable("two targets would have the same folder")
    _check(requests, folder)
    known = database(where or str(folder / ".problems"))
    tallies = {name: Tally(len(wanted)) for name in requests}
    left = [(n, x) for n in requests for x in wanted if not _told(tallies[n], places[n], x)]
    if left and len(left) < len(requests) * len(wanted):
        print(_table(tallies), flush=True)
    try:
        for name in dict.fromkeys(name for name, _ in left):
            try:
                _replay(name, requests[name], known)
                for seed in (seed for other, seed in left if other == name):
                    certificate = _judged(with_seed(requests[name], seed), known)
                    certificate.save(_file(places[name], seed))
                    tallies[name].add(certificate)
            except Unsuitable as reason:  # the others are judged
                print(f"{name}: {reason}", file=sys.stderr, flush=True)
                tallies[name].code = 2
    finally:  # whoever interrupts sees what was done by then
        print(_table(tallies), flush=True)
    return max((tally.code for tally in tallies.values()), key=GRAVITY.index, default=0)


def seeds(text: str | None, requests: Iterable[Request] = ()) -> list[Seed]:
    """The seeds of `0-99,200` or `secret:100`. Raises Unsuitable.

    text: by default they are secret, unless a request is of a target that could know them.
    """
    if text is None:
        text = f"{SECRET}:{MANY}" if all(x.apart for x in requests) else f"0-{MANY - 1}"
    found: dict[Seed, None] = {}
    for part in text.split(","):
        ends = re.fullmatch(rf"(\d+)(?:-(\d+))?|{SECRET}:([1-9]\d*)", part.strip())
        if not ends or int(ends[2] or ends[1] or 0) < int(ends[1] or 0):
            known = f"write A-B, numbers, {SECRET}:N, or several with commas"
            raise Unsuitable(f"--seeds {text}: {known}")
        if ends[3]:
            found |= dict.fromkeys(f"{SECRET}-{n}" for n in range(1, int(ends[3]) + 1))
        else:
            found |= dict.fromkeys(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return [*found]


def with_seed(request: Request, seed: Seed) -> Request:
    """The request of one certificate. Raises Unsuitable: the target could know a secret seed."""
    if isinstance(seed, int):
        return replace(request, seed=seed)
    return checked(replace(request, secret=True))


def _judged(request: Request, known: Remembered) -> Certificate:
    """The certificate of one seed; failing problems are remembered at once.

    Raises KeyboardInterrupt if the run was interrupted.
    """
    certificate = certified(request, sys.stderr)
    if any(verdict.message == INTERRUPTED for verdict in certificate.verdicts):
        raise KeyboardInterrupt
    for verdict in certificate.verdicts:
        known.keep(request.target, verdict)
    return certificate


def _replay(name: str, request: Request, known: Remembered) -> None:
    """Test the problems again that broke a clause of a target, and print the results."""
    again, stale = replays(known, request)
    if again is not None:
        certificate = certified(again, sys.stderr)
        for line in known.told(request.target, certificate.verdicts):
            print(f"{name}: {line}", flush=True)
    if stale:
        print(f"{name}: {stale} that another specification found are put no more", flush=True)


def _told(tally: Tally, place: Path, seed: Seed) -> bool:
    """Whether a seed has a certificate already, which is then counted."""
    file = _file(place, seed)
    if file.exists():
        tally.add(read(file))
    return file.exists()


def _check(requests: Mapping[str, Request], folder: Path) -> None:
    """Write the campaign into the folder. Raises Unsuitable if it holds another one."""
    file, known = folder / ABOUT, dict[str, Any]()
    if file.exists():
        known = json.loads(file.read_text(encoding="utf-8"))
    told = {name: _asked(request) for name, request in requests.items()}
    targets = {**known.get("targets", {}), **told}
    if known and known["edition"] != edition():
        raise Unsuitable(f"{folder} holds what another version of the specification found")
    for name, fields in told.items():
        if fields != known.get("targets", {}).get(name, fields):
            raise Unsuitable(f"{folder} holds a campaign that asks otherwise for {name}")
    written(file, in_lines({"edition": edition(), "targets": targets}))


def _asked(request: Request) -> Any:
    """The options of a request that can change a verdict, without the seed."""
    fields = {n: x for n, x in request.to_json().items() if n not in (*HOW, *DRAWN)}
    return json.loads(json.dumps(fields))


def _file(place: Path, seed: Seed) -> Path:
    return place / f"{seed}.json"


def _written_as(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)


def _table(tallies: Mapping[str, Tally]) -> str:
    return table([HEAD, *(tally.row(name) for name, tally in tallies.items())])
