"""An array is of the library's own type: one of a subclass answers for itself, and is refused."""

import numpy as np
import pytest

from spec.backends import library
from spec.backends.results import WrongArray, numbers, read
from spec.certification.doors import certify
from tests.targets import right

QUICK = {"profile": "quick", "clauses": ["A1"]}


class Lies(np.ndarray):
    """Says that it is of another format."""

    dtype = np.dtype("float16")


NUMPY = (
    lambda x: x.view(Lies),
    lambda x: np.ma.masked_array(x, mask=x > 0),
    lambda x: x.view(np.memmap),
    lambda x: x.view(np.recarray),
)


@pytest.mark.parametrize("made", NUMPY)
def test_a_subclass_of_an_array_of_numpy_is_none(made):
    lies = made(np.ones((2, 2)))
    name = f"{type(lies).__module__}.{type(lies).__qualname__}"
    want = f"the output is of type {name}, want numpy.ndarray itself and no subclass of it"
    with pytest.raises(WrongArray) as told:
        read(library("numpy", "cpu"), lies, (2, 2), "float64", "the output")
    assert str(told.value) == want


def attend(query, key, value):
    """Right, but that it returns float64 for float16, and says otherwise."""
    out = right(query, key, value)
    return out.astype(np.float64).view(Lies) if query.dtype == np.float16 else out


@pytest.mark.slow
def test_who_returns_one_is_refused():
    certificate = certify(attend, **QUICK, dtypes=["float32", "float16"])
    assert certificate.exit_code == 1
    assert "the output is of type tests.attention.test_own" in str(certificate)
    assert "want numpy.ndarray itself and no" in " ".join(str(certificate).split())


@pytest.mark.torch
def test_a_subclass_of_a_tensor_is_none():
    import torch

    class Lie(torch.Tensor):
        def detach(self):
            return torch.ones(self.shape, dtype=self.dtype)

    arrays, zeros = library("torch", "cpu"), torch.zeros(2, 2)
    with pytest.raises(WrongArray, match=r"Lie, want torch\.Tensor itself and no subclass of it"):
        read(arrays, zeros.as_subclass(Lie), (2, 2), "float32", "the output")


@pytest.mark.torch
def test_a_tensor_is_read_as_a_tensor_whatever_attributes_it_carries():
    import torch

    arrays, zeros = library("torch", "cpu"), torch.zeros(2, 2)
    zeros.detach = lambda: torch.ones(2, 2)
    zeros.untyped_storage = torch.ones(2, 2).untyped_storage
    assert (numbers(arrays, zeros) == 0).all()
    assert arrays.overlap(zeros, zeros[:1])


@pytest.mark.torch
def test_a_parameter_is_a_tensor():
    import torch

    arrays, x = library("torch", "cpu"), torch.nn.Parameter(torch.ones(2, 2))
    assert (read(arrays, x, (2, 2), "float32", "the output") == 1).all()


@pytest.mark.jax
def test_an_array_of_jax_is_its_own_and_a_tracer_has_no_numbers():
    import jax

    arrays, seen = library("jax", "cpu"), []
    x = jax.numpy.ones((2, 2))
    lies = type("Lies", (jax.core.Tracer,), {"__array__": lambda *_: np.zeros((2, 2))})
    assert (read(arrays, x, (2, 2), "float32", "the output") == 1).all()
    jax.grad(lambda y: seen.append(arrays.dtype_of(y)) or y.sum())(x)
    assert seen == ["float32"]
    assert arrays.dtype_of(np.ones((2, 2))) is None
    with pytest.raises(TypeError, match="a tracer has no numbers"):
        arrays.get(lies.__new__(lies))
