"""Interfaces of attention that are in use, read in their sources at the commits given.

Facts alone are taken from them. What a source does not say, or what nobody read, is left out;
`spec.attention.libraries` says what an entry means.
"""

from spec.attention.deployed.frameworks import FRAMEWORKS
from spec.attention.deployed.kernels import KERNELS
from spec.attention.libraries import Library

LIBRARIES: tuple[Library, ...] = KERNELS + FRAMEWORKS
