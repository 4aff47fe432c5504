"""Deviations follow what is called, however it is named; where that is not sure, they are told."""

import functools
import subprocess
import sys
from typing import Any

import pytest

from spec.attention.plug import implementation, program
from spec.certification.ledger.certificate import Certificate
from spec.certification.target.deviations import known
from spec.certification.target.following import Listener, is_nothing_but
from spec.kinds import KINDS
from spec.subject import named
from tests import targets
from tests.judging import unexplained
from tests.night import deep

pytestmark = pytest.mark.torch
FUNCTION = "torch.nn.functional:scaled_dot_product_attention"
LAYER = "torch.nn:MultiheadAttention"
FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "backend": "torch"}


def judged(target: Any, **options: Any) -> Certificate:
    return unexplained(target, **{**FEW, "clauses": ("A1", "C14", "T10"), **options})


def judged_layer(target: Any, **options: Any) -> Certificate:
    return judged(target, **{"clauses": ("L1", "L32", "L45"), **options})


def outcomes(certificate: Certificate) -> dict[str, str]:
    return {v.clause: v.outcome for v in certificate.verdicts}


def test_a_function_has_one_verdict_by_name_and_as_an_object() -> None:
    from torch.nn import functional

    object_itself = functional.scaled_dot_product_attention
    bound = functools.partial(object_itself, dropout_p=0.0)
    by_name, *others = (judged(x, backend=None) for x in (FUNCTION, object_itself, bound))
    assert outcomes(by_name) == {"A1": "holds", "C14": "deviates", "T10": "deviates"}
    assert str(by_name).partition("\n")[0].endswith(": certified (quick) but for 2 deviations")
    for certificate in others:
        assert outcomes(certificate) == outcomes(by_name)
        assert certificate.passed


def test_so_has_a_layer_and_what_inherits_all_of_it() -> None:
    from torch.nn import MultiheadAttention

    class Mine(MultiheadAttention):
        """One that is only built in another way."""

        @functools.wraps(MultiheadAttention.__init__)
        def __init__(self, *sizes: int, **options: Any) -> None:
            super().__init__(*sizes, **options)

    wanted = {"L1": "holds", "L32": "deviates", "L45": "deviates"}
    assert [outcomes(judged_layer(x)) for x in (LAYER, MultiheadAttention, Mine)] == [wanted] * 3


def test_an_adapter_is_not_excused_and_told_what_it_calls() -> None:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as theirs

    def composed(query, key, value, attn_mask=None, is_causal=False, scale=None):  # type: ignore[no-untyped-def]
        with sdpa_kernel(SDPBackend.MATH):
            return theirs(query, key, value, attn_mask, 0.0, is_causal, scale=scale)

    certificate = judged(composed)
    assert outcomes(certificate) == {"A1": "holds", "C14": "holds", "T10": "violated"}
    text = " ".join(str(certificate).split())
    assert f"as torch does, see T10 of {FUNCTION}: torch 2.13: without keys" in text
    assert "C14 of" not in text  # which this way of torch's does not break
    declared = judged(composed, deviations={"T10": "as torch does"})
    assert declared.passed
    assert "see T10" not in str(declared)


def test_so_is_a_layer_that_overrides_what_it_calls() -> None:
    from torch.nn import MultiheadAttention

    class Mine(MultiheadAttention):
        """One with a method of its own, which may do anything."""

        def forward(  # type: ignore[no-untyped-def]
            self,
            query,
            key,
            value,
            key_padding_mask=None,
            need_weights=True,
            attn_mask=None,
            average_attn_weights=True,
            is_causal=False,
        ):
            options = (key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal)
            return super().forward(query, key, value, *options)

    certificate = judged_layer(Mine)
    assert outcomes(certificate) == {"L1": "holds", "L32": "violated", "L45": "violated"}
    assert f"as torch does, see L32 of {LAYER}: " in " ".join(str(certificate).split())


