"""How soon a mistake is refused, and how fast our own fused implementation is."""

import statistics
import time
from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from tests.bench.measured import Measured, Value, beside, one, timed


def mistakes() -> Iterator[Measured]:
    """How long until a mistake is refused, in process, at the first violation."""
    from tests.certification.test_false_alarms import WRONG, refused

    seconds = []
    for mistake in WRONG:
        start = time.perf_counter()
        caught = refused(mistake, seed=0)
        seconds.append(time.perf_counter() - start if caught else inf)
        if not caught:
            print(f"NOT REFUSED: {mistake.name}")
    values = Value(statistics.median(seconds), "s", 0.12), Value(max(seconds), "s", 6)
    count = f"median and slowest of {len(seconds)} (fail-fast, in process)"
    yield Measured(f"time until a known bug is rejected, {count}", values)


def fused() -> Iterator[Measured]:
    """Attention in tiles at N = M = 8192, D = 64, one head, one thread, in float32."""
    import numpy as np
    import torch

    from implementations import dense, fused_torch
    from implementations import fused as tiled

    torch.set_num_threads(1)
    chance = np.random.default_rng(0)
    arrays = [chance.standard_normal((1, 1, 8192, 64)).astype(np.float32) for _ in range(3)]
    tensors = [torch.from_numpy(x) for x in arrays]
    with torch.no_grad():
        sdpa = timed(lambda: torch.nn.functional.scaled_dot_product_attention(*tensors))
        torch_tiled = timed(lambda: fused_torch.attend(*tensors))
    numpy_tiled = timed(lambda: tiled.attend(*arrays))
    whole = timed(lambda: dense.attend(*arrays), runs=2)
    tiled_in = "attention in tiles at N = M = 8192, D = 64"
    yield one(f"{tiled_in}: NumPy, relative to the whole matrix", numpy_tiled / whole, "times", 0.9)
    beside = Value(numpy_tiled / sdpa, "times", 1.5), Value(torch_tiled / sdpa, "times", 1.2)
    yield Measured("NumPy and torch in tiles, relative to torch's function", beside)
    yield one("extra memory of NumPy in tiles, in N x M matrices", memory(arrays), "%", 0.05)


def windows() -> Iterator[Measured]:
    """What is left of the time under a window of 256 keys at N = M = 8192, D = 64, one head."""
    whole, near = in_tiles(1, 8192), in_tiles(1, 8192, window_size=(128, 127))
    values = [Value(timed(near[x]) / timed(whole[x]), "times", 0.12) for x in whole]
    what = f"a window of 256 at N = M = 8192, relative to none: {'; '.join(whole)}"
    yield Measured(what, (*values,))


def segments() -> Iterator[Measured]:
    """What 64 texts of 128 tokens take in one array of 8192, beside a batch of 64, D = 64."""
    import numpy as np

    texts = np.arange(8192)[None] // 128
    alone = in_tiles(64, 128)
    packed = in_tiles(1, 8192, query_segments=texts, key_segments=texts)
    what = f"relative to a batch of 64: {'; '.join(alone)}"
    values = [Value(beside(packed[x], alone[x]), "times", 1.3) for x in alone]
    yield Measured(f"64 sequences of 128 packed in an array of 8192, {what}", (*values,))
    told = by_lengths(np.arange(0, 8193, 128, dtype=np.int32))
    values = [Value(beside(told[x], alone[x]), "times", 1.3) for x in alone]
    yield Measured(f"64 sequences of 128, given by cumulative lengths, {what}", (*values,))


def by_lengths(starts: Any) -> dict[str, Callable[[], object]]:
    """The same passes as `in_tiles` has, of the functions that are told where texts start."""
    import numpy as np
    import torch

    from implementations import packed, packed_torch

    chance = np.random.default_rng(0)
    arrays = [chance.standard_normal((starts[-1], 1, 64)).astype(np.float32) for _ in range(4)]
    tensors = [torch.from_numpy(x).requires_grad_() for x in arrays[1:]]
    told, dout = [torch.from_numpy(starts)] * 2, torch.from_numpy(arrays[0])
    return {
        "NumPy": lambda: packed.attend(*arrays[1:], starts, starts, 128, 128),
        "backward": lambda: packed.attend.backward(*arrays, starts, starts),  # type: ignore[attr-defined]
        "torch, both passes": lambda: packed_torch.attend(*tensors, *told, 128, 128).backward(dout),
    }


def pages() -> Iterator[Measured]:
    """What keys in pages of 16 take, in any order, beside the same keys in a row, D = 64."""
    for queries in (1, 128):
        paged, whole = in_a_cache(queries)
        values = [Value(beside(paged[x], whole[x]), "times", 1.25) for x in whole]
        what = f"{queries} quer{'ies' if queries > 1 else 'y'} of 8 heads, 4 sequences of 4096 keys"
        yield Measured(f"{what} in pages of 16, relative to arrays: {'; '.join(whole)}", (*values,))


def in_a_cache(queries: int) -> tuple[dict[str, Callable[[], object]], ...]:
    """The passes of who reads pages, and of who has the same keys in arrays."""
    import numpy as np
    import torch

    from implementations import fused, fused_torch, kvcache, kvcache_torch

    torch.set_num_threads(1)
    chance = np.random.default_rng(0)
    k, v = (chance.standard_normal((1024, 16, 1, 64)).astype(np.float32) for _ in range(2))
    q = chance.standard_normal((4, queries, 8, 64)).astype(np.float32)
    table = chance.permutation(1024).reshape(4, 256).astype(np.int32)
    told = q, k, v, np.full(4, 4096, np.int32), table
    rows = (x[table].reshape(4, 4096, 1, 64) for x in (k, v))
    arrays = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in (q, *rows)]
    tensors, held = ([torch.from_numpy(x) for x in some] for some in (arrays, told))
    return (
        {"NumPy": lambda: kvcache.attend(*told), "torch": lambda: kvcache_torch.attend(*held)},
        {
            "NumPy": lambda: fused.attend(*arrays, enable_gqa=True),
            "torch": lambda: fused_torch.attend(*tensors, enable_gqa=True),
        },
    )


def in_tiles(batch: int, length: int, **asked: Any) -> dict[str, Callable[[], object]]:
    """The passes of what computes in tiles, one head of width 64, in float32, on one thread."""
    import numpy as np
    import torch

    from implementations import fused as tiled
    from implementations import fused_torch

    torch.set_num_threads(1)
    chance = np.random.default_rng(0)
    shape = (batch, 1, length, 64)
    arrays = [chance.standard_normal(shape).astype(np.float32) for _ in range(4)]
    tensors = [torch.from_numpy(x).requires_grad_() for x in arrays[1:]]
    dout = torch.from_numpy(arrays[0])
    read = {x: torch.from_numpy(y) if isinstance(y, np.ndarray) else y for x, y in asked.items()}
    return {
        "NumPy": lambda: tiled.attend(*arrays[1:], **asked),
        "backward": lambda: tiled.backward(*arrays, **asked),
        "torch, both passes": lambda: fused_torch.attend(*tensors, **read).backward(dout),
    }


def memory(arrays: list[object]) -> float:
    """The most memory that the forward pass has beyond its output, in N x M matrices."""
    import tracemalloc

    from implementations import fused as tiled

    tracemalloc.start()
    out = tiled.attend(*arrays)  # type: ignore[arg-type]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return float((most - out.nbytes) / (8192 * 8192 * 4))
