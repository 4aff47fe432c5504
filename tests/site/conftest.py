"""The site: the one in the folder that SITE names, else one that is built for all tests."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the whole site."""
    if "SITE" in os.environ:
        return Path(os.environ["SITE"])
    from docs.generator.__main__ import main

    folder = tmp_path_factory.mktemp("site")
    assert main(["--site", str(folder / "site"), "--pages", str(folder / "pages")]) == 0
    return folder / "site"
