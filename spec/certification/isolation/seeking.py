"""The search for causes in the process of a worker.

JAX compiles what the search needs with few optimisations, in a third of the time. If these programs
do not fail where the usual ones do, the search is made again with usual ones.
"""

import traceback
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from spec.backends.elsewhere import compile_lightly, compiled_lightly
from spec.certification.diagnosing.diagnosis import Diagnosis, begun, diagnosed
from spec.certification.diagnosing.memory import Alone
from spec.certification.each import one_by_one
from spec.certification.isolation.sharing import in_two
from spec.certification.judging.cause import Heard
from spec.certification.judging.examiner import Examiner
from spec.certification.judging.plan import Item

DEFECT = "the search itself failed, not the target"


def sought(examiner: Examiner, wanted: Mapping[str, Any], alone: Alone, heard: Heard) -> Diagnosis:
    """The causes of failing items; or none but the first, which `heard` receives.

    wanted: an order as of `worker`. alone: the target before its first call.
    """
    failing = [(number, dtype) for number, dtype in wanted["explain"]]
    # The process of a fork would have to load each program that the target's has compiled.
    each = one_by_one if examiner.probed.sampled else in_two
    try:
        if wanted["begins"]:
            return begun(examiner, failing, each, heard)
        search = partial(diagnosed, examiner, failing, wanted["grades"], each, alone)
        found = search(heard)
        light = examiner.request.profile != "quick" and compiled_lightly()
        if not light or _explains(found, examiner, failing):
            return found
        compile_lightly(False)
        return search()
    except Exception as error:
        return Diagnosis(failed=_defect(error))


def _explains(found: Diagnosis, examiner: Examiner, failing: list[Item]) -> bool:
    """Whether each required clause that fails has a cause."""
    return all(found.met.get(x) for x in failing if examiner.clauses[x[0]].force == "must")


def _defect(error: Exception) -> str:
    """The report of an exception that this package raised itself."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}, line {place.lineno}"
    return f"{DEFECT} ({type(error).__name__}: {error}, in {where}): please report it"
