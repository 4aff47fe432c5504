"""The command line as people meet it: exit codes, what is printed, bad targets."""

import json
import os
import re
import subprocess
import sys

import pytest

from spec import CLAUSES
from spec.certification.starting import started
from tests.certification import here
from tests.night import deep
from tests.shell import FEW, NO_CAUSES, certify, run


def test_certified_is_exit_code_0():
    done = certify("right", "--clause", "A,V")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("right: certified (quick)\n")
    assert "--dtype float32 --profile quick --seed 0 --clause A,V" in done.stdout
    assert all("float32" in line for line in done.stderr.splitlines())  # how far it is


@pytest.mark.parametrize(("name", "code"), [("right", 0), ("elementwise", 1)])
def test_one_clause_is_certified_or_not(name, code, tmp_path):
    file = tmp_path / "c.json"
    done = certify(name, "--clause", "K2", "--json", str(file), *NO_CAUSES)
    assert done.returncode == code, done.stdout
    assert {v["clause"] for v in json.loads(file.read_text())["verdicts"]} == {"A1", "K2"}


@pytest.mark.slow
def test_what_was_selected_is_judged_before_the_definition():
    done = certify("elementwise", "--clause", "K2", "--fail-fast")
    assert done.returncode == 1
    assert "verdicts 1 failed + 1 not run = 2" in done.stdout
    assert "--clause K2,A1" in done.stdout


def test_causes_are_looked_for_as_long_as_is_said():
    done = certify("elementwise", "--clause", "A2", "--diagnosis-timeout", "1e-9")
    assert done.returncode == 1
    assert done.stdout.startswith("elementwise: not certified\n")
    assert "\nfails: A2 query_gradient_matches_the_definition" in done.stdout


@pytest.mark.parametrize("word", ["--diagnosis-timeout", "--call-timeout"])
def test_no_time_at_all_is_no_good(word):
    done = certify("right", word, "0")
    assert done.returncode == 2
    assert done.stderr == f"error: {word} 0: must be more than 0 seconds\n"


def test_violated_is_exit_code_1_and_says_all(tmp_path):
    json_file, folder = tmp_path / "c.json", tmp_path / "report"
    done = certify(
        "elementwise", "--json", str(json_file), "--report", str(folder), "--clause", "A2"
    )
    assert done.returncode == 1
    assert done.stdout.startswith("elementwise: not certified, for 1 cause\n")
    assert re.search(
        r"dq and dk are wrong in \d+ of \d+ problems with M > 1\n   fails", done.stdout
    )
    likeness = "(differentiates_softmax_by_element, list-of-heads in spec/incidents.md)"
    assert likeness in done.stdout
    found = json.loads(json_file.read_text())
    assert found["passed"] is False
    assert sum(found["ledger"].values()) == len(found["verdicts"])
    assert {path.name for path in folder.iterdir()} >= {
        "certificate.txt",
        "certificate.json",
        "cause-1.py",
    }
    assert run(program=(str(folder / "cause-1.py"),)).returncode == 1


NUMPY = ("--backend", "numpy")  # others are tried as well, where they are installed
BAD = [
    (("certify", "tests.targets"), "names no function or class"),
    (("certify", "tests.nowhere:right"), "there is no module 'tests.nowhere'"),
    (("certify", "nowhere.py:right"), "there is no file 'nowhere.py'"),
    (("certify", "tests.targets:nothing"), "has no 'nothing'"),
    (("certify", "tests.targets:number"), "is of type int, not a function"),
    (("certify", "tests.targets:Layer"), "Layer has neither forward nor __call__"),
    (("certify", "tests.targets:two"), "takes at least 3"),
    (("certify", "tests.targets:demands_lengths"), "requires a parameter 'lengths'"),
    (("certify", "tests.targets:wrong_shape"), "got (2, 3, 5, 7), want (2, 3, 4, 7)"),
    (("certify", "tests.targets:wrong_type"), "a tuple of 2"),
    (("certify", "tests.targets:refuses_everything"), "RuntimeError: out of luck"),
    (("certify", "tests.targets:right", *NUMPY, "--dtype", "bfloat16"), "has no bfloat16"),
    (("certify", "tests.targets:right", "--device", "cuda"), "has no device 'cuda'"),
    (("certify", "tests.targets:right", "--clause", "Q99"), "unknown clause 'Q99'"),
    (("certify", "tests.targets:right", "--convention", "idle"), "write NAME=VALUE"),
    (("certify", "tests.targets:right", "--json", f"{os.devnull}/c"), "cannot be written to"),
    (("clauses", "Q99"), "unknown clause 'Q99'"),
    (("compare", "nowhere.json", "nowhere.json"), "cannot be read"),
]


