"""Problems that broke a clause, in a database that campaigns share: by target, clause and dtype.

The database is Hypothesis's, in a folder or on a server. An entry has the word that draws the
problem again, and the version of the specification for which it does. An entry that no longer
breaks its clause is reported once, and removed.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from spec.backends import Unsuitable
from spec.backends.library import first_line
from spec.certification.judging.edition import edition
from spec.certification.judging.replaying import BREAKS
from spec.certification.judging.verdict import Verdict
from spec.certification.settings import Request
from spec.certification.target.loading import resolved
from spec.notation import DTYPES

if TYPE_CHECKING:
    from hypothesis.database import ExampleDatabase

MOST = 10  # of one target, clause and dtype
REDIS = "redis://"
YEAR = timedelta(days=365)  # for which a server keeps what nobody asks for


@dataclass(frozen=True)
class Remembered:
    """The database, as words by target, clause and dtype."""

    entries: "ExampleDatabase"

    def keep(self, target: str, verdict: Verdict) -> None:
        """Store the problem that broke a clause, if there is a new one."""
        key = _key(target, verdict.clause, verdict.dtype)
        if verdict.outcome == "violated" and len([*self.entries.fetch(key)]) < MOST:
            for word in verdict.drawn:
                self.entries.save(key, _entry(word))

    def words(self, target: str, number: str, dtype: str) -> tuple[list[str], int]:
        """The known words, and how many of other specifications are removed."""
        key, found, stale = _key(target, number, dtype), [], 0
        for entry in sorted(self.entries.fetch(key)):
            word = _word(entry)
            if word is None:
                self.entries.delete(key, entry)
                stale += 1
            else:
                found.append(word)
        return found, stale

    def told(self, target: str, verdicts: Iterable[Verdict]) -> Iterator[str]:
        """Yield a line for each old problem; those that break nothing are removed."""
        for verdict in verdicts:
            place = f"{verdict.clause} {verdict.dtype}"
            if verdict.outcome == "crashed":
                yield f"{place}: crashed when old problems were put again: {verdict.message}"
            broken = sum(found == BREAKS for found in verdict.drawn.values())
            if broken:
                yield f"{place}: {broken} of {len(verdict.drawn)} old problems still break it"
            for word, found in verdict.drawn.items():
                if found != BREAKS:
                    key = _key(target, verdict.clause, verdict.dtype)
                    self.entries.delete(key, _entry(word))
                    yield f"{place}: {word} {found}"


def database(where: str) -> Remembered:
    """The database in a folder or on a server. Raises Unsuitable."""
    if not where.startswith(REDIS):
        from hypothesis.database import DirectoryBasedExampleDatabase

        return Remembered(DirectoryBasedExampleDatabase(Path(where)))
    try:
        from hypothesis.extra.redis import RedisExampleDatabase
        from redis import Redis
    except ImportError:
        raise Unsuitable(
            f"--database {where}: `redis` is needed, which is not installed (pip install redis)"
        ) from None
    try:
        server = Redis.from_url(where)
        server.ping()
    except Exception as error:
        reason = f"{type(error).__name__}: {first_line(error)}"
        raise Unsuitable(f"--database {where}: no server answers there ({reason})") from None
    return Remembered(RedisExampleDatabase(server, expire_after=YEAR))


def replays(known: Remembered, request: Request) -> tuple[Request | None, int]:
    """The request that tests known problems, if there are any, and how many are removed."""
    found, stale = dict[str, tuple[str, ...]](), 0
    for number in resolved(request.specification):
        for dtype in request.dtypes or DTYPES:
            words, old = known.words(request.target, number, dtype)
            stale += old
            if words:
                found[f"{number} {dtype}"] = tuple(words)
    if not found:
        return None, stale
    numbers = tuple(dict.fromkeys(item.split()[0] for item in found))
    dtypes = tuple(d for d in DTYPES if any(item.endswith(f" {d}") for item in found))
    return replace(request, clauses=numbers, dtypes=dtypes, replays=found), stale


def _key(target: str, number: str, dtype: str) -> bytes:
    return f"attention-spec {target} {number} {dtype}".encode()


def _entry(word: str) -> bytes:
    return json.dumps({"specification": edition(), "problem": word}).encode()


def _word(entry: bytes) -> str | None:
    """The word in an entry of this specification; None for another one."""
    try:
        written = json.loads(entry)
        return str(written["problem"]) if written["specification"] == edition() else None
    except (ValueError, KeyError, TypeError):
        return None
