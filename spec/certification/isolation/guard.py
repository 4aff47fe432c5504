"""Probing a target that may crash its process, or hang.

The process announces each probe before it makes it, so a parent that gets no more messages knows
which probe was the last one. The parent starts another process and passes the crash on. There,
problems of that kind are refused without a call of the target, and probing continues. Nobody knows
whether the target supports these problems, so the certificate stays incomplete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spec.backends.library import first_line
from spec.certification.judging.plan import Plan
from spec.certification.judging.survey import Survey, unknown
from spec.certification.judging.verdict import INTERFERED, Verdict, unrun
from spec.certification.settings import Request
from spec.certification.target.probed import Refusal
from spec.clause import Clause
from spec.kinds import kind_of
from spec.notation import DTYPES
from spec.subject import Over, Refused, not_offered, posed
from spec.typed import typed

PROBES = 10  # crashes, each of which costs another kind of problem
MOST = 1000  # of them where all are met: more than there are kinds of problem


@dataclass(frozen=True)
class Probe:
    """One probe of a target: a function of it, the kinds of problem in words, a dtype.

    asked: the function in words; empty for the first function, which every target has.
    """

    function: str
    asked: str
    kinds: tuple[str, ...]
    dtype: str

    @staticmethod
    def of(record: Any, function: str, asked: Any) -> Probe:
        """The probe in which a function of a record gets a problem.

        asked: a problem, several of them, or a state that belongs to one.
        """
        problem = posed(asked)[0]
        functions = kind_of(record.about).functions
        words = tuple(functions.special(record, problem))
        if function == functions.first:
            return Probe("forward", "", words, problem.dtype)
        return Probe(function, functions.worded(function), words, problem.dtype)

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> Probe:
        """The probe with these fields in JSON. Raises ValueError or TypeError."""
        found = typed(Probe(**{**written, "kinds": tuple(written["kinds"])}))
        if found.dtype not in DTYPES:
            raise ValueError(f"{found.dtype!r} is not a dtype")
        return found

    def __str__(self) -> str:
        kinds = " and ".join(self.kinds).replace(" and that ", " that ")
        if not self.asked:
            return f"{kinds or 'a plain problem'}, {self.dtype}"
        return f"{self.asked}{' with ' if kinds else ''}{kinds}, {self.dtype}"

    @property
    def plain(self) -> bool:
        """Whether it calls only the forward pass on the basic case."""
        return self.function == "forward" and not self.kinds

    def includes(self, other: Probe, dtypes: Sequence[str]) -> bool:
        """Whether the other probe is expected to end in the same way as this one.

        Formats after this one are included, as each trial may cost a process and much time. But if
        the basic case itself fails in one format, that says nothing about another format.
        """
        if self.function not in ("forward", other.function) or not {*self.kinds} <= {*other.kinds}:
            return False
        if self.plain:
            return self.dtype == other.dtype
        return dtypes.index(self.dtype) <= dtypes.index(other.dtype)


@dataclass(frozen=True)
class Crash:
    """A probe that ended with its process, and how the process ended."""

    probe: Probe
    fate: str
    last_words: str = ""

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> Crash:
        """The crash with these fields in JSON."""
        return Crash(**{**written, "probe": Probe.from_json(written["probe"])})

    def __str__(self) -> str:
        return f"{self.fate} while probing {self.probe}{self.last_words}"

    @property
    def refusal(self) -> Refusal:
        """The entry for it in a certificate."""
        probe = self.probe
        direction = "forward" if probe.function == "forward" else "backward"
        kinds = str(replace(probe, dtype="")).removesuffix(", ")
        return Refusal(kinds, probe.dtype, direction, str(self), crashed=True)


class Guard:
    """Announces each probe of an implementation, and refuses probes that would crash again.

    Once `lifted` is set, it only records each call. If a target raises something that is no
    Exception (KeyboardInterrupt, SystemExit), that counts as a refusal: nobody else interrupts this
    process.
    """

    def __init__(
        self,
        announce: Callable[[Probe], None],
        asking: Callable[[str, str, Any], None],
        crashes: Sequence[Crash],
    ) -> None:
        self.announce, self.asking, self.crashes = announce, asking, crashes
        self.lifted = False

    def over(self, implementation: Any) -> Any:
        """The same implementation under guard."""

        def guarded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
            def ask(problem: Any, *rest: Any) -> Any:
                if self.lifted:
                    self.asking(implementation.about, name, problem)
                else:
                    self._before(Probe.of(implementation, name, problem), implementation.dtypes)
                try:
                    return function(problem, *rest)
                except (Exception, Over):
                    raise
                except BaseException as error:
                    raise Refused(f"{type(error).__name__}: {first_line(error)}") from error

            return ask

        return implementation.through(guarded)

    def spared(self, implementation: Any) -> Any:
        """The implementation without guard and without functions that crashed, for scripts.

        The functions that remain may get any problem that the forward pass supports.
        """
        lost = {crash.probe.function for crash in self.crashes} - {"forward"}
        return implementation.but(**dict.fromkeys(lost, not_offered))

    def _before(self, probe: Probe, dtypes: Sequence[str]) -> None:
        for crash in self.crashes:
            if crash.probe.includes(probe, dtypes):
                raise Refused(str(crash))
        self.announce(probe)


def with_crashes(survey: Survey, crashes: Sequence[Crash]) -> Survey:
    """The survey with crashes as such, and with the clauses whose result they leave open."""
    said = {str(crash) for crash in crashes}
    refusals = [replace(r, crashed=r.message in said) for r in survey.refusals]
    listed = {refusal.message for refusal in refusals}
    refusals += [crash.refusal for crash in crashes if str(crash) not in listed]
    lost = {(r.dtype, r.what): r.message for r in refusals if r.crashed}
    settled = tuple(_left_open(verdict, lost) for verdict in survey.settled)
    return replace(survey, refusals=tuple(refusals), settled=settled)


def _left_open(verdict: Verdict, lost: Mapping[tuple[str, str], str]) -> Verdict:
    """The verdict `crashed` instead of `refused` if the clause needs what crashed."""
    if verdict.outcome != "refused":
        return verdict
    for what in (verdict.dtype, *verdict.message.split("; ")):
        if (verdict.dtype, what) in lost:
            return replace(verdict, outcome="crashed", message=lost[verdict.dtype, what])
    return verdict


def too_many(crashes: Sequence[Crash], hung: bool, isolate: bool) -> str:
    """The reason to stop probing after these crashes; "" if probing continues."""
    if hung and crashes[-1].probe.plain:  # nor would it answer in another dtype
        return str(crashes[-1])
    if len(crashes) >= MOST:
        return f"{crashes[-1]}, the {MOST}th crash"
    if len(crashes) >= PROBES and not isolate:
        return f"{crashes[-1]}, the {PROBES}th crash (--isolate goes on after each)"
    return ""


def nothing_known(
    request: Request, clauses: Mapping[str, Clause], about: str, reason: str
) -> tuple[Survey, Plan]:
    """The survey and plan with no clause run, as loading or probing did not end."""
    survey = unknown(request, clauses, about)
    (number, dtype), *_ = survey.items
    first = unrun(clauses[number], dtype, "crashed", reason)
    if reason.startswith(INTERFERED):
        first = replace(first, outcome="blocked")
    if "budget" in reason:
        late = f"{reason}, while it was loaded and probed"
        first = replace(first, outcome="blocked", message=late)
    plan = Plan.of(survey.items, request, clauses)
    plan.note(first)
    plan.stop(reason)
    return survey, plan
