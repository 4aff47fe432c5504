"""The GPU that works in this process: its name, and the versions that its answers depend on."""

import re
import sys
from pathlib import Path

DRIVER = Path("/proc/driver/nvidia/version")


def at_work() -> str:
    """The GPU that torch uses, its CUDA and its driver in one line; empty where it uses none.

    A process knows of a GPU once it has put an array there, so nothing is imported or started here.
    """
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return ""
    return f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}{_driver()}"


def _driver() -> str:
    """The version of the GPU's driver, behind a comma, if Linux says it."""
    try:
        found = re.search(r"\d+(\.\d+)+", DRIVER.read_text(encoding="utf-8"))
    except OSError:
        return ""
    return f", driver {found[0]}" if found else ""
