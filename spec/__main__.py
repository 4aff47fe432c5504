"""`python -m spec`: certify an implementation, read the clauses, compare two certificates."""

import sys

from spec.certification.command_line import main

if __name__ == "__main__":
    sys.exit(main())
