"""Submissions in the forms of contests are graded as they are."""

import inspect
import json
import sys

import pytest

from spec import grade
from spec.backends import Unsuitable
from spec.certification import solutions
from spec.runner.contests import DEFINITION, _slots, adapted
from tests.shell import run

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(sys.platform != "linux", reason="runners need Linux"),
]
WAYS = ("--diagnosis-timeout", "1")
BENCH = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, added):
        super().__init__()
        self.added = added

    def forward(self, Q, K, V):
        return nn.functional.scaled_dot_product_attention(Q, K, V)

class ModelNew(nn.Module):
    def __init__(self, added):
        super().__init__()
        self.added = added

    def forward(self, Q, K, V):
        scores = Q @ K.mT * Q.shape[-1] ** -0.5
        return torch.softmax(scores + self.added, -1) @ V

def get_inputs():
    return [torch.rand(2, 4, 8, 16) for _ in range(3)]

def get_init_inputs():
    return [0.0]
"""
CONTEST = """
import torch
from task import input_t, output_t

def custom_kernel(data: input_t) -> output_t:
    q, k, v = data
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v
"""
RAGGED = """
import torch
from weights import weights

def run(q, k, v, qo_indptr, kv_indptr, sm_scale, output, lse):
    assert q.shape[1:] == (4, 64) and k.shape[1:] == v.shape[1:] == (2, 64)
    output.zero_()
    lse.fill_(-torch.inf)
    for i in range(len(qo_indptr) - 1):
        queries = slice(int(qo_indptr[i]), int(qo_indptr[i + 1]))
        keys = slice(int(kv_indptr[i]), int(kv_indptr[i + 1]))
        kk, vv = (x[keys].repeat_interleave(2, 1).float() for x in (k, v))
        scores = torch.einsum("nhd,mhd->hnm", q[queries].float(), kk) * sm_scale
        N, M = scores.shape[1:]
        seen = torch.ones(N, M, dtype=torch.bool).tril(DIAGONAL)
        a = weights(scores.masked_fill(~seen, -torch.inf))
        output[queries] = torch.einsum("hnm,mhe->nhe", a, vv).to(output.dtype)
