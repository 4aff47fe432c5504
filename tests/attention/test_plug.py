"""Ordinary functions as implementations: arguments, memory, dtypes, gradients, refusals."""

import functools
from dataclasses import replace

import numpy as np
import pytest
import torch

from spec.attention import definition
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.attention.plug.trials import core
from spec.backends import Unsuitable, inferred, known, library
from spec.backends.memory import laid_out, view_of
from spec.comparison import Violation
from spec.notation import DTYPES
from spec.subject import Refused
from tests import targets

pytestmark = pytest.mark.torch
MEMORIES = ("contiguous", "transposed", "strided", "offset", "expanded")
sdpa = torch.nn.functional.scaled_dot_product_attention


def near(got, want):
    assert got.shape == want.shape
    assert np.abs(got - want).max(initial=0) < 0.05  # right or wrong, not how exact


@pytest.mark.parametrize("memory", MEMORIES)
def test_every_memory_holds_the_same_numbers(memory):
    x = np.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    x[1] = x[0]
    for array in (x, x[0, 0], x > 17):
        laid = laid_out(array, memory)
        assert (view_of(laid.buffer, laid) == array).all()
        assert not np.shares_memory(laid.buffer, x)


def test_memories_differ_in_strides():
    x = np.ones((2, 3, 4, 5))
    strides = {memory: laid_out(x, memory).view().strides for memory in MEMORIES}
    assert len(set(strides.values())) == len(MEMORIES)
    assert strides["expanded"][:2] == (0, 0)


def test_poison_lies_beside_the_numbers():
    assert np.isnan(laid_out(np.ones((1, 1, 2, 3)), "strided").buffer).sum() == 6


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_in_every_dtype_and_memory(dtype, memory):
    record = implementation(sdpa)
    problem = core(dtype, H=6, G=2, E=3).but(
        mask=np.tri(4, 5, k=1, dtype=bool), scale=0.5, memory=memory
    )
    want = definition.gradients(problem)
    near(record.forward(problem), definition.attention(problem))
    found = record.backward(problem)
    for name in "qkv":
        near(getattr(found, name), getattr(want, name))
    (only,) = record.partial(problem, ("k",)).values()
    near(only, want.k)


def test_torch_differentiates_an_additive_mask():
    problem = core("float32").but(mask=np.linspace(-1, 1, 20).reshape(4, 5))
    want = definition.gradients(problem).bias.sum(axis=(0, 1))
    near(implementation(sdpa).bias_gradient(problem), want)


def test_the_cotangent_is_not_a_sum():
    problem = core("float32")
    zero = problem.but(dout=np.zeros(problem.dout.shape))
    assert not implementation(sdpa).backward(zero).v.any()


def test_the_callers_torch_is_as_it_was():
    before = (torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled())
    state = torch.random.get_rng_state()
    with torch.inference_mode():
        implementation(sdpa).backward(core("bfloat16"))
        assert torch.is_inference_mode_enabled()
    assert before == (torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled())
    assert torch.equal(state, torch.random.get_rng_state())


def test_a_call_tells_what_happened_to_the_inputs():
    call = implementation(targets.writes_to_its_input).call(core("float32"))
    assert call.changed == ("q",)
    assert call.dtype == "float32"
    view = implementation(lambda q, k, v: v[:, :, : q.shape[2]])  # noqa: ARG005
    assert view.call(core("float32")).aliased == ("v",)
    assert implementation(sdpa).call(core("float32")).aliased == ()
    same = implementation(lambda q, k, v: torch.relu_(q), backend="torch")  # noqa: ARG005
    assert same.call(core("float32")).aliased == ("q",)


def test_what_two_calls_leave_as_it_was_was_changed_by_the_first():
    """The call is watched twice, as its memory may be used again; a negation undoes itself."""

    def negates_a_mask(query, key, value, attn_mask=None):
        np.logical_not(attn_mask, out=attn_mask)
        return targets.right(query, key, value, attn_mask=~attn_mask)

    problem = core("float32").but(mask=np.tri(4, 5, k=2, dtype=bool))
    assert implementation(negates_a_mask).call(problem).changed == ("mask",)


