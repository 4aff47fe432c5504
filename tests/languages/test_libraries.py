"""Functions of C: what they are given in memory, and what becomes of wrong ones."""

import numpy as np
import pytest

from spec.runner.errors import Absent
from spec.runner.foreign import foreign
from spec.runner.foreign.signatures import ProtocolError
from spec.runner.memory import FORMATS, name_of_format
from tests.languages.conftest import needs
from tests.shell import FEW, NO_CAUSES, run

pytestmark = needs("cc")
SIGNATURE = 'ATTENTION_SIGNATURE({}, "(query, key=None, scale=0.5, size=None, causal=False)");\n'
BODY = "int {}(attention_call *call) {{ {} }}\n"
X = np.arange(12, dtype=np.float32).reshape(3, 4)

TOLD = """
    const attention_array *q = attention_find(call, "query");
    const int64_t shape[] = {7};
    attention_array *out = attention_result(call, ATTENTION_FLOAT64, 1, shape);
    double *told = out->data;
    told[0] = q->rank, told[1] = (double)q->strides[0], told[2] = (double)q->strides[1];
    told[3] = ((float *)q->data)[0], told[4] = attention_find(call, "key") != NULL;
    told[5] = attention_number(call, "scale", -1), told[6] = attention_number(call, "causal", -1);
    return ATTENTION_DONE;
"""


def made(library, name, body):
    return foreign(str(library(name, (SIGNATURE + BODY).format(name, name, body))))


def test_a_function_gets_arrays_as_they_lie_in_memory_and_options_that_are_set(library):
    told = made(library, "told", TOLD)
    assert told(X).tolist() == [2, 16, 4, 0, 0, -1, -1]
    assert told(X, X, scale=2.0, causal=True).tolist() == [2, 16, 4, 0, 1, 2, 1]
    assert told(X.T, scale=0.5).tolist() == [2, 4, 16, 0, 0, -1, -1]
    assert told(X[::-1, 1:]).tolist() == [2, -16, 4, 9, 0, -1, -1]
    expanded = np.broadcast_to(X[2:, 3:], (5, 2))
    assert told(expanded).tolist() == [2, 0, 0, 11, 0, -1, -1]


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ('return attention_refused(call, "no\\nmasks");', NotImplementedError, "^no masks$"),
        ("return 7;", RuntimeError, "the function returned 7, without a message"),
        ("return ATTENTION_DONE;", ProtocolError, "the function made no result"),
        ("call->result(call, 9, 0, NULL); return 0;", ProtocolError, "a result of format 9"),
        (
            "const int64_t x[] = {-1}; attention_result(call, 1, 1, x); return 0;",
            ProtocolError,
            r"format 1, shape \[-1\]",
        ),
        (
            "for (int i = 0; i < 20; i++) attention_result(call, 1, 0, NULL); return 0;",
            ProtocolError,
            "more than 16 results",
        ),
    ],
)
def test_a_function_without_a_result_says_why(body, kind, said, library):
    wrong = made(library, f"wrong_{abs(hash(body))}", body)
    with pytest.raises(kind, match=said):
        wrong(X)


def test_bits_of_a_format_that_numpy_does_not_have_reach_the_function(library):
    body = """
        const attention_array *q = attention_find(call, "query");
        attention_array *out = attention_result(call, q->format, q->rank, q->shape);
        memcpy(out->data, q->data, 2);
        return q->format == ATTENTION_BFLOAT16 ? ATTENTION_DONE : ATTENTION_ERROR;
    """
    same = made(
        library, "same", f'{body} }}\nATTENTION_FORMATS(same, "bfloat16"); int x(void) {{ return 0;'
    )
    x = np.array([0x3F80], FORMATS["bfloat16"])
    assert same(x).view("u2").tolist() == [0x3F80]
    assert name_of_format(same(x).dtype) == "bfloat16"
    with pytest.raises(NotImplementedError, match="takes bfloat16, and no float32"):
        same(X)


def test_a_library_without_the_function_says_what_it_has(library):
    two = "".join((SIGNATURE + BODY).format(name, name, "return 1;") for name in ("one", "two"))
    path = library("several", two + 'ATTENTION_SIGNATURE(two_lse, "(query)");')
    with pytest.raises(Absent, match=r"no three_signature, .*; it has one, two$"):
        foreign(f"{path}:three")
    with pytest.raises(Absent, match="two_lse_signature and no function two_lse"):
        foreign(f"{path}:two")
    with pytest.raises(Absent, match="it has one, two"):
        foreign(str(path))
    assert foreign(f"{path}:one").__name__ == "one"


def test_what_is_no_library_says_so(tmp_path):
    (tmp_path / "mine.so").write_text("text")
    with pytest.raises(Absent, match=r"mine\.so cannot be loaded: file too short"):
        foreign(f"{tmp_path / 'mine.so'}:attend")


@pytest.mark.slow
def test_a_function_that_kills_its_process_is_a_verdict(library):
    body = "*(volatile int *)8 = 1; return 0;"
    text = 'ATTENTION_SIGNATURE(attend, "(query, key, value)");\n' + BODY.format("attend", body)
    path = library("fatal", text)
    words = ("--clause", "A1", *NO_CAUSES)
    done = run("certify", f"./{path.name}:attend", *FEW, *words, cwd=path.parent)
    assert done.returncode in (1, 3), done.stdout + done.stderr
    assert "SIGSEGV" in done.stdout