"""
WEIGHTS = (
    "import torch\n\ndef weights(scores):\n    return torch.softmax(scores, -1).nan_to_num()\n"
)
ROWS = {"q": "total_q", "k": "total_kv", "v": "total_kv"}
NAMED = {
    "name": "gqa_ragged_prefill_causal_h4_kv2_d64",
    "op_type": "gqa_ragged",
    "axes": {
        **{name: {"type": "var"} for name in ("total_q", "total_kv", "len_indptr")},
        "heads": {"type": "const", "value": 4},
        "groups": {"type": "const", "value": 2},
        "width": {"type": "const", "value": 64},
    },
    "inputs": {
        **{
            x: {"shape": [rows, "heads" if x == "q" else "groups", "width"], "dtype": "bfloat16"}
            for x, rows in ROWS.items()
        },
        **{x: {"shape": ["len_indptr"], "dtype": "int32"} for x in ("qo_indptr", "kv_indptr")},
        "sm_scale": {"shape": None, "dtype": "float32"},
    },
    "outputs": {
        "output": {"shape": ["total_q", "heads", "width"], "dtype": "bfloat16"},
        "lse": {"shape": ["total_q", "heads"], "dtype": "float32"},
    },
}


def solution(text, **spec):
    how = {"language": "python", "target_hardware": ["cpu"], "entry_point": "src/main.py::run"}
    texts = {"src/main.py": text, "src/weights.py": WEIGHTS}
    sources = [{"path": path, "content": content} for path, content in texts.items()]
    return {"name": "one", "definition": NAMED["name"], "spec": how | spec, "sources": sources}


@pytest.fixture
def graded(tmp_path):
    def get(*words):
        done = run("grade", *words, "--profile", "quick", *WAYS, cwd=tmp_path)
        return json.loads(done.stdout)

    return get


@pytest.mark.slow
def test_a_model_of_kernelbench(graded, tmp_path):
    (tmp_path / "bench.py").write_text(BENCH)
    page = graded("bench.py:ModelNew", "--dtype", "float32", "--require", "gradients")
    assert page["verdict"] == "certified"
    assert (page["name"], page["kind"]) == ("ModelNew", "attention")
    assert page["calls"] == []


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "verdict"), [("0.5", "certified"), ("0.25", "not certified")])
def test_a_custom_kernel(wrong, verdict, graded, tmp_path):
    (tmp_path / "submission.py").write_text(CONTEST.replace("0.5", wrong))
    page = graded("submission.py", "--dtype", "float32")
    assert page["verdict"] == verdict


@pytest.mark.slow
@pytest.mark.parametrize(("diagonal", "verdict"), [("M - N", "certified"), ("0", "not certified")])
def test_a_solution_with_its_definition(diagonal, verdict, graded, tmp_path):
    (tmp_path / "definition.json").write_text(json.dumps(NAMED))
    told = solution(RAGGED.replace("DIAGONAL", diagonal))
    (tmp_path / "solution.json").write_text(json.dumps(told))
    page = graded("solution.json", "--definition", "definition.json")
    assert page["verdict"] == verdict
    assert page["formats"] == ["bfloat16"]
    assert {*page["hashes"]["loaded"]} == {"main.py", "weights.py"}
    assert "grade solution.json --definition definition.json" in page["repeat"]
    assert "--where" not in page["repeat"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"definition": "gemm"}, "is for 'gemm', not 'gqa_ragged"),
        ({"spec": {"language": "cuda"}}, "is in cuda: only python and triton"),
        ({"sources": [{"path": "../up.py", "content": ""}]}, "does not lie below"),
        ({"sources": [{"path": "/up.py", "content": ""}]}, "does not lie below"),
        ({"sources": [{"content": ""}]}, "no solution of FlashInfer-Bench: KeyError"),
        ({"sources": 3}, "has no sources"),
    ],
)
def test_what_is_no_solution(change, why, tmp_path):
    files = {"definition": NAMED, "solution": solution(RAGGED) | change}
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    solved, asked = (str(tmp_path / f"{name}.json") for name in ("solution", "definition"))
    with pytest.raises(Unsuitable, match=why):
        grade(solved, definition=asked)
    assert not (tmp_path.parent / "up.py").exists()


def test_options_of_a_definition(tmp_path):
    file = tmp_path / "definition.json"
    file.write_text(json.dumps(NAMED))
    assert solutions.asked(str(file))["conventions"] == {
        "gradients": "none",
        "causality": "always",
        "causal": "bottom-right",
    }
    assert solutions.asked(str(file))["where"] == "D <= 64 and E <= 64"
    file.write_text(json.dumps(NAMED | {"name": "gqa_ragged_prefill"}))
    assert solutions.asked(str(file))["conventions"] == {"gradients": "none"}


@pytest.mark.slow
def test_calls_of_torch_are_told(graded, tmp_path):
    (tmp_path / "bench.py").write_text(BENCH)
    page = graded("bench.py:Model", "--dtype", "float32")
    assert "aten::scaled_dot_product_attention" in page["calls"]


def test_a_model_is_made_once_as_its_file_makes_it():
    made = []

    class Model:
        def __init__(self, *given):
            made.append(given)

        def forward(self, Q, K, V, causal=False):
            return Q, K, V, causal

        __call__ = forward

    attend = adapted(Model, "Model", {"get_init_inputs": lambda: [1, 2]}, ".")
    assert [*inspect.signature(attend).parameters] == ["query", "key", "value", "causal"]
    assert attend(3, 4, 5) == (3, 4, 5, False)
    assert attend(3, 4, 5, causal=True) == (3, 4, 5, True)
    assert made == [(1, 2)]


def test_other_targets_stay_as_they_are(tmp_path):
    class ModelNew: ...

    def custom(data): ...

    (tmp_path / DEFINITION).write_text(
        json.dumps({"definition": NAMED, "spec": {"entry_point": ""}})
    )
    for one, name in ((ModelNew, "ModelNew"), (custom, "custom")):
        assert adapted(one, name, {}, str(tmp_path)) is one


def test_heads_have_places():
    assert [*_slots(6, 2, 2)] == [(0, [0, 1]), (0, [2]), (1, [3, 4]), (1, [5])]
    assert [*_slots(0, 0, 2)] == []
