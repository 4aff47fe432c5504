"""Work that a process shares with a copy of itself: in order, alone if need be, and ended."""

import os
import subprocess
import sys
import textwrap

import pytest

BEGIN = """
import os, signal, sys, threading, time
from spec.certification.isolation.sharing import in_two
os.sched_getaffinity = lambda _: {0, 1}  # whatever there is
here = os.getpid()
"""


def said(program: str) -> str:
    """What a program prints in a process of its own, which runs no threads but its own."""
    words = [sys.executable, "-c", BEGIN + textwrap.dedent(program)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux")
class TestInTwo:
    def test_every_second_result_is_from_a_copy_and_all_come_in_order(self) -> None:
        made = said(
            "print([(x, pid == here) for x, pid in in_two(lambda x: (x, os.getpid()), 'abcd')])"
        )
        assert made == "[('a', True), ('b', False), ('c', True), ('d', False)]\n"

    def test_what_a_copy_dies_of_is_done_here(self) -> None:
        program = """
            def dying(x):
                if os.getpid() != here and x == "d":
                    os.kill(os.getpid(), signal.SIGSEGV)
                return x, os.getpid() == here
            print([*in_two(dying, "abcdef")])
        """
        want = [("a", True), ("b", False), *((x, True) for x in "cdef")]
        assert said(program) == f"{want}\n"

    def test_what_takes_a_copy_too_long_is_done_here(self) -> None:
        program = """
            def slow(x):
                if os.getpid() != here and x == "d":
                    time.sleep(600)
                return x, os.getpid() == here
            print([*in_two(slow, "abcd", seconds=0.2)])
        """
        want = [("a", True), ("b", False), ("c", True), ("d", True)]
        assert said(program) == f"{want}\n"

    def test_who_has_seen_enough_ends_the_copy(self) -> None:
        program = """
            results = in_two(lambda x: x if os.getpid() == here else time.sleep(600), "ab")
            print(next(results))
            results.close()
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                print("nobody is left")
        """
        assert said(program) == "a\nnobody is left\n"

    def test_a_copy_does_not_outlive_who_is_killed(self) -> None:
        reads, writes = os.pipe()
        program = """
            def waiting(x):
                if os.getpid() == here:
                    time.sleep(1)
                    os.kill(here, signal.SIGKILL)
                time.sleep(600)
            [*in_two(waiting, "ab")]
        """
        words = [sys.executable, "-c", BEGIN + textwrap.dedent(program)]
        with subprocess.Popen(words, pass_fds=[writes]) as process:
            os.close(writes)
            assert os.read(reads, 1) == b""  # nobody holds the other end
        os.close(reads)
        assert process.returncode == -9

    def test_with_another_thread_nothing_is_copied(self) -> None:
        program = """
            threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
            print([pid == here for pid in in_two(lambda x: os.getpid(), "ab")], flush=True)
            os._exit(0)
        """
        assert said(program) == "[True, True]\n"
