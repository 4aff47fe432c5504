"""The capabilities that a clause may need of positions, beyond the basic case of each kind."""

from enum import StrEnum

from spec.attention import options

LONG = 256  # a table of a fixed length is at least so long


class Capability(StrEnum):
    """The capabilities that a clause may need of an encoding, of a rotation, or of a bias."""

    GRADIENTS = options.Capability.GRADIENTS
    CALL = options.Capability.CALL

    OFFSET = "takes a first position"
    POSITIONS = "takes any positions"
    ROWS_OF_POSITIONS = "takes positions for every batch element"
    LONG = "takes positions beyond the first few hundred"
    ODD_WIDTHS = "takes an odd width"
    PARTIAL_ROTATION = "turns the first columns only"
    BASE = "takes a base of the frequencies"
    PLACES = "readies queries, keys and values"
    SLOPES = "takes ALiBi slopes"
    SHOWN = "shows its slopes"
    SYMMETRIC = "looks to both sides"
