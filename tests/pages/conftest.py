"""Certificates to make pages of: each judged once, whichever process asks for it first."""

import os

import pytest

from spec.certification import certify
from spec.certification.ledger.reading import loaded


@pytest.fixture(scope="session")
def judged_once(tmp_path_factory):
    """The certificate of a target, and the file that it was saved to and loaded from."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "certificates"

    def found(target, clauses=("A", "K"), seed=0):
        file = folder / f"{target.rpartition(':')[2]}.json"
        if not file.exists():
            asked = {"dtypes": ("float32",), "profile": "quick", "clauses": clauses, "seed": seed}
            certify(target, **asked).save(file)
        return loaded(file), file

    return found


@pytest.fixture(scope="session")
def wrong(judged_once):
    """The certificate of gradients that are wrong."""
    return judged_once("tests.targets:elementwise")[0]


@pytest.fixture(scope="session")
def right(judged_once):
    """A certificate without a cause."""
    return judged_once("tests.targets:right", clauses=("A1", "V"))[0]


@pytest.fixture(scope="session")
def masked(judged_once):
    """The certificate of who sees the future."""
    target = "spec.attention.mistakes.causality:sees_one_key_ahead"
    return judged_once(target, clauses=("C5",), seed=1)[0]
