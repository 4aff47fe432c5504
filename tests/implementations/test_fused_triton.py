"""The kernels in Triton: judged in its interpreter, and compiled for a GPU without having one."""

import os
import subprocess
import sys

import pytest

triton = pytest.importorskip("triton")
pytestmark = pytest.mark.triton

# How often the language is looked through in a call, before and after it is told to look once.
LOOKS = """
import torch
from implementations.fused_triton import attend
from spec.backends.interpreting import quicken
from triton.runtime import interpreter

looks, whole = [], interpreter._patch_lang

def counted(function):
    looks.append(function)
    return whole(function)

interpreter._patch_lang = counted
x = torch.randn(1, 2, 40, 16)
want = attend(x, x, x)
print(len(looks))
quicken()
looks.clear()
assert torch.equal(attend(x, x, x), want)
print(len(looks))
"""

# How often the kernels are asked while it is found out what they answer.
ASKED = """
from functools import wraps
from implementations.fused_triton import attend
from spec.certification.target.loading import record
from spec.certification.target.probing import probed

asked = []

@wraps(attend)
def counted(*arrays, **options):
    asked.append(options)
    return attend(*arrays, **options)

found = record(counted).but(dtypes=("float32",))
asked.clear()
assert probed(found).by_dtype["float32"].answers == found.answers
print(len(asked))
"""


def interpreted(*words):
    """What a program says that runs kernels in Triton's interpreter."""
    named = {**os.environ, "TRITON_INTERPRET": "1"}
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env=named, check=False
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_kernels_are_attention(dtype):
    asked = "--dtype", dtype, "--profile", "quick", "--call-timeout", "120"
    done = interpreted("-m", "spec", "certify", "tests.targets.interpreted:attend", *asked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "refused" not in done.stdout  # what an interpreter of another version cannot run


def test_a_kernel_that_is_called_finds_its_language_replaced():
    done = interpreted("-c", LOOKS)
    assert done.returncode == 0, done.stdout + done.stderr
    before, after = map(int, done.stdout.split())
    assert before > 100
    assert after < 10


def test_who_is_interpreted_is_asked_about_all_kinds_at_once():
    done = interpreted("-c", ASKED)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) < 50


def test_the_kernels_compile_for_a_gpu_that_is_not_here():
    named = {k: x for k, x in os.environ.items() if k != "TRITON_INTERPRET"}
    program = [sys.executable, "-m", "tests.compiled_triton"]
    done = subprocess.run(program, capture_output=True, text=True, env=named, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "32 kernels compile for sm_90" in done.stdout
