"""Golden certificates: what the judge says of some thousand targets, as one line each.

    python -m tests.golden                   judge all, and print the lines that are not as recorded
    python -m tests.golden --few             the fixed part; the quick tests judge some of it
    python -m tests.golden --part 2/4        a quarter of all, for four machines beside each other
    python -m tests.golden attention/ torch  those whose names begin so
    python -m tests.golden --record          write what was found to `certificates.txt`
    python -m tests.golden --show NAME       all that the two hashes of a line are made of, as JSON
    python -m tests.golden --moved REF       the lines that differ from those of a commit, to list
                                             in the message of the change that moves them

A change to the engine may move only the lines that its message lists.

The last bits of a sum depend on the instructions of a processor, and so does what a clause says of
a mistake whose error is about as large as its budget. So all are judged with the instructions that
every x86-64 processor has which knows AVX2 (`SAME`). The kernel of OpenBLAS 0.3.34 for these ends
the process where a sum is long (OpenMathLib/OpenBLAS#6026): NumPy 2.5 has it, and is given that for
AVX. The fixed part is the same with both.
"""

import numpy as np

from spec.certification.starting import THREADS

BROKEN = "0.3.34"  # of OpenBLAS, for AVX2
OF_BLAS = str(np.show_config(mode="dicts")["Build Dependencies"]["blas"].get("version"))

SAME = {  # environment variables of NumPy, OpenBLAS, torch, MKL and oneDNN; names of all versions
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL "
    "AVX512_SPR X86_V4",
    "OPENBLAS_CORETYPE": "Sandybridge" if OF_BLAS.startswith(BROKEN) else "Haswell",
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_CBWR": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    **dict.fromkeys(THREADS, "1"),
}
