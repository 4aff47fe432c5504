"""The kernels in Triton: judged in its interpreter, and compiled for a GPU without having one."""

import os
import subprocess
import sys

import pytest

triton = pytest.importorskip("triton")
pytestmark = pytest.mark.triton

# Kinds of section that go together; each is a process, which is told before it imports Triton.
SECTIONS = "A,V,K,B,P", "S,T", "M", "C,W", "U,Z", "Y,H", "I", "J", "X"


def interpreted(*words):
    """What a program says that runs kernels in Triton's interpreter."""
    named = {**os.environ, "TRITON_INTERPRET": "1"}
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env=named, check=False
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("sections", SECTIONS)
def test_the_kernels_are_attention(sections, dtype):
    target = "implementations.fused_triton:attend"
    asked = "--clause", sections, "--dtype", dtype, "--profile", "quick", "--patience", "120"
    done = interpreted("-m", "spec", "certify", target, *asked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "refused" not in done.stdout  # what an interpreter of another version cannot run


def test_the_kernels_compile_for_a_gpu_that_is_not_here():
    named = {k: x for k, x in os.environ.items() if k != "TRITON_INTERPRET"}
    program = [sys.executable, "-m", "tests.compiled_triton"]
    done = subprocess.run(program, capture_output=True, text=True, env=named, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 kernels compile for sm_90" in done.stdout