def test_parameters_are_matched_by_name():
    def backwards(value, key, query):
        return targets.right(query, key, value)

    def short(q, k, v, mask=None, causal=False):
        return targets.right(q, k, v, mask, causal)

    def required(a, b, c, mask):
        return targets.right(a, b, c, mask)

    bound = functools.partial(targets.right, scale=0.5)
    problem = core("float64")
    for function in (backwards, short, required):
        near(
            implementation(function, backend="numpy").forward(problem),
            definition.attention(problem),
        )
    near(
        implementation(bound, backend="numpy").forward(problem),
        definition.attention(problem.but(scale=0.5)),
    )
    causal = problem.but(causal=True)
    near(implementation(short, backend="numpy").forward(causal), definition.attention(causal))


def test_a_missing_parameter_is_a_kind_not_offered():
    missing = {Capability.MASK, Capability.BIAS, Capability.CAUSAL, Capability.SCALE}
    assert not missing & implementation(targets.plain).offers
    assert missing <= implementation(sdpa).offers
    assert Capability.GRADIENTS not in implementation(targets.plain).offers
    assert Capability.GRADIENTS in implementation(targets.elementwise).offers


def test_layout_blhd_turns_arrays_around():
    def attend(q, k, v):
        assert q.shape == (2, 4, 3, 2)
        turned = (x.swapaxes(1, 2) for x in (q, k, v))
        return sdpa(*turned).swapaxes(1, 2)

    problem = core("float32")
    record = implementation(attend, layout="blhd", backend="torch")
    near(record.forward(problem), definition.attention(problem))
    near(record.backward(problem).k, definition.gradients(problem).k)


def test_layout_lbhd_has_the_length_before_the_batch():
    def attend(q, k, v):
        assert q.shape == (4, 2, 3, 2)
        turned = (x.permute(1, 2, 0, 3) for x in (q, k, v))
        return sdpa(*turned).permute(2, 0, 1, 3)

    problem = core("float32")
    record = implementation(attend, layout="lbhd", backend="torch")
    near(record.forward(problem), definition.attention(problem))
    near(record.backward(problem).k, definition.gradients(problem).k)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda q, k, v: v, "wrong shape: got (2, 3, 5, 2), want (2, 3, 4, 2)"),  # noqa: ARG005
        (lambda q, k, v: (q, None), "a tuple of 2, want an array of numpy"),  # noqa: ARG005
        (lambda q, k, v: q.astype(np.float64), "wrong dtype: got float64, want float32"),  # noqa: ARG005
        (lambda q, k, v: None, "None, want an array"),  # noqa: ARG005
    ],
)
def test_results_are_checked_before_their_numbers(function, words):
    with pytest.raises(Violation) as caught:
        implementation(function, backend="numpy").forward(core("float32"))
    assert words in str(caught.value)


def test_float64_in_float32_is_told_in_words():
    record = implementation(
        lambda q, k, v: targets.right(q, k, v).astype(np.float32), backend="numpy"
    )
    with pytest.raises(Violation, match=r"^float64 is computed in float32$"):
        record.forward(core("float64"))


def test_an_exception_is_a_refusal_in_its_own_words():
    with pytest.raises(Refused, match=r"^RuntimeError: out of luck$"):
        implementation(targets.refuses_everything).forward(core("float32"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtypes": ("bfloat16",)}, "the NumPy backend has no bfloat16"),
        ({"device": "cuda"}, "the NumPy backend has no device 'cuda'"),
        ({"layout": "hbld"}, "unknown layout 'hbld'"),
        ({"backend": "mlx"}, "unknown backend 'mlx'"),
    ],
)
def test_what_there_is_not(options, words):
    with pytest.raises(Unsuitable, match=words):
        implementation(targets.right, **options)


def test_no_cuda_device_is_said_in_one_line():
    if torch.cuda.is_available():
        assert implementation(sdpa, device="cuda").dtypes
        return
    with pytest.raises(Unsuitable, match="torch has no device 'cuda' here"):
        implementation(sdpa, device="cuda")


@pytest.mark.jax
def test_jax_by_vjp():
    import jax

    attend = jax.nn.dot_product_attention
    assert inferred(attend)[0] == "jax"
    record = implementation(attend, layout="blhd")
    for dtype in ("float64", "float32"):
        problem = core(dtype)
        near(record.forward(problem), definition.attention(problem))
        near(record.backward(problem).q, definition.gradients(problem).q)
    assert not jax.config.jax_enable_x64


def test_a_library_that_scripts_do_not_know_is_judged_without_them():
    """Nothing but the library itself has to be written for a new one."""
    other = replace(library("numpy"), name="other", dtypes=("float64",))
    with pytest.raises(Unsuitable, match="the other backend has no float32"):
        known(("float64", "float32"), other)
