"""The search for causes, by one child after all others have judged.

A target that compiles takes long to judge, and the search compiles more. So the search for the
first cause begins while others judge, and progress shows that cause as soon as it is known. The
whole search then finds these programs compiled.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spec.certification.diagnosing.diagnosis import Diagnosis, to_explain
from spec.certification.isolation.child import Child
from spec.certification.isolation.crew import EXPLAINS
from spec.certification.isolation.protocol import read_diagnosis
from spec.certification.isolation.workbench import Workbench
from spec.certification.judging.plan import Item, granted
from spec.certification.judging.survey import Survey
from spec.notation import HALF


class Explaining:
    """The search for the causes of the failures that a workbench has found.

    ordered: the whole search was ordered, or no search is wanted any more. diagnosis: its result.
    """

    def __init__(self, bench: Workbench) -> None:
        self.bench, self.crew = bench, bench.crew
        self.ordered, self.diagnosis = False, Diagnosis()
        self._tried, self._programs, self._failed = set[Item](), 0, False

    def begin(self, survey: Survey) -> None:
        """Order the first cause, if there are new failures; not again, and not after a crash.

        A failure in 16 bits counts once a rounding model is granted, which is so at the end.
        """
        bench, crew = self.bench, self.crew
        busy = any(child.sort == EXPLAINS and not child.idle for child in crew.children)
        done = bench.hinted or bench.crashes or bench.lost or bench.plan.reason
        if busy or done or self._failed or not crew.compiles or crew.most < 2:
            return
        found = to_explain(crew.request, survey, [*bench.plan.verdicts.values()])
        failing = [item for item in found if item[1] not in HALF]
        if not {*failing} <= self._tried:
            self._tried |= {*failing}
            crew.begin_to_explain(bench.probed, failing)

    def order(self, survey: Survey | None) -> bool:
        """Order the search, if clauses fail; return whether it was ordered."""
        if self.ordered or survey is None:
            return False
        bench = self.bench
        self.ordered, verdicts = True, bench.plan.all(bench.clauses)
        failing = to_explain(self.crew.request, survey, verdicts)
        if failing:
            dies = bool(bench.lost or bench.crashes)
            self.crew.explain(bench.lost, bench.probed, failing, granted(verdicts), dies)
        return bool(failing)

    def heard(self, child: Child, message: Mapping[str, Any]) -> bool:
        """Record a result; return whether it is the last. Raises Interfered."""
        found = read_diagnosis(message, self.bench.clauses)
        self.crew.diagnosed(child, message["beside"])
        self._programs += found.programs
        self.bench.in_vain(found.failed)
        self._failed |= bool(found.failed)
        if self.ordered:
            self.diagnosis = replace(found, programs=self._programs)
        return self.ordered

    def drop(self) -> None:
        """Search for nothing, and forget what was found."""
        self.ordered, self.diagnosis = True, Diagnosis()
