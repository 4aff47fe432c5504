"""A solution of FlashInfer-Bench as files: its sources, and the definition with them.

A solution is JSON with `spec` (of it `language`, `entry_point`, `destination_passing_style`) and
`sources`; a definition has `name`, `axes`, `inputs` and `outputs`. Both are as the documentation of
FlashInfer-Bench describes them. The runner calls the entry point as the definition says
(`spec.runner.contests`).
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from spec.backends import Unsuitable
from spec.notation import DTYPES
from spec.runner.contests import DEFINITION, LIBRARY

LANGUAGES = ("python", "triton")
ALWAYS = {"causality": "always", "causal": "bottom-right"}  # of what is called causal


def written(solution: str, definition: str, folder: Path) -> str:
    """Write the sources of a solution to a folder, and return the target. Raises Unsuitable."""
    told, about = _content(solution, "sources"), _content(definition, "inputs")
    if told.get("definition") != about.get("name"):
        what = f"for {told.get('definition')!r}, not {about.get('name')!r}"
        raise Unsuitable(f"{solution} is {what}")
    try:
        how = told["spec"]
        if how["language"] not in LANGUAGES:
            what = f"{how['language']}: only {' and '.join(LANGUAGES)} can be tested"
            raise Unsuitable(f"{solution} is in {what}")
        for source in told["sources"]:
            _write(folder, source["path"], source["content"])
        file, _, name = how["entry_point"].rpartition("::")
        beside = str(PurePosixPath(file).with_name(DEFINITION))
        _write(folder, beside, json.dumps({"definition": about, "spec": how}))
        return f"{_place(folder, file)}:{name}"
    except (KeyError, TypeError, AttributeError, ValueError, OSError) as error:
        what = f"{type(error).__name__}: {error}"
        raise Unsuitable(f"{solution} is no solution of FlashInfer-Bench: {what}") from None


def asked(definition: str) -> dict[str, Any]:
    """The options that a definition stands for: its format, head sizes, causality by its name."""
    about = _content(definition, "inputs")
    dtype = about["inputs"].get("q", {}).get("dtype")
    causal = "causal" in str(about.get("name")).split("_")
    return {
        "backend": LIBRARY,
        **({"dtypes": (dtype,)} if dtype in DTYPES else {}),
        "where": " and ".join(_widths(about)),
        "conventions": {"gradients": "none", **(ALWAYS if causal else {})},
    }


def _widths(about: Mapping[str, Any]) -> Iterator[str]:
    """Yield a condition for each head size that is fixed: smaller ones are filled up."""
    for name, letter in (("q", "D"), ("v", "E")):
        shape = about["inputs"].get(name, {}).get("shape") or [""]
        fixed = about.get("axes", {}).get(shape[-1], {}).get("value")
        if type(fixed) is int:
            yield f"{letter} <= {fixed}"


def _content(path: str, needed: str) -> Mapping[str, Any]:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unsuitable(f"{path} cannot be read: {type(error).__name__}") from None
    if not isinstance(found, dict) or not isinstance(found.get(needed), list | dict):
        raise Unsuitable(f"{path} has no {needed}")
    return found


def _place(folder: Path, path: str) -> Path:
    """A path of a solution below a folder. Raises Unsuitable if it leads anywhere else."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in path:
        raise Unsuitable(f"a source with the path {path!r} does not lie below the solution")
    return folder.joinpath(*parts)


def _write(folder: Path, path: str, text: str) -> None:
    file = _place(folder, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
