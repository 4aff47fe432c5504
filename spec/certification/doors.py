"""The ways in from Python: a certificate, in this process or in others; one clause again.

certificate = certify("torch.nn.functional:scaled_dot_product_attention")
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import fields, replace
from typing import Any

from spec.backends import Unsuitable
from spec.backends.unknown import hint
from spec.boundary.choosing import FORK, NONE, PROCESS
from spec.certification.choices import checked
from spec.certification.in_process import judged_here
from spec.certification.isolation.supervisor import Supervisor
from spec.certification.judging.afresh import afresh
from spec.certification.judging.examiner import Examiner
from spec.certification.ledger.certificate import Certificate, certificate
from spec.certification.settings import LISTED, Request
from spec.certification.target.loading import Target, importable
from spec.certification.target.recorded import description_for
from spec.certification.target.required import required
from spec.certification.watching import watched
from spec.notation import SHORT
from spec.runner.foreign import parted
from spec.trial import broken

KNOWN = [field.name for field in fields(Request) if field.name != "target"]


def certify(
    target: Target,
    *,
    kind: str | None = None,
    backend: str | None = None,
    layout: str = "bhld",
    api: str | None = None,
    lengths: int = 1,
    widths: int = 1,
    description: str | None = None,
    device: str = "cpu",
    compiled: str | None = None,
    dtypes: Sequence[str] | None = None,
    profile: str = "standard",
    seed: int = 0,
    clauses: Sequence[str] | None = None,
    conventions: Mapping[str, str] | None = None,
    deviations: Mapping[str, str] | None = None,
    promises: Sequence[str] = (),
    fail_fast: bool = False,
    budget: float | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    executor: Executor | None = None,
    isolate: bool = False,
    isolation: str | None = None,
    call_timeout: float | None = None,
    diagnosis_timeout: float | None = None,
    where: str = "",
    specification: str = Request.specification,
) -> Certificate:
    """Check a target against every clause of its kind, and return the certificate.

    target: "module:name", "path/file.py:name", a function, a class, or a record of one.
    kind: the kind of target ("attention", "layer", "cache", ...); detected by default.
    backend: "numpy", "torch" or "jax"; inferred from the target by default.
    layout: the order of the axes, such as "bhld" or "blhd" (batch, heads, length, head size).
    api: a library ("flash-attn-2") whose argument names and conventions the target uses.
    lengths, widths: use only sequence lengths, or head sizes, that are multiples of these.
    description: how a target with other names is built and called: a file, or the name of a
    description that comes with this package ("transformers/llama").
    device: "cpu" or "cuda".
    compiled: "static", "traced" or "dynamic": test the compiled function
    (`spec.backends.compiling`).
    dtypes: formats to test; all that the backend has by default.
    profile: "quick", "standard" or "deep": how many problems each clause is tested on.
    seed: the problems depend only on it and on what the target supports.
    clauses: numbers, names or sections; all by default. The definition is always tested.
    conventions: choices that mathematics leaves open, by name.
    deviations: numbers of clauses that are known to fail, each with the reason.
    promises: equal bits that are required, such as "run" (`spec.promises`); others are only tried.
    fail_fast: stop at the first required clause that fails.
    budget, call_timeout, diagnosis_timeout: limits in seconds: of all testing, of one call, of
    the search for causes.
    jobs, isolate, scheduler, executor: test in other processes, several at a time; isolate
    continues after crashes.
    isolation: "process" puts the target in a process that has nothing of its judge, "fork" in one
    that it shares with its judge, "none" in this one. For other processes, a target must be a
    string, or a function or class of a module. By default, a string is tested as the command line
    tests it, where that is "process"; all else is tested in this process, as it is here. Such a
    target can end the process (by `os._exit`), which a line on standard error reports.
    where: a condition ("causal and N < M"): test only problems that meet it.
    Raises Unsuitable if the target or an option is unusable.
    """
    given = dict(locals())
    del given["executor"]
    request = requested(given.pop("target"), given)
    several = request.jobs > 1 or request.isolate or request.scheduler or executor is not None
    named = isinstance(target, str) and request.isolation is None and request.apart
    if several or named or request.isolation in (PROCESS, FORK):
        return _by_children(target, request, executor)
    return here(target, request)


def here(target: Target, request: Request) -> Certificate:
    """The certificate of a target in this process; if the target ends it, a line reports that."""
    with watched(request.target or "a target"):
        return judged_here(target, request)


def supervising(request: Request, executor: Executor | None = None) -> Supervisor:
    """The supervisor that tests the target of a request in child processes, when run.

    Raises Unsuitable: it is to be tested in this one.
    """
    if request.isolation == NONE:
        raise Unsuitable(
            "--isolation none tests in one process: leave it out, as this run needs others"
        )
    return Supervisor(request, required(request), executor)


def so_far(supervisor: Supervisor) -> Certificate:
    """The certificate of the results so far; clauses not reached are blocked."""
    return certificate(supervisor.request, *supervisor.found())


def requested(target: Target, options: Mapping[str, Any]) -> Request:
    """The options as a request. Raises TypeError for an unknown one, Unsuitable for a value.

    A class that this package describes is tested with that description, unless another is given.
    """
    for name in options:
        if name not in KNOWN:
            raise TypeError(f"no option is called {name!r}{hint(name, KNOWN)}")
    given = {name: value for name, value in options.items() if value is not None}
    for name in LISTED:
        if isinstance(given.get(name), str):
            given[name] = given[name].split(",")
        if name in given:
            given[name] = tuple(given[name])
    if "dtypes" in given:
        given["dtypes"] = tuple(SHORT.get(word, word) for word in given["dtypes"])
    name = target if isinstance(target, str) else getattr(target, "__name__", "")
    if parted(name):  # a target in another language has a process of its own
        given |= {"isolation": PROCESS}
    if isinstance(target, str):
        given.setdefault("description", description_for(target))
    return checked(Request(target=name, **given))


def _by_children(target: Target, request: Request, executor: Executor | None) -> Certificate:
    name = importable(target)
    if name is None:
        asked = "jobs, isolate and isolation need" if executor is None else "an executor needs"
        raise Unsuitable(f"{asked} a target that another process can import, as module:name")
    supervisor = supervising(replace(request, target=name), executor)
    try:
        supervisor.run()
    finally:
        sys.stderr.write(str(supervisor.printed))
    return so_far(supervisor)


def rerun(
    number: str, target: Target, problem: Any, before: Any = None, times: int = 1, **options: Any
) -> int:
    """Run one clause on one problem, print its failure, and return 1 if it fails.

    before: another problem that the target gets first, without probing. times: the clause is run at
    most so often, until it fails.
    """
    request = requested(target, options)
    if before is not None:
        *_, said = afresh(target, request, number, [before, problem])
    else:
        examiner = Examiner.of(target, request)
        subject = examiner.probed.by_dtype[problem.dtype]
        found = (broken(examiner.clauses[number], subject, problem) for _ in range(times))
        said = str(next(filter(None, found), ""))
    print(f"{number} is violated: {said}" if said else f"{number} holds here")
    return 1 if said else 0
