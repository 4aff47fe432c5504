"""Deployed interfaces of attention, as their sources describe them at the given commits.

The entries contain only facts from these sources. Questions that the sources do not answer are
left out. `spec.attention.libraries` explains the fields of an entry.
"""

from spec.attention.deployed.frameworks import FRAMEWORKS
from spec.attention.deployed.kernels import KERNELS
from spec.attention.libraries import Library

LIBRARIES: tuple[Library, ...] = KERNELS + FRAMEWORKS
