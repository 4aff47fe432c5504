"""`python -m spec`: certify an implementation, read the clauses, compare two certificates."""

import sys

from .certification.command_line import main  # whatever this package is called

if __name__ == "__main__":
    sys.exit(main())
