"""The clauses that apply to a target as tests.

@parametrize_with_clauses(my_attention)
def test_clause(run): run()
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from spec.backends import Unsuitable
from spec.certification.doors import requested
from spec.certification.in_process import examined
from spec.certification.judging.examiner import Examiner
from spec.certification.judging.plan import granted
from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.junit import OWN, SKIPPED
from spec.certification.ledger.untested import in_a_line
from spec.certification.options import Parser, add_each, add_options, asked
from spec.certification.places import Broken, Place
from spec.certification.repository import requests
from spec.certification.settings import Request
from spec.certification.target.loading import Target, resolved
from spec.kinds import kind_of
from spec.notation import HALF, Grade
from spec.printable import all_printable

EXPECTED = {"should": "recommended only", "promise": "equal bits are not promised"}
SECRET = "--seed secret is for `certify` and `grade`, which print it: a test can be run again"
BEGUN: list[Target] = []  # the targets whose tests are being collected


def _first(told: str) -> str:
    """The first line of a report."""
    return told.partition("\n")[0]


@dataclass(frozen=True, repr=False)
class Run:
    """One clause in one dtype as a test: calling it raises AssertionError if the clause fails.

    untested: a line about all that is not tested of the target, by any clause.
    """

    examiner: Examiner
    number: str
    dtype: str
    place: Place
    untested: str = ""
    _asked: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The name of the test, as `K2-key_gradients_sum_to_zero-float32`."""
        return f"{self.examiner.clauses[self.number].id}-{self.dtype}"

    def __repr__(self) -> str:
        """The same name: pytest shows it with each failure."""
        return self.id

    @property
    def asked(self) -> bool:
        """Whether the clause was tested: a test that does not call `run()` tests nothing."""
        return bool(self._asked)

    @property
    def known(self) -> str | None:
        """The reason why the clause is known to fail; None if it is not."""
        return self.examiner.deviations.reasons.get(self.number)

    @property
    def force(self) -> str:
        """Whether the clause is required: `must`, `should`, or an undeclared `promise`."""
        return self.examiner.clauses[self.number].force

    def __call__(self, shortened: Callable[[str], str] = _first) -> None:
        """Run the clause as a test; failures that are declared or only recommended are expected.

        It is skipped if the target raises an exception on all of its problems, or there are none.
        Then the test of the definition fails. shortened: makes the line that pytest shows for such
        a failure from its full text. Raises AssertionError if a required clause fails.
        """
        __tracebackhide__ = True
        import pytest

        verdict = self.verdict()
        if (told := _told(verdict)) is not None:
            if self.known or self.force != "must":
                pytest.xfail(self.known or f"{EXPECTED[self.force]}: {shortened(told)}")
            raise AssertionError(told)
        if verdict.outcome == "refused":  # on all of its problems: nothing was compared
            pytest.skip(f"{SKIPPED['refused']}{_first(all_printable(verdict).message)}")
        if verdict.outcome == "not offered":
            said = f"not tested: no {_first(all_printable(verdict).message)}"
            if self.number == kind_of(self.examiner.raw.about).definition:
                pytest.fail(f"{said}, so nothing is known of the target", pytrace=False)
            pytest.skip(said)

    def failure(self) -> str | None:
        """The failure of the clause, first in a line, then in full; None if there is none."""
        return _told(self.verdict())

    def verdict(self) -> Verdict:
        """The verdict on the clause; in 16 bits with the rounding model that A1 needs.

        Raises Broken: the runner of the target ended, or sent what no runner sends.
        """
        self._asked.append(self.id)
        with self.place.judging():
            verdict = examined(self.examiner, self.number, self.dtype, "strict")
            if verdict.outcome == "violated" and self.dtype in HALF:
                verdict = examined(self.examiner, self.number, self.dtype, self._granted())
        return verdict

    def _granted(self) -> Grade:
        """The rounding model that the definition needs, as other tests are not known here."""
        request = self.examiner.request
        number = kind_of(self.examiner.raw.about).definition
        clauses = {number: resolved(request.specification)[number]}
        verdict, _ = replace(self.examiner, clauses=clauses).verdict(number, self.dtype, "strict")
        return granted([verdict]).get(self.dtype, "strict")


def _told(verdict: Verdict) -> str | None:
    """The failure that a verdict is about, first in a line, then in full; None if it is none."""
    if verdict.outcome not in ("violated", "crashed"):
        return None
    verdict = all_printable(verdict)
    example = verdict.counterexample
    lines = [f"{verdict.clause} {verdict.name}, {verdict.dtype}: {verdict.message}"]
    lines += [verdict.likewise] * bool(verdict.likewise)
    if example is not None:
        lines += [OWN, example.message, example.script]  # `explained` says what all look like
    return "\n".join(lines)


def runs(target: Target, **options: Any) -> tuple[Run, ...]:
    """A test for each clause and dtype that applies to the target. Raises Unsuitable."""
    request = requested(target, options)
    if request.secret:
        raise Unsuitable(SECRET)
    try:
        place = Place.of(target, request)
        with place.judging():
            examiner = Examiner.of(place.target, request)
            examiner.plan()
            survey = examiner.survey()
    except Broken as reason:
        raise Unsuitable(f"{reason} while it was probed") from None
    untested = all_printable(in_a_line(survey))
    return tuple(Run(examiner, *item, place, untested) for item in survey.items)


def taken(target: str, arguments: list[str]) -> Request:
    """The request for a target; options of `certify` are taken out of the arguments.

    Raises Unsuitable.
    """
    parser = Parser("attention-spec certify", add_help=False)
    add_options(parser)
    add_each(parser.add_argument, "isolation")
    options, arguments[:] = parser.parse_known_args(arguments)
    (request,) = requests(target, asked(options)).values()
    return request


def parametrize_with_clauses(
    target: Target, **options: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Turn a test with the parameter `run` into one test for each clause and dtype.

    options: those of `certify`. A target that is named by a string may be in the file of the test
    itself: the file is then loaded a second time, in which this does nothing.
    """
    import pytest

    if target in BEGUN:
        return lambda test: test
    BEGUN.append(target)
    try:
        found = runs(target, **options)
    finally:
        BEGUN.remove(target)
    return pytest.mark.parametrize("run", found, ids=[run.id for run in found])