def test_what_only_looks_like_it_is_neither() -> None:
    """It says that it wraps it, and does call it; what is wrong is wrong in another way."""
    from torch.nn.functional import scaled_dot_product_attention as theirs

    @functools.wraps(theirs)
    def one_more(query, key, value, is_causal=False, scale=None):  # type: ignore[no-untyped-def]
        return theirs(query, key, value, is_causal=is_causal, scale=scale).nan_to_num() + 1

    certificate = judged(one_more, clauses=("A1", "C14"))
    assert outcomes(certificate) == {"A1": "violated", "C14": "violated"}
    assert "as torch does" not in str(certificate)


def test_only_the_thing_itself_is_held_to_what_it_is_known_for() -> None:
    """What is built or called in a way of its own may well avoid it."""
    from torch.nn import MultiheadAttention
    from torch.nn.functional import scaled_dot_product_attention as theirs

    class Mine(MultiheadAttention):
        """The same."""

    partial = functools.partial(theirs)
    for about, things in (("attention", (theirs, partial)), ("layer", (MultiheadAttention, Mine))):
        itself, covered = (known(KINDS[about].targets, x, "cpu") for x in things)
        assert covered.reasons == itself.reasons
        assert itself.strict == tuple(itself.reasons)
        assert covered.strict == ()


# What is told from what


class Known:
    """Stands for a class that has deviations."""

    def __init__(self) -> None:
        self.forward(1)

    def forward(self, x: int) -> int:
        return x


class Bare(Known):
    """Adds a word."""

    word = "bare"


class Other(Known):
    """Answers by itself."""

    def forward(self, x: int) -> int:
        return -x


class Patched(Known):
    """Answers with what is no method."""

    forward = functools.partial(int)  # type: ignore[assignment]


class Meta(type):
    """Makes classes that make what they like."""


class Made(Known, metaclass=Meta):
    """One of them."""


class Mixed(Other, Known):
    """Inherits an answer from elsewhere first."""


@pytest.mark.parametrize(
    ("found", "known", "answer"),
    [
        (max, max, True),
        (functools.partial(max, 1), max, True),
        (min, max, False),
        (functools.wraps(max)(lambda *numbers: min(numbers)), max, False),
        (Known, Known, True),
        (Bare, Known, True),
        (Other, Known, False),
        (Mixed, Known, False),
        (Patched, Known, False),
        (Made, Known, False),
        (Known, Bare, False),
        (None, None, False),
    ],
)
def test_covers_that_can_be_looked_through(found: Any, known: Any, answer: bool) -> None:
    assert is_nothing_but(found, known) is answer


def test_a_record_is_what_it_was_made_of_and_not_what_it_says() -> None:
    made = implementation(targets.right, origin=FUNCTION)
    assert program(made) is targets.right
    assert program(made.but(forward=lambda problem: made.forward(problem))) is None


def test_what_is_called_is_heard_and_nothing_stays_behind() -> None:
    before = sys.getprofile()
    listener = Listener(lambda: (Other(), max(1, 2), targets.two))
    assert listener.heard(max)
    assert listener.heard(Other)
    assert not any(map(listener.heard, (min, Known, targets.two, None)))
    assert sys.getprofile() is before


@pytest.mark.slow
@pytest.mark.parametrize("how", ["fail_fast=True", deep("fail_fast=False")])
def test_names_are_looked_up_where_they_are_imported_and_nowhere_else(how: str) -> None:
    assert named("tests.targets:right") is targets.right
    assert named("tests.nowhere:right") is None
    program = (
        "import sys; from spec import certify; from tests.targets import elementwise as e; "
        f"certify(e, profile='quick', clauses='A', {how}); "
        "assert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("origin", [x for kind in KINDS.values() for x, _ in kind.targets.known])
def test_every_name_on_the_list_names_something(origin: str) -> None:
    __import__(origin.partition(":")[0])
    assert named(origin) is not None
