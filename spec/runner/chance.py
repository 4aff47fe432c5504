"""The source of random numbers that NumPy has of its own, and its generators."""

from typing import Any

import numpy as np

LARGEST = 2**32  # of the seeds of NumPy's own source, one more


class Chance:
    """NumPy's, which the libraries have that have no source of their own."""

    def state(self) -> Any:
        """The state of its own source."""
        return np.random.get_state()

    def back(self, state: Any) -> None:
        """Give its own source the state that it had."""
        np.random.set_state(state)

    def start(self, seed: int) -> None:
        """Start its own source at a seed."""
        np.random.seed(seed % LARGEST)

    def generator(self, seed: int) -> Any:
        """A generator at a seed."""
        return np.random.default_rng(seed)
