"""A line about an exception names the shapes of the options that were tried."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from implementations import dense
from implementations.multihead import MultiHead
from spec import certify
from spec.backends.shapes import in_letters, raised_for
from spec.certification.ledger.remarks import remarks
from tests.shell import FEW, run

OF_KEYS = """
import numpy as np

def attend(query, key, value, mask=None):
    s = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1], dtype=query.dtype)
    if mask is not None:
        assert mask.shape == (len(query), key.shape[2]), "mask must be (batch, keys)"
        s = np.where(mask[:, None, None, :], s, -1e30).astype(query.dtype)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ value
"""
LINE = (
    "unsupported: a boolean mask [float32]: AssertionError: mask must be (batch, keys); "
    "raised for mask (B, 1, 1, M), (B, H, N, M), (N, M); accepted (B, M)\n"
)
OTHER = "raised for mask (B, H, N, M), (N, M), (B, 1, N, M)\n"


def test_a_mask_of_other_axes_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OF_KEYS)
    done = run("certify", "mine.py:attend", *FEW, "--clause", "A1", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert LINE in done.stdout
    assert OTHER in done.stdout


def few(target: Any, number: str) -> str:
    found = certify(target, profile="quick", dtypes=("float32",), clauses=(number,), fail_fast=True)
    return remarks(found)


def test_other_options_and_long_messages_keep_their_shapes() -> None:
    def attend(query: Any, key: Any, value: Any, attn_mask: Any = None, sinks: Any = None) -> Any:
        if sinks is not None or attn_mask is not None:
            raise ValueError(" ".join(["too many words"] * 40))
        return dense.attend(query, key, value)

    said = few(attend, "A1")
    assert "[...]; raised for sinks (H)\n" in said
    assert "[...]; raised for attn_mask (B, 1, 1, M), (B, H, N, M), (N, M)\n" in said
    assert "(B, M)" not in said


class OfOneSequence(MultiHead):
    """Raises exceptions for padding and for masks of heads."""

    def __call__(self, *inputs: Any, attn_mask: Any = None, key_padding_mask: Any = None) -> Any:
        assert key_padding_mask is None, "no padding"
        assert attn_mask is None or attn_mask.ndim == 2, "want (N, M)"
        return super().__call__(*inputs, attn_mask=attn_mask)


def test_masks_of_a_layer_are_named() -> None:
    said = few(OfOneSequence, "L1")
    assert "AssertionError: no padding; raised for key_padding_mask (B, M)\n" in said
    assert "AssertionError: want (N, M); raised for attn_mask (B*H, N, M)" in said


SIZES = {"B": 2, "H": 3, "N": 4, "M": 4}


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((2, 3, 4, 4), "(B, H, N, M)"),
        ((2, 1, 1, 4), "(B, 1, 1, M)"),
        ((4, 4), "(N, M)"),
        ((2, 4), "(B, M)"),
        ((6, 4, 4), "(B*H, N, M)"),
        ((3,), "(H)"),
        ((7, 4), "(7, M)"),
        ((), "()"),
    ],
)
def test_a_shape_has_letters(shape: tuple[int, ...], text: str) -> None:
    assert in_letters(np.empty(shape).shape, SIZES) == text


def test_options_that_were_given_together_are_named_together() -> None:
    tried = [{"mask": "(N, M)", "sinks": "(H)"}, {"mask": "(B, 1, 1, M)", "sinks": "(H)"}, {}]
    assert raised_for(tried) == "; raised for mask (N, M), (B, 1, 1, M) with sinks (H)"
    assert not raised_for([{}])
