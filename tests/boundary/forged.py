"""The forgeries, with what becomes of each, and what no judge can see.

ends: the words that fit: a wrong function is not certified, a call that kills its process leaves a
certificate incomplete, a runner that lies to its judge interfered, and what answers nothing cannot
be tested.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

WRONG, DIED = ("not certified",), ("incomplete",)
LIED, NOTHING = ("interfered",), ("cannot be tested",)
DEFINITION = ("--clause", "A1", "--fail-fast")
CALLS, MASKS = ("--clause", "T"), ("--clause", "M")
TORCH = ("--clause", "A", "--backend", "torch")
FORM = (
    "A target can recognise the program that calls it by its form, and be right there as well. "
    "Only people who read the target, or call it, can tell."
)
SOME = "In one run of a hundred, a program of its own makes fewer than a hundred calls in a row."


@dataclass(frozen=True)
class Forgery:
    """A forgery.

    lies: what must not be said. succeeds: why it still does, or (at_times) may. beside: other names
    under which it lies beside itself.
    """

    name: str
    ends: tuple[str, ...] = WRONG
    words: tuple[str, ...] = DEFINITION
    lies: tuple[str, ...] = ()
    succeeds: str = ""
    at_times: bool = False
    needs: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    seconds: float = 60
    memory: float = 1  # gigabytes

    @property
    def marks(self) -> Sequence[Any]:
        """Those of its test."""
        if not self.succeeds:
            return ()
        return (pytest.mark.xfail(strict=not self.at_times, reason=self.succeeds),)


FORGERIES = (
    # It replaces parts of the runner.
    Forgery("other_function"),
    Forgery("denies_alias", words=CALLS),
    Forgery("denies_one_buffer", words=CALLS),
    Forgery("denies_subclass"),
    Forgery("denies_format"),
    Forgery("gradients_of_another", words=TORCH, needs=("torch",)),
    Forgery(
        "pretends_to_compile",
        NOTHING,
        words=(*DEFINITION, "--backend", "torch", "--compiled", "static"),
        needs=("torch",),
    ),
    Forgery("another_source", lies=("H200", "torch/nn")),
    Forgery("traces"),
    Forgery("raises_in_the_loop", DIED),
    # It sees that it is judged.
    Forgery("told_by_modules"),
    Forgery("told_by_memory"),
    Forgery("by_itself_it_is_wrong"),
    Forgery("planted_bytecode"),
    # It is another function where a program of its own calls it.
    Forgery("denies_quietly", words=CALLS),
    Forgery("writes_by_itself", words=CALLS),
    Forgery("subclass_by_itself"),
    Forgery("refuses_by_itself"),
    Forgery("ends_by_itself"),
    Forgery("waits_by_itself", DIED),
    Forgery("answers_by_itself", (*LIED, *WRONG, *DIED)),
    Forgery("hundred_calls", at_times=True, succeeds=SOME),
    Forgery("large_is_wrong"),
    Forgery("knows_the_program", succeeds=FORM),
    # It answers the judge itself.
    Forgery("died_with_zero", DIED),
    Forgery("died_by_stop", LIED),
    Forgery("died_by_nothing", LIED),
    Forgery("died_without_end", LIED),
    Forgery("deep_message", LIED),
    Forgery("odd_pairs", LIED),
    Forgery("odd_files", LIED),
    Forgery("odd_refusal", LIED),
    Forgery("odd_parameters", LIED),
    Forgery("endless_shape", LIED),
    Forgery("nothing_sent", NOTHING),
    Forgery("outside_the_block", LIED),
    Forgery("same_numbers"),
    Forgery("answers_twice", LIED),
    Forgery("flood", LIED),
    Forgery("never_answers", DIED),
    Forgery("closes_socket", DIED),
    # A quick judge has found it wrong before it dies.
    Forgery("answers_from_a_child", (*DIED, "not certified")),
    Forgery("large_claims", LIED),
    # It raises, and refuses.
    Forgery("raises_absent", words=("--clause", "A")),
    Forgery("raises_no_gradient", NOTHING),
    Forgery("refuses_what_is_wrong", NOTHING),
    Forgery("runs_out_of_memory", NOTHING),
    Forgery("one_key_at_most", NOTHING),
    Forgery("refuses_later", words=MASKS),
    Forgery("interrupts", NOTHING),
    Forgery("hostile_text", (*WRONG, *DIED)),
    Forgery("endless_text", (*WRONG, *DIED), MASKS, seconds=110),
    # It returns what is no array, or no array of its own.
    Forgery("endless_result", DIED),
    Forgery("odd_arrays", (*WRONG, *LIED)),
    Forgery("not_a_number"),
    Forgery("in_the_block"),
    Forgery("query_in_the_block"),
    Forgery("writes_late", words=("--clause", "T1")),
    # It looks for what is right.
    Forgery("reads_the_block"),
    Forgery("frames"),
    Forgery("imports_definition"),
    Forgery("other_namespace"),
    Forgery("reads_processes"),
    Forgery("watches_files"),
    Forgery("imported_by_the_judge", words=("--clause", "T", "--diagnosis-timeout", "20")),
    # It lies where the judge is started.
    Forgery("shadows_judge", beside=("fcntl",)),
    Forgery("shadows_library", beside=("jax",)),
    # It says something else of itself.
    Forgery("poses_as_record", (*WRONG, *NOTHING, *LIED)),
    Forgery("wrapped_commands", words=MASKS),
    Forgery("escapes", (*NOTHING, *LIED)),
    Forgery("describes_itself_anew", (*NOTHING, *LIED)),
    Forgery("ten_thousand_parameters", (*NOTHING, *DIED)),
    Forgery("own_conventions"),
    Forgery("wrapped_without_end", NOTHING),
    Forgery("blank_lines"),
    Forgery("prints_certificate", DIED),
    Forgery("prints_much"),
    Forgery("commands_of_ci"),
    Forgery("nonblocking_output"),
    # It leaves something, for others or for its next process.
    Forgery("changes_times"),
    Forgery("counts_by_times"),
    Forgery("slows_bystander"),
    Forgery("marks_its_parent"),
    Forgery("locks"),
    Forgery("leaves_code"),
    Forgery("shares_state"),
    Forgery("fills_folder"),
    Forgery("daemons"),
    Forgery("comets", (*WRONG, *DIED)),
    Forgery("kills_its_parent"),
    Forgery("ends_late", (*WRONG, *DIED)),
    # It takes what there is.
    Forgery("busy", (*WRONG, *DIED)),
    Forgery("takes_memory", (*WRONG, *DIED)),
    Forgery("shared_memory"),
    # torch's own modes.
    Forgery("torch_modes", words=TORCH, needs=("torch",)),
    Forgery("torch_function", (*WRONG, *NOTHING), TORCH, needs=("torch",)),
)

# What no judge can see, as it is right wherever a judge asks.
UNSEEN = {
    "knows the program": "right in a runner, and in the program that calls it without one",
    "plays back": "right for the problems of the public seed alone; a secret seed tells",
    "counts calls": "right for the first calls of a process, more than a runner and the program "
    "that calls it make",
    "rare size": "wrong at one size in a million, or from a size on that no problem has",
    "rare number": "wrong for one bit pattern of a query in 2^32",
    "waits": "wrong from a date on, on another machine, or with another number of processors",
    "undoes": "writes into its inputs and restores them before it answers, which another thread of "
    "its caller would see",
    "late by seconds": "writes into its inputs after the judge is gone",
    "just in time": "takes a little less than --call-timeout for each call; --budget is the limit",
    "fills the disk": "writes files up to the limit of each, as there is none of a folder",
    "refuses": "right where it answers, and says of each option that it is hard; the certificate "
    "says how much applies",
}
