"""What refuses a function, and the smallest strength of a fault that is refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from spec import certify
from tests.power.attention import Attention
from tests.power.faults import FAMILIES
from tests.power.rivals import OTHERS, TWICE, refused

STRENGTHS = tuple(float(f"{x}e-{e}") for e in range(8) for x in ("1", "0.5", "0.2"))[:-2]  # falling
F32, F16, B16 = "float32", "float16", "bfloat16"
SHORT = 1e-3  # seconds for causes, which nobody reads
OPTIONS = tuple(dict.fromkeys(family.option for family in FAMILIES.values()))


@dataclass(frozen=True)
class Rule:
    """What refuses functions in a format. options: for each it has a problem; or it draws all."""

    dtype: str
    refuses: Callable[[Attention, str], bool]
    options: tuple[str, ...] = ("",)


def smallest(refuses: Callable[[float], bool]) -> float | None:
    """The smallest strength that is refused if a stronger one is refused too; None: not even 1.

    A bisection: a rule that refuses a weak fault and not a stronger one is not looked for.
    """
    if not refuses(STRENGTHS[0]):
        return None
    strong, weak = 0, len(STRENGTHS)
    while weak - strong > 1:
        middle = (strong + weak) // 2
        strong, weak = (middle, weak) if refuses(STRENGTHS[middle]) else (strong, middle)
    return STRENGTHS[strong]


def judge(dtype: str, profile: str, rounding: str = "") -> Rule:
    """Our judge. rounding: the model that is declared, if one is."""
    conventions = {"rounding": rounding} if rounding else {}

    def refuses(function: Attention, _: str) -> bool:
        found = certify(
            function.attend,
            profile=profile,
            dtypes=(dtype,),
            backend="torch",
            isolation="none",
            conventions=conventions,
            fail_fast=True,
            diagnosis_timeout=SHORT,
        )
        return not found.passed

    return Rule(dtype, refuses)


def other(dtype: str, rule: str) -> Rule:
    """A rule of others (`rivals`)."""
    narrow = getattr(torch, dtype)
    return Rule(dtype, lambda x, option: refused(x, option, rule, narrow), OPTIONS)


RULES: Mapping[str, Rule] = {
    "float32: quick": judge(F32, "quick"),
    "float16: quick": judge(F16, "quick"),
    "float16: quick, strict": judge(F16, "quick", "strict"),
    "bfloat16: quick": judge(B16, "quick"),
    "bfloat16: quick, strict": judge(B16, "quick", "strict"),
    **{f"{dtype}: {rule}": other(dtype, rule) for dtype in (F32, F16, B16) for rule in OTHERS},
    **{f"{dtype}: {TWICE}": other(dtype, TWICE) for dtype in (F16, B16)},
}
