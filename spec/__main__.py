"""`python -m spec`: certify an implementation, read the clauses, compare two certificates."""

import gc
import sys

from .certification.starting import ahead, dismiss  # whatever this package is called


def main() -> int:
    """Run the command line, while the process that it will need is on its way."""
    if sys.argv[1:2] == ["certify"] and not {"-h", "--help"} & {*sys.argv}:
        ahead()
    try:
        gc.disable()  # to import makes no garbage
        from .certification.command_line import main as run

        gc.enable()
        return run()
    finally:
        dismiss()


if __name__ == "__main__":
    sys.exit(main())
