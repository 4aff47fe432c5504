"""Promises of bits: which calls of a target give results without one different bit.

Rounding bounds how far two results may lie apart, and those of a correct program may differ in
their last bits: with another order of summation, they do. So equal bits are a promise that a
target makes or does not make. A certificate requires the promises that are declared. It tries the
others on fewer problems, and reports which of them were kept.
"""

from collections.abc import Mapping

PROMISES: Mapping[str, str] = {
    "run": "two calls with the same arrays, whatever was called in between",
    "batch": "a sequence, alone or at any position of any batch",
    "length": "a query, whatever masked keys hold and however many there are",
    "chunk": "a query, whether other queries come in the same call or not",
    "pages": "a query, wherever the pages of a cache lie that have its keys",
    "prefix": "a token, whether its prefix was read for it or reused by a fork",
    "order": "a head or packed sequence, whatever the others hold and at any position among them",
}
