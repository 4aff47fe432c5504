"""A description of this package for another class of the same library, as one for a class like it.

Libraries copy layers from model to model: with `Electra` for `Bert`, the description of
`BertSelfAttention` is one of `ElectraSelfAttention`.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from spec.backends.library import first_line
from spec.backends.results import WrongArray
from spec.layer.notation import LayerProblem
from spec.layer.plug.described import Description, Form, described, placed
from spec.layer.plug.guessing import saved
from spec.layer.plug.options import constructed
from spec.layer.plug.shipped import shipped

OF_A_MODEL = r"([A-Z]\w*?)((?:Self)?Attention)"  # the name of a model, and what all models have


def built(wrapped: Any, problem: LayerProblem) -> Any:
    """A layer, built as torch's is. Raises WrongArray: it is not, and here is its description."""
    try:
        return wrapped.build(problem.A, problem.H, **constructed(problem, wrapped.options))
    except Exception as error:
        for kin, text in _changed(wrapped.build):
            if _answers(wrapped, problem.but(arrays=1), text):
                raise WrongArray(_proposed(wrapped.build, kin, text, first_line(error))) from None
        raise


def _answers(wrapped: Any, problem: LayerProblem, text: str) -> bool:
    """Whether the layer answers a problem as a description says."""
    try:
        said = described("a description", tomllib.loads(text), wrapped.build)
        masks = {name: Form.of(form) for name, form in said.get("masks", {}).items()}
        facts = placed(said["names"]), said["make"], said["inputs"], masks, said["given"]
        replace(wrapped, told=Description(*facts)).forward(problem)
    except Exception:  # it was a guess
        return False
    return True


def _proposed(build: Any, kin: str, text: str, error: str) -> str:
    """The description that fits, and what it was made of."""
    fits = f"the description {kin} fits it with other names: {saved(build, text.splitlines())}"
    return f"it is not built as torch's layer is ({error}); {fits}"


def _changed(build: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """The descriptions for classes of the same library with the same ending, the shortest first.

    They come with the name of the model of this class.
    """
    mine = re.fullmatch(OF_A_MODEL, getattr(build, "__name__", ""))
    library = build.__module__.partition(".")[0]
    files = {x: file for x, file in shipped().items() if x.startswith(f"{library}/")}
    texts = {x: file.read_text(encoding="utf-8") for x, file in files.items() if mine}
    for name, text in sorted(texts.items(), key=lambda item: len(item[1])):
        theirs = re.match(rf'make = "{OF_A_MODEL}\(', text)
        if mine and theirs and theirs[1] != mine[1] and theirs[2] == mine[2]:
            yield name, text.replace(theirs[1], mine[1])
