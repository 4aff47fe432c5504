"""Templates filled in: pages in one file, in which text of others is escaped."""

from __future__ import annotations

import os
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spec.backends import Unsuitable
from spec.certification.ledger.files import written

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
MISSING = "pages need Jinja2: pip install jinja2"


@cache
def environment() -> Environment:
    """The templates. Raises Unsuitable if Jinja2 is not installed."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise Unsuitable(MISSING) from None
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["between"] = between
    return found


def between(text: str) -> Any:
    """Text of others between tags; quotation marks stay, as scripts have many."""
    from markupsafe import Markup

    return Markup(escape(text, quote=False))


def rendered(template: str, **words: Any) -> str:
    """A template, filled in. Raises Unsuitable if Jinja2 is not installed."""
    return environment().get_template(template).render(**words)


def kept(path: str | os.PathLike[str], text: str) -> None:
    """Write a page, whole or not at all. Raises Unsuitable if that fails."""
    try:
        written(Path(path), text)
    except OSError as error:
        raise Unsuitable(f"{path} cannot be written: {error.strerror}") from None
