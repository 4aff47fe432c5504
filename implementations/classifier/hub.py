"""Download of one file of a dataset from the Hugging Face hub, over HTTPS, with no extra package.

A dataset OWNER/NAME is a repository with its files at

    https://huggingface.co/datasets/OWNER/NAME/resolve/main/FILE

HF_ENDPOINT replaces the address, for example by a mirror, as in the official client library.
"""

import os
import re
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import urlopen

SECONDS = 20
ABSENT = (401, 404)  # the hub returns 401 if a repository does not exist or is not public


class Unreachable(Exception):
    """The hub does not answer, or does not return a text; the message is one line."""


def is_named(name: str) -> bool:
    """Return whether this could be the name of a dataset of the hub."""
    return re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name, re.ASCII) is not None


def fetched(name: str, file: str) -> str | None:
    """Return a file of a dataset, or None if there is none. Raises Unreachable."""
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    try:
        with urlopen(f"{endpoint}/datasets/{name}/resolve/main/{file}", timeout=SECONDS) as answer:
            return str(answer.read().decode("utf-8"))
    except HTTPError as error:
        with error:
            if error.code in ABSENT:
                return None
            raise Unreachable(f"{endpoint} answers {error.code} {error.reason}") from None
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise Unreachable(f"{endpoint}: {reason or type(error).__name__}") from None
