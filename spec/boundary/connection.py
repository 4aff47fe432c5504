"""A runner as its judge sees it: questions and answers, and places of arrays in shared memory."""

from __future__ import annotations

import json
import mmap
import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from spec.boundary.counts import Counts
from spec.boundary.messages import Ended, Interfered, parsed
from spec.runner import spaces
from spec.runner.memory import ROOM, aligned
from spec.runner.serve import LONGEST

ALL = 64  # of so many looks at the places that were left lately, one is at all places
IMPORTS = 120.0  # seconds at least for what is no call: a target and its library are imported
MANY = 256  # arrays that a message names; more would not fit into one
CALLS = 4000  # of a runner, on average, before another one takes its place
Form = tuple[str, int, tuple[int, ...], tuple[int, ...] | None, int]  # dtype, count, shape, strides


class Ending(NamedTuple):
    """How a judge takes the end of a runner: by its exit code; by default the judge ends likewise.

    patience: seconds after which a runner that does not answer a call is ended; None: its judge
    waits.
    """

    ended: Callable[[int], NoReturn] = spaces.end_with
    patience: float | None = None


USUAL = Ending()


class Spot(NamedTuple):
    """A place in the block, for an array of some form. id: the number of the array."""

    form: Form
    size: int
    id: int
    at: int


class Connection:
    """A runner as one process sees it: questions and answers, and places in the shared block.

    spare: places of arrays that nobody here refers to any more. They are refilled, so that a target
    is given the same object again, as by a caller who fills a buffer in place; what it remembers by
    the identity of an array is then wrong. Each comes with the bytes that it was left with; late:
    whether others were found there; unseen: those that nobody has looked at since, by their number.
    sweeps: how often somebody looked. refills: whether an array of the library can be. before: the
    last number of an array when the library was chosen, as others are of no use to it. calls, most:
    how many there were, and how many there will be, as nobody knows beforehand. pinned: objects of
    the runner that no other one has. counted: the last counts of what was compiled.
    """

    def __init__(self, talk: socket.socket, block: mmap.mmap, ending: Ending) -> None:
        self.talk, self.block, self.ending = talk, block, ending
        self.numbers = 0
        self.new: list[dict[str, Any]] = []
        self.free: list[int] = []
        self.at, self.live, self.refills, self.before = 0, 0, False, 0
        self.calls, self.most, self.pinned = 0, secrets.randbelow(2 * CALLS) + 1, 0
        self.counted = Counts()
        self.gaps: dict[int, list[int]] = {}
        self.spare: dict[Form, list[tuple[Spot, bytes]]] = {}
        self.unseen: dict[int, tuple[Spot, bytes]] = {}
        self.late, self.sweeps = False, 0

    def __del__(self) -> None:
        self.talk.close()

    def ask(self, do: str, **told: Any) -> Any:
        """The answer to a question. Raises what the target raised; Interfered.

        Thousands of arrays are new where a target has no word for the options of most problems.
        """
        while len(self.new) > MANY or len(self.free) > MANY:
            answer = self._ask("note", {})
            if "no" in answer:
                return answer
        return self._ask(do, told)

    def _ask(self, do: str, told: Mapping[str, Any]) -> Any:
        """The answer to one message, which first makes MANY arrays known, and drops as many."""
        number = secrets.token_hex(8)
        message = {"n": number, "do": do, **told}
        new, self.new = self.new[:MANY], self.new[MANY:]
        free: list[int] = []
        if not self.new:  # nothing is dropped before it is known
            free, self.free = self.free[:MANY], self.free[MANY:]
        message |= {"new": new} if new else {}
        message |= {"free": free} if free else {}
        if (patience := self.ending.patience) is not None:
            patience = patience if do == "call" else max(patience, IMPORTS)
            self.talk.settimeout(patience)
        with suppress(BrokenPipeError, ConnectionResetError):  # it ended; that was told before
            self.talk.send(json.dumps(message).encode())
        try:
            said = self.talk.recv(LONGEST)
        except ConnectionResetError:  # it ended before it read the question
            said = self.talk.recv(LONGEST)
        except TimeoutError:
            raise Ended(f"did not answer for {patience:g} s") from None
        if not said:
            raise Interfered("closed its connection to the judge")
        found = parsed(said, number)
        if "died" in found:
            self.ending.ended(found["died"])
        if "counts" in found:
            self.counted = Counts.read(found["counts"])
        return found

    def spot(self, form: Form, size: int, running: str) -> Spot:
        """A place for an array: one that had this form, if there is any. Raises MemoryError.

        running: the format for which calls are made now; JAX has other arrays for float64.
        """
        self.live += 1
        spare = self.spare.get(form)
        if spare:
            return self._untouched(*spare.pop())
        self.numbers += 1
        size = aligned(size)
        found = Spot(form, size, self.numbers, self._place(size))
        dtype, count, shape, strides, offset = form
        told = {"shape": shape, "strides": strides, "offset": offset, "count": count}
        self.new.append({**told, "dtype": dtype, "id": found.id, "at": found.at, "for": running})
        return found

    def leave(self, spot: Spot) -> None:
        """Give a place back. The next array of its form is the same object, with other numbers."""
        self.live -= 1
        if self.refills and spot.id > self.before and spot.form[0] != "int64":
            left = spot, self.block[spot.at : spot.at + spot.size]
            self.spare.setdefault(spot.form, []).append(left)
            self.unseen[spot.id] = left
        else:
            self._free(spot)

    def empty(self) -> None:
        """Forget the places that are refilled."""
        for each in [x for spare in self.spare.values() for x in spare]:
            self._free(self._untouched(*each))
        self.spare.clear()

    def swept(self) -> bool:
        """Whether a place was written after it was left: of those left lately, now and then any."""
        self.sweeps += 1
        seen = [*self.unseen.values()]
        if self.sweeps % ALL == 0:
            seen = [x for spare in self.spare.values() for x in spare]
        for each in seen:
            self._untouched(*each)
        return self.late

    def _untouched(self, spot: Spot, left: bytes) -> Spot:
        """A place, after a look whether it is as it was left."""
        self.unseen.pop(spot.id, None)
        self.late |= self.block[spot.at : spot.at + spot.size] != left
        return spot

    def _place(self, size: int) -> int:
        if self.at + size > ROOM and not self.gaps.get(size):
            self.empty()
        if self.gaps.get(size):
            return self.gaps[size].pop()
        if not self.live - 1 and self.at + size > ROOM:
            self.at, self.gaps = 0, {}
        at, self.at = self.at, self.at + size
        if self.at > ROOM:
            raise MemoryError("the arrays of a problem are larger than the block that is shared")
        return at

    def _free(self, spot: Spot) -> None:
        self.free.append(spot.id)
        self.gaps.setdefault(spot.size, []).append(spot.at)
