"""What `assert_attention` says when it fails: how many elements, which one, and what would help."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spec import assert_attention
from spec.attention.mistakes import MISTAKES
from spec.attention.mistakes.causality import lets_the_last_query_see_the_last_key as last
from tests.shell import environment

Q, K = np.ones((2, 3, 5, 4)), np.arange(84.0).reshape(1, 3, 7, 4).repeat(2, axis=0) % 5
TEST = """\
import numpy as np
from attention_spec import assert_attention

def test_it():
    q = np.ones((1, 1, 2, 2))
    assert_attention(q + 1, q, q, q)

def test_scale():
    q = np.arange(8.0).reshape(1, 1, 4, 2) / 8
    e = np.exp(q @ q.swapaxes(-1, -2))
    assert_attention(e / e.sum(-1, keepdims=True) @ q, q, q, q)

def test_shape():
    q = np.ones((1, 1, 2, 2))
    assert_attention(q[:, :, :0], q, q, q)
"""


def test_it_counts_elements_and_names_the_convention() -> None:
    assert last in {m.target for m in MISTAKES.values()}
    with pytest.raises(AssertionError) as caught:
        assert_attention(last(Q, K, K, is_causal=True), Q, K, K, is_causal=True)
    advice, _, wrong = str(caught.value).partition("; otherwise ")
    assert advice == 'correct with conventions={"causal": "bottom-right"}'
    count, _, rest = wrong.partition(" of 120 elements are wrong; the worst is at (")
    assert 0 < int(count) <= 120
    assert "want" in rest


def test_a_single_element_is_counted() -> None:
    out = last(Q, K, K)
    out[1, 2, 3, 0] += 1
    with pytest.raises(AssertionError, match=r"^1 of 120 elements are wrong; .* at \(1, 2, 3, 0\)"):
        assert_attention(out, Q, K, K)


def test_another_shape_is_said_as_it_is() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_attention(Q[:1], Q, K, K)
    assert "elements are wrong" not in str(caught.value)


@pytest.mark.parametrize("name", ["mask", "attn_mask", "bias"])
def test_a_mask_of_integers_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="a mask of integers is ambiguous"):
        assert_attention(Q, Q, K, K, **{name: np.ones((5, 7), dtype=int)})


def test_pytest_shows_the_line_of_the_test_alone(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TEST)
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    given = {"capture_output": True, "text": True, "check": False, "env": environment(sys.path)}
    done = subprocess.run(words, cwd=tmp_path, **given)  # type: ignore[call-overload]
    assert done.returncode == 1
    assert "4 of 4 elements are wrong" in done.stdout
    assert "assertion.py" not in done.stdout
    assert "comparison.py" not in done.stdout
    lines = done.stdout.splitlines()
    assert len(lines) <= 50
    (line,) = [x for x in lines if x.startswith("FAILED test_it.py::test_scale - ")]
    assert line[:80].partition(" - ")[2].startswith("AssertionError: correct with scale=1.0")


def test_rows_of_fully_masked_queries_have_their_convention() -> None:
    """With bottom-right alignment and fewer keys than queries, a row is fully masked."""
    chance = np.random.default_rng(0)
    q, k, v = (chance.standard_normal((2, 2, n, 3)) for n in (6, 4, 4))
    scores = np.where(np.tri(6, 4, -2, dtype=bool), q @ k.swapaxes(-1, -2) / np.sqrt(3), -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(scores - scores.max(-1, keepdims=True))
    out = e / e.sum(-1, keepdims=True) @ v
    both = {"causal": "bottom-right", "fully-masked": "nan"}
    assert_attention(out, q, k, v, is_causal=True, conventions=both)
    mean = np.where(np.isnan(out), v.mean(-2, keepdims=True), out)
    uniform = {**both, "fully-masked": "uniform"}
    assert_attention(mean, q, k, v, is_causal=True, conventions=uniform)
    for given, named in (
        ({}, 'conventions={"causal": "bottom-right", "fully-masked": "nan"}'),
        ({"causal": "bottom-right"}, 'conventions={"fully-masked": "nan"}'),
        ({"fully-masked": "nan"}, 'conventions={"causal": "bottom-right"}'),
    ):
        with pytest.raises(AssertionError) as caught:
            assert_attention(out, q, k, v, is_causal=True, conventions=given)
        assert str(caught.value).startswith(f"correct with {named}; otherwise ")


@pytest.mark.parametrize("given", [None, "boolean", "added"])
def test_a_key_padding_mask_is_one_of_keys_alone(given: str | None) -> None:
    """True is padding, as in PyTorch; a mask that is given as well still counts."""
    padding = np.arange(7) >= np.array([[7], [4]])
    masks = {"boolean": np.tri(5, 7, 2, dtype=bool), "added": K[0, :1, :5, :1] / 8}
    mask = masks.get(given or "")
    seen = ~padding[:, None, None, :] & (mask if given == "boolean" else True)
    scores = Q @ K.swapaxes(-1, -2) / 2 + (mask if given == "added" else 0)
    e = np.where(seen, np.exp(scores - scores.max(-1, keepdims=True)), 0)
    out = e / e.sum(-1, keepdims=True) @ K
    options = {} if mask is None else {"attn_mask": mask}
    assert_attention(out, Q, K, K, key_padding_mask=padding, **options)
    with pytest.raises(AssertionError):
        assert_attention(out, Q, K, K, **options)
    with pytest.raises(AssertionError) as caught:
        assert_attention(out, Q, K, K, key_padding_mask=~padding, **options)
    advice = "correct with key_padding_mask=~key_padding_mask; otherwise "
    assert str(caught.value).startswith(advice)


def test_a_key_padding_mask_of_torch_is_taken_and_others_are_not() -> None:
    torch = pytest.importorskip("torch")
    padding = torch.arange(7) >= torch.tensor([[7], [4]])
    q, k = torch.tensor(Q), torch.tensor(K)
    seen = ~padding[:, None, None, :]
    out = torch.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=seen)
    assert_attention(out, q, k, k, key_padding_mask=padding)
    with pytest.raises(TypeError, match="a key_padding_mask is booleans, where True is padding"):
        assert_attention(out, q, k, k, key_padding_mask=padding.double())
    with pytest.raises(ValueError, match=r"is \(B, M\), here \(2, 7\), not \(7,\)"):
        assert_attention(out, q, k, k, key_padding_mask=padding[0])


def test_a_convention_that_only_widens_the_bound_makes_nothing_correct() -> None:
    q = np.random.default_rng(0).normal(size=(1, 2, 6, 4)).astype(np.float32)
    s = q.astype(float) @ q.swapaxes(-1, -2) / 2
    e = np.exp(s - s.max(-1, keepdims=True))
    out = (e / e.sum(-1, keepdims=True) @ q).astype(np.float32)
    assert_attention(out, q, q, q)
    with pytest.raises(AssertionError) as caught:
        assert_attention(out + np.float32(1e-5), q, q, q)
    assert not str(caught.value).startswith("correct with ")
    assert "; otherwise 48 of 48 elements are wrong" in str(caught.value)


def test_an_output_has_no_fewer_bits_than_the_queries() -> None:
    q = np.ones((1, 1, 2, 2), np.float32)
    assert_attention(q.astype(np.float64), q, q, q)
    with pytest.raises(AssertionError, match=r"^out is float16, and q is float32: if that is mea"):
        assert_attention(q.astype(np.float16), q, q, q)


def test_an_output_in_another_layout_is_compared_or_told() -> None:
    """Positions are those of the arrays that are handed over."""
    out = last(Q, K, K)
    swapped = [x.swapaxes(1, 2) for x in (out, Q, K, K)]
    assert_attention(*swapped, layout="blhd")
    with pytest.raises(ValueError, match=r"; they fit with layout='blhd'$"):
        assert_attention(*swapped)
    square = [x.swapaxes(1, 2) for x in (last(K, K, K), K, K, K)]
    with pytest.raises(AssertionError, match=r"^correct with layout='blhd'; otherwise"):
        assert_attention(*square)
    swapped[0] = swapped[0].copy()
    swapped[0][1, 4, 2, 3] += 1
    with pytest.raises(AssertionError, match=r"^1 of 120 .* at \(1, 4, 2, 3\): got"):
        assert_attention(*swapped, layout="blhd")


@pytest.mark.parametrize(("layout", "of"), [("hld", (0,)), ("lhd", (0,)), ("ld", (0, 0))])
def test_an_output_may_have_fewer_axes(layout: str, of: tuple[int, ...]) -> None:
    arrays = [x[of] for x in (last(Q, K, K), Q, K, K)]
    if layout == "lhd":
        arrays = [x.swapaxes(0, 1) for x in arrays]
    assert_attention(*arrays, layout=layout)
    with pytest.raises(ValueError, match=f"they fit with .*layout='{layout}'"):
        assert_attention(*arrays)


def test_the_convention_of_heads_or_of_a_mask_is_named() -> None:
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(1, 4, 5, 2)), rng.normal(size=(1, 2, 7, 2))
    tiled = np.tile(k, (1, 2, 1, 1))
    mask = rng.integers(2, size=(5, 7)) == 1
    mask[:, 0] = ~mask[:, 1]
    right = 'conventions={"grouping": "interleaved"}'
    with pytest.raises(AssertionError) as caught:
        assert_attention(last(q, tiled, tiled), q, k, k)
    assert str(caught.value).startswith(f"correct with {right}; otherwise ")
    assert_attention(last(q, tiled, tiled), q, k, k, conventions={"grouping": "interleaved"})
    with pytest.raises(AssertionError) as caught:
        assert_attention(last(q, tiled, tiled, ~mask), q, tiled, tiled, mask=mask)
    right = 'conventions={"mask-means": "forbid"}'
    assert str(caught.value).startswith(f"correct with {right}; otherwise ")


@pytest.mark.parametrize(
    ("out", "options", "line"),
    [
        (Q.astype(int), {}, "out is int64, want float64 or float32"),
        ((Q, Q), {}, "not tuple: pass the output alone, out[0]"),
        (Q, {"scale": "0.35"}, "a scale is a finite number, or None, not '0.35'"),
        (Q, {"layout": "bnhd"}, "unknown layout 'bnhd': choose from bhld, blhd"),
        (Q, {"q": Q * np.inf}, "q is inf at (0, 0, 0, 0): no bound can be derived"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_line(out, options, line) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        assert_attention(out, **{"q": Q, "k": K, "v": K, **options})
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
