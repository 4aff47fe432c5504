"""The array libraries of a program, whose functions are looked up before it imports the target.

Each is a tuple of functions: the array of a buffer; what an array is, with its bytes; whether two
share memory; a format by its name; the mode for a format; a call that is recorded; its gradients.
"""

from functools import partial
from importlib import import_module
from typing import Any


def strided(np: Any, buffer: Any, dtype: Any, told: Any) -> Any:
    """The view of a buffer that NumPy has of an array."""
    flat = np.frombuffer(buffer, dtype)
    if told["strides"] is None:
        return flat.reshape(told["shape"])
    size = flat.itemsize
    steps = [size * step for step in told["strides"]]
    return np.ndarray(told["shape"], dtype, buffer, told["offset"] * size, steps)


def numpy_arrays(_: str) -> Any:
    """How NumPy makes an array, says what it is, and whether it shares memory with another."""
    np = import_module("numpy")
    share, array_of = np.may_share_memory, np.ndarray

    def put(buffer: Any, told: Any) -> Any:
        return strided(np, buffer, np.dtype(told["dtype"]), told)

    def facts(x: Any) -> Any:
        same = type(x) is array_of
        return (str(x.dtype), x.shape, "cpu", None, array_of.tobytes(x)) if same else None

    np.seterr(all="ignore")
    return put, facts, share, np.dtype, lambda _: None, None, None


def torch_arrays(device: str) -> Any:
    """The same for PyTorch, and how a call is recorded and differentiated."""
    torch = import_module("torch")
    tensor, own = torch.Tensor, (torch.Tensor, torch.nn.Parameter)
    detach, storage, contiguous = tensor.detach, tensor.untyped_storage, tensor.contiguous
    view, numpy, cpu, backward = tensor.view, tensor.numpy, tensor.cpu, torch.autograd.backward
    recording, bits, clone = torch.enable_grad, torch.uint8, tensor.clone

    def put(buffer: Any, told: Any) -> Any:
        kind = getattr(torch, told["dtype"])
        flat = torch.frombuffer(buffer, dtype=kind) if buffer else torch.empty(0, dtype=kind)
        flat = flat.to(device)
        if told["strides"] is None:
            return flat.view(told["shape"])
        return flat.as_strided(told["shape"], told["strides"], told["offset"])

    def facts(x: Any) -> Any:
        if type(x) not in own:
            return None
        name, flat = str(x.dtype).removeprefix("torch."), view(clone(contiguous(detach(x))), -1)
        numbers = bytes(numpy(cpu(view(flat, bits))).data) if flat.numel() else b""
        return name, tuple(x.shape), x.device.type, x.requires_grad, numbers

    def share(x: Any, y: Any) -> bool:
        return 0 not in (*x.shape, *y.shape) and storage(x).data_ptr() == storage(y).data_ptr()

    def recorded(call: Any, arrays: Any) -> Any:
        with recording():
            leaves = [detach(x).requires_grad_() for x in arrays]
            return call(leaves), leaves

    def pulled(leaves: Any, outs: Any, douts: Any) -> Any:
        with recording():
            backward(outs, douts)
        return [torch.zeros_like(x) if x.grad is None else x.grad for x in leaves]

    torch.set_grad_enabled(False)
    return put, facts, share, partial(getattr, torch), lambda _: None, recorded, pulled


def jax_arrays(device: str) -> Any:
    """The same for JAX, whose arrays nobody writes into."""
    np, jax = import_module("numpy"), import_module("jax")
    jnp, vjp, host, tree = jax.numpy, jax.vjp, np.asarray, jax.tree_util
    place = jax.devices("gpu" if device.startswith("cuda") else device)[0]
    own = type(jax.device_put(np.zeros(()), place))

    def put(buffer: Any, told: Any) -> Any:
        numbers = strided(np, buffer, jnp.dtype(told["dtype"]), told)
        return jax.device_put(np.array(numbers), place)

    def facts(x: Any) -> Any:
        if type(x) is not own:
            return None
        platform = str(next(iter(x.devices())).platform)
        return str(x.dtype), x.shape, platform, None, host(x).tobytes()

    def recorded(call: Any, arrays: Any) -> Any:
        forms: list[Any] = []

        def flat(*leaves: Any) -> Any:
            found, form = tree.tree_flatten(call(leaves))
            forms.append(form)
            return found

        outs, pull = vjp(flat, *arrays)
        return tree.tree_unflatten(forms[-1], outs), (outs, pull)

    def pulled(tape: Any, outs: Any, douts: Any) -> Any:
        given = {id(out): dout for out, dout in zip(outs, douts, strict=True)}
        return tape[1]([given.get(id(x), jnp.zeros_like(x)) for x in tape[0]])

    def running(dtype: str) -> None:
        jax.config.update("jax_enable_x64", dtype == "float64")

    return put, facts, lambda *_: False, partial(getattr, jnp), running, recorded, pulled


WAYS = {"numpy": numpy_arrays, "torch": torch_arrays, "jax": jax_arrays}
