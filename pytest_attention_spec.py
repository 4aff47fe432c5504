"""A plugin of pytest: `pytest --implementation TARGET`, and why clauses fail as tests.

With a target, only a test for each clause and dtype that applies to it is collected, named like
K2-key_gradients_sum_to_zero-float32. Options of `attention-spec certify` may follow; the plugin
takes them out of those of pytest, so that other plugins and conftests do not see them.

After a session, the causes of clauses that failed, also by `parametrize_with_clauses`, are printed
once, in place of all failures one by one, and stand in the file of `--junitxml`.
Without such tests the plugin does nothing and imports nothing.
"""

import importlib
import shutil
import tempfile
from collections.abc import Generator
from typing import Any

import pytest

REQUEST = pytest.StashKey[tuple[str, Any]]()  # the target as a person names it, and what is asked
FAILED = pytest.StashKey[dict[str, Any]]()  # the clauses that failed as tests in this process
EXPLAINED = pytest.StashKey[tuple[str, dict[str, str]]]()  # why they did
SHARED = pytest.StashKey[str]()  # a folder in which workers of pytest-xdist say what failed
OPTION = "--implementation"
MARK = "attention-spec"  # the property of a failing clause, with its name
UNTESTED = pytest.StashKey[list[str]]()  # a line for each target
TOLD = f"{MARK} failure"  # the property with its counterexample
MANY = "failing clauses"  # as pytest counts them in its last line
UNCALLED = "the clause was not tested: call run() in the test"
APART = pytest.StashKey[bool]()  # this is the process in which tests are run


def pytest_addoption(parser: pytest.Parser) -> None:
    """The only option that is always there."""
    group = parser.getgroup(MARK, "hold an implementation to the specification")
    told = "module:name, path/to/file.py:name, or a name of [tool.attention-spec.targets]; options"
    group.addoption(OPTION, metavar="TARGET", help=f"{told} of `attention-spec certify` may follow")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Read the options for certification, and leave the others to pytest."""
    if (target := early_config.known_args_namespace.implementation) is None:
        return
    if [x.partition("=")[0] for x in early_config.invocation_params.args].count(OPTION) > 1:
        raise pytest.UsageError(f"{OPTION} is given twice: test one target at a time")
    from attention_spec.backends import Unsuitable
    from attention_spec.certification.as_tests import taken

    try:
        early_config.stash[REQUEST] = (target, taken(target, args))
    except Unsuitable as reason:
        raise pytest.UsageError(str(reason)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Run the clauses in a copy of this process, if it is no worker: a target may end it."""
    named = config.getoption(OPTION) is not None
    if not named or APART in config.stash or hasattr(config, "workerinput"):
        return None
    from attention_spec.certification.ending import exit_code
    from attention_spec.certification.watching import apart

    config.stash[APART] = True
    return apart(lambda: exit_code(config))


