"""Text on a terminal in colours, by `rich`; elsewhere it is printed as it is.

`NO_COLOR`, `FORCE_COLOR` and `TERM` have their usual meaning, which is rich's. It is imported for a
terminal alone: it takes a tenth of a second.
"""

import os
import sys
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

GOOD, BAD, DOUBTFUL, ADVICE = "bold green", "bold red", "yellow", "cyan"
STYLES = (  # of a report, and of errors
    (r"(?m)^\S.*: certified\b.*$", GOOD),
    (r"(?m)^\S.*: not certified\b.*$", BAD),
    (r"(?m)^\S.*: incomplete\b.*$", "bold yellow"),
    (r"\b\d+ (failed|crashed)\b", BAD),
    (r"\b\d+ (should|known|raised|not run)\b", DOUBTFUL),
    (r"(?m)^\d+\. .*$", "bold"),
    (r"(?m)^(deviates|unsupported|not supported|not tested|sometimes raises)\b", DOUBTFUL),
    (r"(?m)^correct (on|when)\b.*$", "green"),
    (r"--[a-z]+(-[a-z]+)*( [a-z0-9-]+=[a-z0-9.-]+)?", ADVICE),
    (r"(?m)^error\b", BAD),
    (r"(?m)^note\b", ADVICE),
)


def show(text: str, stream: IO[str] | None = None) -> None:
    """Print text with a newline; stream: standard output, if it is not given."""
    stream = sys.stdout if stream is None else stream
    if not (stream.isatty() or os.environ.get("FORCE_COLOR")):
        print(text, file=stream)
        return
    from rich.text import Text

    shown = Text(text)
    for pattern, style in STYLES:
        shown.highlight_regex(pattern, style)
    console(stream).print(shown, soft_wrap=True)


def console(stream: IO[str]) -> "Console":
    """The console of rich that writes to a stream, and styles nothing by itself."""
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)
