"""The promises about speed, measured: `tox run -e bench`, or `python -m tests.bench`.

    python -m tests.bench certificates mistakes --record      and kept for the README

Times stand beside those of a plain loop that only calls the implementation on the
same problems, so that a slow machine does not look like slow code. Nothing here
is a test of what is right; it exits with 1 where a promise is broken.
"""

import argparse
import sys

from tests.bench import certificates, figures, growth, programs, scaling

PARTS = {
    "certificates": certificates.certificates,
    "libraries": certificates.libraries,
    "sections": certificates.sections,
    "growth": growth.growth,
    "scaling": scaling.scaling,
    "mistakes": programs.mistakes,
    "fused": programs.fused,
    "windows": programs.windows,
    "segments": programs.segments,
    "pages": programs.pages,
}


def main() -> int:
    """Measure the parts that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--record", action="store_true", help="for the table of the README")
    asked = parser.parse_args()
    kept = True
    for name in asked.parts or PARTS:
        for measured in PARTS[name]():
            kept &= measured.kept
            print(measured, flush=True)
            if asked.record:
                figures.record([measured])
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
