"""A mask of keys alone by torch's name, and parameters that no problem has."""

from typing import Any

import pytest

from spec import certify
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.backends import Unsuitable
from tests import targets
from tests.shell import run

QUICK: dict[str, Any] = {"dtypes": "float32", "profile": "quick"}


def padded(query, key, value, key_padding_mask=None, is_causal=False):
    mask = None if key_padding_mask is None else ~key_padding_mask[:, None, None, :]
    return targets.right(query, key, value, mask, is_causal)


def means_the_opposite(query, key, value, key_padding_mask=None):
    return padded(query, key, value, None if key_padding_mask is None else ~key_padding_mask)


def forgets_it(query, key, value, key_padding_mask=None):  # noqa: ARG001
    return padded(query, key, value)


def says_it_in_a_word(query, key, value, mask="causal", score_mod=None):  # noqa: ARG001
    return targets.right(query, key, value, None, mask == "causal")


def writes(query, key, value, out):
    out[...] = targets.right(query, key, value)


def of_a_module(module, query, key, value, attention_mask=None, scaling=None):
    return module(query, key, value, attention_mask, scaling)


def of_transformers(query, key, value, attention_mask=None, scaling=None):
    return targets.right(query, key, value, attention_mask, scale=scaling)


def test_a_mask_of_keys_alone_is_tested_by_the_name_that_torch_has_for_it() -> None:
    record = implementation(padded)
    assert Capability.MASK in record.offers
    assert not {Capability.BIAS, Capability.FORMS} & record.offers
    certificate = certify(padded, **QUICK)
    assert certificate.passed, str(certificate)
    judged = {v.clause for v in certificate.verdicts if v.outcome == "holds"}
    assert {"M2", "M6", "M9", "M20"} <= judged


@pytest.mark.quick("means*")
@pytest.mark.parametrize(
    ("target", "words"),
    [
        (means_the_opposite, "declare it with --convention mask-means=forbid"),
        (forgets_it, "with a masked key"),
    ],
)
def test_who_gets_it_wrong_is_told_so_and_shown_by_a_script(target: Any, words: str) -> None:
    certificate = certify(target, **QUICK, clauses="M2")
    assert certificate.exit_code == 1
    assert words in " ".join(str(certificate).split())
    script = certificate.causes[0].counterexample.script
    assert "key_padding_mask=" in script
    assert run("-c", script, program=()).returncode == 1


def test_the_names_of_transformers_are_known() -> None:
    record = implementation(of_transformers)
    assert {Capability.MASK, Capability.BIAS, Capability.SCALE} <= record.offers
    assert certify(of_transformers, **QUICK, clauses=("M2", "B1")).passed


def test_what_is_a_word_or_unknown_is_named_as_not_tested() -> None:
    record = implementation(says_it_in_a_word)
    assert Capability.MASK not in record.offers
    (note,) = record.notes
    assert note.startswith("not tested: the parameters mask, score_mod (a function of yours that ")


@pytest.mark.parametrize(
    ("target", "words"), [(writes, "makes the array"), (of_a_module, "of its own")]
)
def test_what_cannot_be_filled_says_what_to_test(target: Any, words: str) -> None:
    with pytest.raises(Unsuitable, match=f"requires a parameter .* test a function that .*{words}"):
        implementation(target)