def pytest_collection(session: pytest.Session) -> bool | None:
    """Collect the clauses, and nothing else; None where there is no target."""
    config = session.config
    if config.getoption(OPTION) is None:
        return None
    if REQUEST not in config.stash:  # nothing was read: a conftest is too late
        raise pytest.UsageError("load it by `-p pytest_attention_spec`, or install it")
    from attention_spec.certification.collected import Clauses

    target, request = config.stash[REQUEST]
    clauses = Clauses.from_parent(session, name=target, nodeid=target, request=request)
    named = [word for word in config.args if word.startswith(f"{target}::")]
    others = [word for word in config.args if word not in named]
    if others and config.args_source is pytest.Config.ArgsSource.ARGS:
        told = f"{OPTION} collects the clauses of {target} alone: run pytest again without it"
        raise pytest.UsageError(f"{told} for {' '.join(others)}")
    session.items = [x for x in session.genitems(clauses) if not named or x.nodeid in named]
    config.hook.pytest_collection_modifyitems(session=session, config=config, items=session.items)
    config.hook.pytest_collection_finish(session=session)
    session.testscollected = len(session.items)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, Any]:
    """Note which clauses fail as tests, however these were made, unless nothing was tested."""
    report, run = (yield), _run_of(item)
    if run is not None and report.when == "call" and report.passed and not run.asked:
        report.outcome, report.longrepr = "failed", UNCALLED
        return report
    untested = call.excinfo and call.excinfo.errisinstance(pytest.fail.Exception)
    if run is not None and report.when == "call" and report.failed and not untested:
        item.config.stash.setdefault(FAILED, {})[item.nodeid] = run
        told = (MARK, item.nodeid), (TOLD, str(call.excinfo and call.excinfo.value))
        item.user_properties.extend(told)  # of all reports to come, and of this
        report.user_properties.extend(told)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: Any, config: pytest.Config) -> tuple[str, str, str] | None:
    """Count a failing clause apart from other failures; -v prints each in full, as pytest does."""
    names = [name for name, _ in getattr(report, "user_properties", ())]
    counts = MARK in names and report.when == "call"
    return (MANY, "F", "FAILED") if counts and config.get_verbosity() <= 0 else None


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Explain the failures, once the file that --junitxml asks for is written."""
    config, failed = session.config, session.config.stash.get(FAILED, {})
    is_worker = hasattr(config, "workerinput")
    said = (getattr(_run_of(x), "untested", "") for x in getattr(session, "items", ()))
    config.stash.setdefault(UNTESTED, []).extend(dict.fromkeys(filter(None, said)))
    failed = _of_all_workers(session, failed) if is_worker else failed
    if failed:
        package = type(next(iter(failed.values()))).__module__.rpartition(".")[0]
        module = importlib.import_module(f"{package}.failed_tests")
        in_python = config.getoption(OPTION) is None
        config.stash[EXPLAINED] = module.explained(failed, in_python)
    if is_worker:
        output: dict[str, Any] = config.workeroutput  # type: ignore[attr-defined]
        output |= {MARK: config.stash.get(EXPLAINED, None), TOLD: config.stash[UNTESTED]}
    if EXPLAINED in config.stash and (path := config.getoption("xmlpath", None)) and not is_worker:
        from attention_spec.certification.ledger.junit import retold

        retold(path, config.stash[EXPLAINED][1], MARK, TOLD)
    shutil.rmtree(config.stash.get(SHARED, ""), ignore_errors=True)


def _of_all_workers(session: pytest.Session, failed: dict[str, Any]) -> dict[str, Any]:
    """What failed in any worker of pytest-xdist, for the last one that ends; nothing before."""
    if not (found := {x.nodeid: run for x in session.items if (run := _run_of(x)) is not None}):
        return {}
    from attention_spec.certification.ending import failed_in_all

    given = session.config.workerinput  # type: ignore[attr-defined]
    workers = given["workerid"], given["workercount"]
    names = failed_in_all(given.get(MARK, ""), *workers, failed)
    return {name: run for name, run in found.items() if name in names}


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist where to say what failed in it."""
    if SHARED not in node.config.stash:
        node.config.stash[SHARED] = tempfile.mkdtemp(prefix=f"{MARK}-")
    node.workerinput[MARK] = node.config.stash[SHARED]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Take what a worker explained: the last one has most. Nobody waits for one that crashed."""
    stash = node.config.stash
    stash[UNTESTED] = getattr(node, "workeroutput", {}).get(TOLD) or stash.get(UNTESTED, [])
    found = getattr(node, "workeroutput", {}).get(MARK)
    if found and len(found[1]) >= len(stash.get(EXPLAINED, ("", {}))[1]):
        stash[EXPLAINED] = found
    if error:
        from attention_spec.certification.ending import note

        note(stash[SHARED], node.gateway.id)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what was not tested, and why clauses fail, once."""
    if len((stats := terminalreporter.stats).get(MANY, ())) == 1:
        stats[MANY[:-1]] = stats.pop(MANY)
        terminalreporter._known_types = None  # pytest lists the categories again
    if lines := config.stash.get(UNTESTED, []):
        terminalreporter.section("what was not tested")
        terminalreporter.write_line("\n".join(lines))
    if EXPLAINED in config.stash:
        terminalreporter.section("why clauses fail (-v prints every failure)")
        terminalreporter.write_line(config.stash[EXPLAINED][0])


def _run_of(item: pytest.Item) -> Any:
    """The clause that a test runs, or None: it is of the plugin, or has the parameter `run`."""
    given = getattr(getattr(item, "callspec", None), "params", {})
    run = given.get("run", getattr(item, "run", None))
    return run if type(run).__module__.endswith(".certification.as_tests") else None


def pytest_report_collectionfinish(items: list[pytest.Item]) -> list[str]:
    """The conventions that hold because the target says so, and what keeps it from its tests."""
    tests = [run for item in items if (run := _run_of(item))]
    collected = any(hasattr(item, "place") for item in items)
    declared = tests[0].examiner.raw.declares if collected else {}
    said = ", ".join(f"{name}={value}" for name, value in declared.items())
    places = dict.fromkeys(run.place.isolation for run in tests)
    apart = [f"isolation of targets: {place}" for place in places]
    return [f"under conventions it declares itself: {said}"] * bool(said) + apart
