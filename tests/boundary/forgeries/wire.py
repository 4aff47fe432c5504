"""The parts of the runner that a target finds in its own process, for the forgeries."""

import gc
import importlib
import os
import stat


def part(name):
    """A module of the runner, loaded if it is not yet."""
    return importlib.import_module(f"attention_runner.{name}")


def runner():
    """The runner itself."""
    return next(x for x in gc.get_objects() if type(x) is part("serve").Runner)


def socket():
    """The handle of the socket on which the judge asks."""
    for handle in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(handle).st_mode):
                return handle
        except OSError:
            continue
    raise OSError("no socket")


def answering(change):
    """Have the answer to each call of the target go through a function."""
    usual = part("serve").Runner.answer

    def answer(self, told):
        found = usual(self, told)
        return change(told, found) if told["do"] == "call" else found

    part("serve").Runner.answer = answer


def reached(what):
    """Say that something was possible that must not be."""
    print(f"REACHED {what}", flush=True)
