"""A script makes one plain call, of whatever kind the function is, where one call is wrong."""

import textwrap
import zlib

import numpy as np
import pytest

from spec import certify
from spec.certification.explaining.summing import summed
from spec.certification.explaining.tape import Tape
from tests import shell

# Functions of whoever has never heard of this specification, each with a fault.
ROTARY = """
    def rotate(x, positions, base=10000.0):
        n = x.shape[-1] // 2
        turn = positions[..., None] * base ** (-np.arange(n) / n)
        if turn.ndim == 3:
            turn = turn[:, None]
        cos, sin = np.cos(turn), np.sin(turn)
        even, odd = x[..., 0::2], x[..., 1::2]
        out = np.empty_like(x)
        out[..., 0::2], out[..., 1::2] = even * cos + odd * sin, odd * cos - even * sin
        return out
"""
SINUSOIDAL = """
    def add(x, first=0):
        N, E = x.shape[-2:]
        angle = (first + np.arange(N))[:, None] / 100.0 ** (2 * (np.arange(E) // 2) / E)
        table = np.where(np.arange(E) % 2, np.cos(angle), np.sin(angle))
        return x + table.astype(x.dtype)
"""
ALIBI = """
    def bias(heads, queries, keys, dtype=np.float64):
        slopes = 2.0 ** -np.arange(1, heads + 1)
        past = np.arange(keys - queries, keys)[:, None] - np.arange(keys)
        return (-slopes[:, None, None] * np.maximum(past, 0)).astype(dtype)
"""
NETWORK = """
    def network(x, W1, b1, W2, b2):
        return np.maximum(x @ W1 + b1, 0) @ W2 + b2

    def backward(dy, *arrays):
        x, W1, b1, W2, b2 = arrays
        h = x @ W1 + b1
        dz = dy @ W2.T
        flat = lambda y: y.reshape(-1, y.shape[-1])
        by_weights = (flat(x).T @ flat(dz), flat(dz).sum(0), flat(h).T @ flat(dy), flat(dy).sum(0))
        return dz @ W1.T, *by_weights

    network.backward = backward
"""
IN_TORCH = """
    import torch

    def network(x, W1, b1, W2, b2):
        return torch.nn.functional.gelu(x @ W1 + b1) @ W2 + b2
"""
GATELESS = """
    def network(x, W1, b1, W2, b2):
        return (x @ W1 + b1) @ W2 + b2
"""
CACHE = """
    class Cache:
        def __init__(self, batch, key_heads, width, value_width, dtype):
            self.k = np.zeros((batch, key_heads, 0, width), dtype)
            self.v = np.zeros((batch, key_heads, 0, value_width), dtype)

        def extend(self, query, key, value):
            self.k = np.concatenate([self.k, key], axis=2)
            self.v = np.concatenate([self.v, value], axis=2)
            k, v = (np.repeat(x, query.shape[1] // x.shape[1], axis=1) for x in (self.k, self.v))
            s = query @ k.swapaxes(-1, -2) / np.sqrt(np.array(query.shape[-1], query.dtype))
            e = np.exp(s - s.max(-1, keepdims=True))
            return e / e.sum(-1, keepdims=True) @ v

        def fork(self):
            return self

"""
WRONG = [
    ("rotary", "rotate", ROTARY, "rotate(x, positions)"),
    ("sinusoidal", "add", SINUSOIDAL, "add(x"),
    ("alibi", "bias", ALIBI, "bias("),
    ("feed-forward", "network", NETWORK, "network.backward(dy, arrays_0"),
    ("feed-forward", "network", GATELESS, "network(x, W1, b1, W2, b2)"),
    ("feed-forward", "x", GATELESS.replace("network", "x"), "x(x_, W1, b1, W2, b2)"),
    pytest.param(*("feed-forward", "network", IN_TORCH, "torch.tensor("), marks=pytest.mark.torch),
]


def written(folder, text):
    """The file of a module of which there is no other."""
    path = folder / f"{folder.name}_{zlib.crc32(text.encode())}.py"
    path.write_text("import numpy as np\n" + textwrap.dedent(text))
    return path


def code_of(folder, kind, name, text, how=None):
    """The script of the first cause, without what it says of itself."""
    target = f"{written(folder, text)}:{name}"
    certificate = certify(target, kind=kind, profile="quick", dtypes=("float32",), isolation=how)
    script = certificate.causes[0].counterexample.script
    (folder / "cause.py").write_text(script)
    return script.split('"""', 2)[2]


def repeated(folder):
    """The script in a process that knows no module of this repository."""
    return shell.run(program=("cause.py",), cwd=folder, path=[])


@pytest.mark.quick("alibi*")
@pytest.mark.parametrize(("kind", "name", "text", "call"), WRONG)
def test_a_wrong_call_is_all_that_a_script_makes(tmp_path, kind, name, text, call):
    code = code_of(tmp_path, kind, name, text)
    assert call in code
    assert "spec" not in code.replace(str(tmp_path), "")
    done = repeated(tmp_path)
    assert (done.returncode, done.stdout.split()[0]) == (1, "got"), done


@pytest.mark.deep
def test_the_calls_of_an_object_are_those_that_led_to_the_wrong_one(tmp_path):
    """A chunk that sees its own future, and a fork that is no other cache."""
    code = code_of(tmp_path, "cache", "Cache", CACHE)
    assert "\nmade = Cache(" in code
    assert code.count(".extend(") == 1
    assert repeated(tmp_path).returncode == 1
    one = CACHE.replace(
        "e = np.exp(s - s.max(-1, keepdims=True))",
        "past = np.tri(*s.shape[-2:], k=s.shape[-1] - s.shape[-2], dtype=bool); "
        "s = np.where(past, s, -np.inf); e = np.exp(s - s.max(-1, keepdims=True))",
    )
    code = code_of(tmp_path, "cache", "Cache", one)
    assert "made_2 = made.fork()\n" in code
    done = repeated(tmp_path)
    assert (done.returncode, done.stdout.split()[0]) == (1, "got"), done


