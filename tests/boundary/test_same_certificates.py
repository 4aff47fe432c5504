"""A target in a runner has the certificate that it has in the process of its judge.

Runners import nothing of the specification, so the targets are copies of files of this project.
"""

import json
import re
import shutil

import pytest

from spec.certification.judging.apart import NOTE
from tests.shell import FEW, run
from tests.walked import ROOT

BESIDE = {"seconds", "versions", "command", "source", "timings"}  # differ from run to run
FILES = ("arguments", "summed", "dense", "alibi", "merging", "dropout", "feed_forward", "rotary")
OURS = [
    (re.compile(r"from spec\.notation import Array"), "from numpy import ndarray as Array"),
    (re.compile(r"from implementations\.(\w+) import"), r"from \1 import"),
    (re.compile(r"from implementations import"), "import"),
]
WRONG = """
import dense

def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    out = dense.attend(query, key, value, attn_mask, is_causal, scale)
    return out * out.dtype.type(1.5) if is_causal else out

def late(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return attend(query, key, value, attn_mask, is_causal, scale).astype("float64")

class NoCache:
    def __init__(self, batch, key_heads, width, value_width, dtype):
        self.calls = 0

    def extend(self, query, key, value):
        return value[:, :1].repeat(query.shape[1], axis=1)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("targets")
    for name in FILES:
        text = (ROOT / "implementations" / f"{name}.py").read_text()
        for ours, theirs in OURS:
            text = ours.sub(theirs, text)
        (found / f"{name}.py").write_text(text)
    (found / "wrong.py").write_text(WRONG)
    shutil.copy(ROOT / "examples" / "kv_cache.py", found)
    return found


def judged(folder, isolation, target, *words):
    """The exit code, and the certificate but for what differs from run to run."""
    told = ("--isolation", isolation, "--json", f"{isolation}.json")
    done = run("certify", target, *FEW, *words, *told, cwd=folder)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = json.loads((folder / f"{isolation}.json").read_text())
    found["notes"] = [x for x in found["notes"] if x != NOTE]
    for verdict in found["verdicts"]:  # the smallest call that raises is sought for a short time
        verdict.pop("script", None)
    return done.returncode, without(found)


def without(x, names=BESIDE):
    """A certificate without what differs from run to run."""
    if isinstance(x, dict):
        return {name: without(y, names) for name, y in x.items() if name not in names}
    return [without(y, names) for y in x] if isinstance(x, list) else x


def same(folder, *words, but=()):
    """The certificate of a target, which is the same in both ways, and its exit code."""
    code, found = judged(folder, "process", *words)
    there, want = judged(folder, "fork", *words)
    found, want = without(found, but), without(want, but)
    assert {name for name in want if found.get(name) != want[name]} == set()
    assert (found, code) == (want, there)
    return code, found


@pytest.mark.quick("dense*", "kv_cache*", "merging*")
@pytest.mark.parametrize(
    ("target", "kind", "clauses"),
    [
        ("dense.py:attend", "attention", "A1,T3"),
        ("kv_cache.py:Cache", "cache", "C16,C17,C18"),
        ("merging.py:merge", "merging", "Q1,Q2,Q9"),
        ("dropout.py:attend", "dropout", "D1,D2,D3"),
        ("feed_forward.py:feed_forward", "feed-forward", "F1,F2,F9"),
        ("rotary.py:rotate", "rotary", "R14,R15,R20"),
        ("alibi.py:bias", "alibi", "R31,R32,R33"),
    ],
)
def test_what_is_right_is_certified_in_the_same_words(target, kind, clauses, folder):
    code, found = same(folder, target, "--kind", kind, "--clause", clauses)
    assert code == 0
    assert found["passed"]
    assert "holds" in {verdict["outcome"] for verdict in found["verdicts"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "clauses", "cause"),
    [("wrong.py:attend", "A1", "causal"), ("wrong.py:late", "A1", "dtype")],
)
def test_what_is_wrong_has_the_same_causes(target, clauses, cause, folder):
    """But for a script in which a result is cast: that of a runner names what it compares."""
    cast = {"script"} if cause == "dtype" else ()
    code, found = same(folder, target, "--clause", clauses, but=cast)
    assert code == 1
    assert cause in " ".join(one["sentence"] for one in found["causes"])
    assert found["causes"]


@pytest.mark.slow
def test_a_wrong_cache_has_the_same_causes(folder):
    """But for the script, which calls a cache in the judge's process alone, and else the clause."""
    code, found = same(folder, "wrong.py:NoCache", "--clause", "C16", but={"script"})
    assert code == 1
    assert found["causes"]


@pytest.mark.slow
@pytest.mark.torch
def test_a_function_of_torch_has_the_same_certificate(folder):
    target = "torch.nn.functional:scaled_dot_product_attention"
    code, _ = same(folder, target, "--clause", "A1")
    assert code == 0


@pytest.mark.slow
@pytest.mark.torch
def test_a_layer_of_torch_has_the_same_certificate(folder):
    code, _ = same(folder, "torch.nn:MultiheadAttention", "--clause", "L1")
    assert code == 0
