"""`python -m implementations.classifier`."""

import sys
from importlib.util import find_spec

NEEDED = ("torch", "tokenizers", "tqdm")


def main() -> int:
    """Run the command line, or print which packages are missing and return 2."""
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        words = f"{', '.join(absent)} cannot be found: pip install {' '.join(absent)}"
        print(f"error: {words}", file=sys.stderr)
        return 2
    from implementations.classifier.command_line import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