def test_a_script_of_what_is_mended_ends_well(tmp_path):
    code_of(tmp_path, "rotary", "rotate", ROTARY)
    right = ROTARY.replace("even * cos + odd", "even * cos - odd")
    right = right.replace("odd * cos - even", "odd * cos + even")
    (path,) = tmp_path.glob("test_*.py")
    # As long as before and of the same second, Python would take it for what it had compiled.
    path.write_text("# mended\nimport numpy as np\n" + textwrap.dedent(right))
    assert repeated(tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("end", "shown"),
    [
        ("x += table.astype(x.dtype); return x", "share memory: True"),
        ("x += table.astype(x.dtype); return x.copy()", "x before"),
    ],
)
def test_a_call_that_touches_what_it_was_given_is_shown_to(tmp_path, end, shown):
    text = SINUSOIDAL.replace("100.0 **", "10000.0 **")
    text = text.replace("return x + table.astype(x.dtype)", end)
    code = code_of(tmp_path, "sinusoidal", "add", text)
    assert "spec" not in code.replace(str(tmp_path), "")
    done = repeated(tmp_path)
    assert (done.returncode, shown in done.stdout) == (1, True), done


@pytest.mark.quick("alibi-biases:takes*", "alibi-biases:lifts*")
@pytest.mark.parametrize(
    ("kind", "target", "line"),
    [
        ("alibi", "biases:takes_rows_from_the_start", "got = out[0, 0, 0] - out[0, 0, 1]"),
        ("alibi", "biases:lifts_biases_above_zero", " - out["),
        ("dropout", "factors:forgets_to_scale", "(q, k, v, rng=np.random.default_rng("),
        ("dropout", "factors:drops_in_evaluation", ".eval()"),
    ],
)
def test_a_relation_and_a_source_of_chance_are_plain_calls(tmp_path, kind, target, line):
    """A step from one bias to the next is no number of an answer, and yet a sum of some."""
    place = {"alibi": "spec.positions.alibi", "dropout": "spec.dropout"}[kind]
    target = f"{place}.mistakes.{target}"
    few = {"profile": "quick", "dtypes": ("float32",), "fail_fast": True}
    (failure,) = certify(target, kind=kind, **few).failures
    script = failure.counterexample.script
    assert line in script
    assert "rerun" not in script
    (tmp_path / "cause.py").write_text(script)
    done = shell.run(program=("cause.py",), cwd=tmp_path)
    assert (done.returncode, done.stdout.split()[0]) == (1, "got"), done


# It is wrong only once something of another width was asked.
REMEMBERED = "widths.add(x.shape[-1]); return out if len(widths) < 2 else 2 * out"
FORGETFUL = f"{SINUSOIDAL.replace('100.0 **', '10000.0 **')}\n    widths = set()\n".replace(
    "return x + table.astype(x.dtype)", f"out = x + table.astype(x.dtype); {REMEMBERED}"
)


@pytest.mark.slow
def test_what_is_not_repeated_by_one_call_is_not_told_by_one(tmp_path):
    assert "the clause itself is run" in code_of(tmp_path, "sinusoidal", "add", FORGETFUL, "none")
    done = repeated(tmp_path)  # it finds this repository from any folder
    assert (done.returncode, done.stderr, ": at (" in done.stdout) == (1, "", True), done


@pytest.mark.slow
def test_what_is_wrong_after_a_call_is_shown_after_it(tmp_path):
    target = f"{written(tmp_path, FORGETFUL)}:add"
    told = certify(target, kind="sinusoidal", profile="quick", dtypes=("float32",), isolate=True)
    (cause,) = told.causes
    assert "after a call with another E" in cause.sentence
    script = cause.counterexample.script
    assert script.count("add(x") == 2
    assert "rerun" not in script
    (tmp_path / "cause.py").write_text(script)
    assert repeated(tmp_path).returncode == 1


def test_a_sum_is_found_where_there_is_one_and_nowhere_else():
    right = np.array([[3.0, 1.0], [2.0, 5.0]])

    def by(law, want=0.0):
        def asked(x):
            return x, (np.asarray(law(x)), np.asarray(want), np.asarray(1e-9))

        return summed(asked, right)

    assert by(lambda x: x[0, 1] - x[1, 0]).text == "out[0, 1] - out[1, 0]"
    assert by(lambda x: x[1, 1] - 2).text == "out[1, 1] - 2.0"
    assert by(lambda x: x[0, 0] ** 2 + x[0, 1] ** 2).text == "out[0, 0]**2 + out[0, 1]**2"
    assert by(lambda x: x.sum() / 4).of(right) == 11 / 4
    assert by(lambda x: x[0, 1] * x[1, 0]) is None  # a product is no sum
    assert by(lambda x: x[0, 1] - x[1, 0], want=-1.0) is None  # and this one is right


def test_what_was_watched_is_of_its_own_class_again():
    class Shared:
        def extend(self):
            return np.zeros(1)

    shared, tape = Shared(), Tape()
    with tape:
        tape.of(lambda: shared)().extend()
        assert type(shared) is not Shared
    assert [call.name for call in tape.calls] == ["", ".extend"]
    assert type(shared) is Shared
    shared.extend()
    assert len(tape.calls) == 2
