"""Datasets of the classifier: a folder, and a hub that a local server stands in for."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from implementations.classifier import command_line
from implementations.classifier.documents import Unusable, load
from tests.implementations.classifier_data import FEW, ROWS, TEXT, refused

pytestmark = pytest.mark.classifier


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A hub with a dataset, and one for which it returns errors."""

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = TEXT.encode()
            codes = {"/datasets/owner/news/resolve/main/train.jsonl": 200}
            self.send_response(500 if "broken" in self.path else codes.get(self.path, 404))
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        yield
        server.shutdown()


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        (None, "", "has neither train.jsonl nor train.csv"),
        ('{"text": "a"}\n', "", "train.jsonl, row 1, has no label"),
        ('{"text": "", "label": 1}\n', "", "train.jsonl, row 1, has no text"),
        ('{"text": 3, "label": 1}\n', "", "row 1: a text is a string"),
        ('{"text": "a", "label": [1]}\n', "", "a label a string or a number"),
        ("[1]\n", "", "train.jsonl, row 1, has no text"),
        ("text,label\n", "", "train.jsonl is no jsonl: JSONDecodeError: "),
        ('{"text": "a", "label": 0}\n', '{"text": "a", "label": 0}\n', "1 labels: too few"),
        (
            '{"text": "a", "label": 0}\n{"text": "b", "label": 1}\n',
            '{"text": "a", "label": 2}\n',
            "the label '2' is tested but never taught",
        ),
    ],
)
def test_a_bad_folder_is_one_line_and_exit_code_2(train, test, message, capsys, tmp_path):
    for part, text in (("train", train), ("test", test)):
        if text is not None:
            (tmp_path / f"{part}.jsonl").write_text(text)
    assert command_line.main(["--dataset", str(tmp_path), *FEW]) == 2
    refused(capsys, message)


def test_csv_files_are_read(tmp_path):
    rows = 'text,label\n"a storm, a gust",weather\na train,railway\n'
    for part in ("train", "test"):
        (tmp_path / f"{part}.csv").write_text(rows)
    found = load(str(tmp_path), seed=0)
    assert found.classes == ("railway", "weather")
    assert found.train == [("a storm, a gust", 1), ("a train", 0)]
    (tmp_path / "train.csv").write_bytes(b"text,label\n\xff,weather\n")
    with pytest.raises(Unusable, match=r"train\.csv cannot be read: UnicodeDecodeError"):
        load(str(tmp_path), seed=0)


@pytest.mark.usefixtures("hub")
def test_dataset_of_the_hub_is_split_as_in_the_source():
    found = load("owner/news", seed=0)
    assert (len(found.train), len(found.test)) == (18, 6)
    assert found.classes == ("sport", "tech")
    texts = {text for text, _ in (*found.train, *found.test)}
    assert texts == {row["text"] for row in ROWS}
    assert found == load("owner/news", seed=0)


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("owner/none", "the hub has no dataset 'owner/none' with a train.jsonl or a train.csv"),
        ("owner/broken", "owner/broken cannot be loaded from the hub: http://127.0.0.1:"),
    ],
)
def test_missing_dataset_is_one_line_and_exit_code_2(name, message, capsys):
    assert command_line.main(["--dataset", name, *FEW]) == 2
    refused(capsys, message)


def test_no_hub_is_one_line_and_exit_code_2(capsys, monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        port = server.server_port  # no server listens on it once this one is closed
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    assert command_line.main(["--dataset", "SetFit/bbc-news", *FEW]) == 2
    refused(capsys, f"SetFit/bbc-news cannot be loaded from the hub: http://127.0.0.1:{port}: ")
