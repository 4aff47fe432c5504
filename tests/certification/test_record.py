"""One door for all kinds: `spec.record` plugs an ordinary program in."""

import pytest

import spec
from spec.backends import Unsuitable
from spec.kinds import KINDS
from tests.targets import layers

PROGRAMS = {
    "attention": "implementations.dense:attend",
    "layer": layers.MultiHead,
    "sinusoidal": "implementations.sinusoidal:encode",
    "rotary": "implementations.rotary:rotate",
    "alibi": "implementations.alibi:bias",
    "feed-forward": "implementations.feed_forward:feed_forward",
    "dropout": "implementations.dropout:attend",
    "cache": "implementations.cached:Growing",
    "merging": "implementations.merging:merge",
}
TOLD = {"attention", "layer", "cache", "merging"}  # by the look of them


@pytest.mark.parametrize("about", KINDS)
def test_a_program_of_every_kind_becomes_a_record(about: str) -> None:
    options = {"name": "mine", "backend": "numpy"}
    record = spec.record(PROGRAMS[about], None if about in TOLD else about, **options)
    assert (record.about, record.name) == (about, "mine")


def test_what_cannot_be_a_record_is_told_in_a_line() -> None:
    with pytest.raises(Unsuitable, match="unknown kind 'router': choose from attention, layer"):
        spec.record(layers.MultiHead, "router")
    with pytest.raises(Unsuitable, match="is a record already"):
        spec.record(spec.record(layers.MultiHead, backend="numpy"))