@pytest.mark.parametrize("start", [here.run, deep(run)])
@pytest.mark.parametrize(("words", "reason"), BAD)
def test_bad_input_is_one_line_and_exit_code_2(words, reason, start):
    done = start(*words)
    assert done.returncode == 2, done.stdout
    assert reason in done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("tests.targets:wrong_shape", *NUMPY), "got (2, 3, 5, 7), want (2, 3, 4, 7)"),
        (("tests.targets:right", *FEW, "--clause", "V2", "--json", os.sep), "cannot be written"),
    ],
)
def test_what_is_found_by_another_process_or_at_last_is_one_line_too(words, reason):
    done = run("certify", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(f"error: .*{re.escape(reason)}.*\n", done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("words", [("A2,V1,V2", *NO_CAUSES), deep(("A,V",))])
def test_jobs_give_the_same_verdicts(words, tmp_path):
    for jobs in ("1", "2"):
        told = ("--jobs", jobs, "--json", str(tmp_path / jobs))
        certify("elementwise", *told, "--clause", *words)
    done = run("compare", str(tmp_path / "1"), str(tmp_path / "2"))
    assert done.stdout == "nothing changed\n"


def test_compare_says_what_changed(tmp_path):
    for name in ("elementwise", "repaired"):
        certify(name, "--clause", "A2", "--json", str(tmp_path / name), *NO_CAUSES)
    done = run("compare", str(tmp_path / "elementwise"), str(tmp_path / "repaired"))
    assert done.returncode == 0
    assert "[float32]: violated -> holds" in done.stdout


def test_what_the_target_prints_does_not_mix_with_the_certificate():
    done = certify("prints", "--clause", "V2")
    assert "the implementation speaks" in done.stderr
    assert "the implementation speaks" not in done.stdout


def test_a_target_in_a_file_and_nothing_is_left_behind(tmp_path):
    source = tmp_path / "mine.py"
    source.write_text("from tests.targets import right as attend\n")
    done = run("certify", "mine.py:attend", *FEW, "--clause", "A1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"mine.py", "__pycache__"}


@pytest.mark.parametrize(("threads", "times"), [(0, 1), (1, 3)])
def test_a_file_is_run_once_unless_it_starts_threads(threads, times, tmp_path):
    """A process with one thread is copied; else who probes, infers and trains load it each."""
    (tmp_path / "mine.py").write_text(
        "import threading, time\n"
        "from tests.targets import repaired as attend\n"
        "with open('loaded', 'a') as file:\n"
        "    file.write('.')\n"
        f"for _ in range({threads}):\n"
        "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    words = (*FEW, "--clause", "A1,A2", "--isolation", "fork")
    done = run("certify", "mine.py:attend", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "loaded").read_text() == "." * times


@pytest.mark.slow
def test_a_folder_named_spec_is_not_in_the_way(tmp_path):
    """As a command that is installed finds it: nothing is looked up here but the target."""
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "__init__.py").write_text("raise RuntimeError('this is not yours')")
    (tmp_path / "mine.py").write_text("from implementations.dense import attend\n")
    command = "from spec.certification.command_line import main; raise SystemExit(main())"
    words = ("certify", "mine:attend", *FEW, "--clause", "A1")
    done = run(*words, cwd=tmp_path, program=("-P", "-c", command))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_of_clauses_names_them_all():
    done = run("clauses")
    assert done.returncode == 0
    for clause in CLAUSES.values():
        assert f"{clause.number:<5}{clause.name}" in done.stdout


def test_one_clause_is_shown_whole():
    done = run("clauses", "K2")
    for words in ("sum_j dk_j = 0", "evidence", "drops_the_row_term", "must"):
        assert words in done.stdout


def test_a_convention_with_a_space_in_its_name():
    done = certify("forbids", "--clause", "A1,M1,M2,M3", "--convention", "mask-means=forbid")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_pytest_runs_the_clauses_of_a_target():
    words = ("--implementation", "tests.targets:elementwise", *FEW, "-k", "K2 or A4", "-v")
    done = run(*words, "-p", "no:cacheprovider", program=("-m", "pytest"))
    assert done.returncode == 1
    assert "elementwise::K2-key_gradients_sum_to_zero-float32" in done.stdout
    assert "elementwise::A4-value_gradient_matches_the_definition-float32 PASSED" in done.stdout


@pytest.mark.slow
def test_pytest_says_what_is_wrong_with_a_target():
    words = ("--implementation", "tests.targets:two", "--backend", "numpy", "-q")
    done = run(*words, program=("-m", "pytest"))
    assert done.returncode != 0
    assert "takes at least 3" in done.stdout + done.stderr


def test_who_only_asks_for_help_starts_nobody():
    """The first worker is started before anything is known of the request."""
    program = "import sys; sys.argv[1:] = ['certify', '--help']; import spec.__main__ as m\n"
    program += "import spec.certification.starting as s\n"
    program += "try: m.main()\nexcept SystemExit: print(len(s._ahead))"
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"


def test_a_worker_that_nobody_wants_ends_by_itself():
    process = started()
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


@pytest.mark.slow
def test_a_report_is_whole_where_nobody_reads_what_is_printed(tmp_path):
    """As where it is piped into `head`, which stops reading after a few lines."""
    reads, writes = os.pipe()
    os.close(reads)
    folder, command = tmp_path / "report", (sys.executable, "-m", "spec", "certify")
    words = ("tests.targets.layers:HalfAsLoud", *FEW, "--clause", "L1", "--fail-fast")
    subprocess.run([*command, *words, "--report", str(folder)], stdout=writes, check=False)
    os.close(writes)
    assert {"certificate.txt", "certificate.json", "L1-float32.py"} <= {*os.listdir(folder)}
