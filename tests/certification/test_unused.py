"""What a target can be told and is not told here: its certificate names it."""

import functools

import pytest

from spec import certify
from spec.attention.plug import implementation
from spec.dropout.plug import dropout
from spec.layer.plug import layer
from spec.positions.rotary.plug import rotation
from tests import targets
from tests.shell import FEW, run
from tests.targets import layers

NOTE = "not tested: the parameter{}"


def attends(query, key, value, temperature=None, is_causal=False, *more, window=(-1, -1), **rest):  # noqa: ARG001
    return targets.right(query, key, value, None, is_causal)


class Pads(layers.MultiHead):
    """Two words more than torch's layer has."""

    def __init__(self, embed_dim, num_heads, bias=True, rotary_base=None):  # noqa: ARG002
        super().__init__(embed_dim, num_heads, bias)

    def __call__(self, query, key, value, need_weights=False, head_mask=None):  # noqa: ARG002
        return super().__call__(query, key, value)


def turns(x, positions, interleaved=False):  # noqa: ARG001
    return x


def drops(query, key, value, dropout_p=0.0, rng=None, window=None):  # noqa: ARG001
    return query


@pytest.mark.slow
def test_parameters_that_no_call_passes_are_named_in_a_line() -> None:
    options = {"dtypes": "float32", "profile": "quick", "clauses": "A1", "fail_fast": True}
    certificate = certify(attends, **options)  # type: ignore[arg-type]
    line = NOTE.format("s temperature, window")
    assert certificate.notes == (line,)
    shown = "not tested    the parameters temperature, window\n"
    assert shown in str(certificate)
    words = (*FEW, "--clause", "A1", "--fail-fast")
    done = run("certify", "tests.certification.test_unused:attends", *words)
    assert shown in done.stdout


def test_who_is_told_all_there_is_hears_of_nothing() -> None:
    bound = functools.partial(attends, temperature=None, window=(-1, -1))
    for function in (targets.right, bound):
        assert implementation(function, backend="numpy").notes == ()


def test_other_programs_name_theirs() -> None:
    assert layer(Pads, backend="numpy").notes == (NOTE.format("s rotary_base, head_mask"),)
    assert layer(layers.MultiHead, backend="numpy").notes == ()
    assert rotation(turns).notes == (NOTE.format(" interleaved"),)
    assert dropout(drops).notes == (NOTE.format(" window"),)


@pytest.mark.torch
def test_torch_has_dropout() -> None:
    import torch

    words = NOTE.format(" dropout_p (--kind dropout tests it)")
    assert implementation(torch.nn.functional.scaled_dot_product_attention).notes == (words,)
    words = NOTE.format("s dropout, add_bias_kv, add_zero_attn")
    assert layer(torch.nn.MultiheadAttention).notes == (words,)


@pytest.mark.parametrize(
    ("chosen", "in_vain"),
    [("M3", True), ("M3,A2", True), ("M3,S1", False), ("A1", False), ("A1,M3", False)],
)
def test_clauses_that_were_chosen_in_vain_are_named_first(chosen: str, in_vain: bool) -> None:
    found = certify("tests.targets:plain", clauses=chosen, profile="quick", dtypes="float32")
    said = "not tested    the chosen clauses: none but the definition applies to this target\n"
    assert found.passed
    assert (said in str(found)) is in_vain
