"""One file of a dataset of the Hugging Face hub, over HTTPS and with nothing installed for it.

A dataset OWNER/NAME is a repository, and its files lie at

    https://huggingface.co/datasets/OWNER/NAME/resolve/main/FILE

HF_ENDPOINT names another place, such as a mirror, as it does for the hub's own library.
"""

import os
import re
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import urlopen

SECONDS = 20
ABSENT = (401, 404)  # the hub says 401 of a repository that is not there, or not for all


class Unreachable(Exception):
    """The hub does not answer, or not with a text; one line says why."""


def is_named(name: str) -> bool:
    """Whether this could be the name of a dataset of the hub."""
    return re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name, re.ASCII) is not None


def fetched(name: str, file: str) -> str | None:
    """A file of a dataset, or None if there is none. Raises Unreachable."""
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
