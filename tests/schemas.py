"""Schemas of the files that users write, from the lists in the code: `python -m tests.schemas`.

Editors check and complete these files by them: `[tool.attention-spec]` of a pyproject.toml, and
descriptions of layers.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spec.certification.choices import conventions
from spec.certification.offered import OPTIONS
from spec.certification.repository import FORMS, KEYS, NAME
from spec.kinds import KINDS
from spec.layer import axes
from spec.layer.plug import described
from spec.notation import SHORT

FOLDER = Path(__file__).parent.parent / "spec" / "schema"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
TARGET = "module:name or path/to/file.py:name; paths are relative to this file"
TYPES = {  # of a field of a request -> as a schema has it
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "tuple[str, ...]": {"type": "array", "items": {"type": "string"}},
    "Mapping[str, str]": {"type": "object", "additionalProperties": {"type": "string"}},
}
WORDS = {  # of a description -> what it says
    "names": "for each parameter of the layer, ours that stand in it, and the order of its axes",
    "make": f"an expression that makes the layer, of {', '.join(described.OF_A_MAKER)}",
    "inputs": "1: self-attention only; 3 (the default): query, key and value",
    "causal": "whether causality is an option of the call, or always on",
    "rotary": "how the layer rotates queries and keys",
    "masks": "for each parameter of the call that is a mask, what it says and its axes",
    "given": f"other parameters of the call, as expressions of {', '.join(described.OF_A_CALL)}",
}
Schema = dict[str, Any]


def pyproject() -> Schema:
    """The schema of the table [tool.attention-spec]."""
    shared = {"$ref": "#/$defs/options"}
    named = {"type": "object", "minProperties": 1, "propertyNames": {"pattern": f"^{NAME}$"}}
    target = {**shared, "required": ["target"], "unevaluatedProperties": False}
    keys = dict(sorted(_keys()))
    options = {name: x for name, x in keys.items() if name != "target"}
    target["properties"] = {"target": keys["target"]}
    return {
        "$schema": DRAFT,
        "title": "The table [tool.attention-spec] of a pyproject.toml",
        "description": "Targets of `attention-spec certify`, and options for all of them.",
        **shared,
        "properties": {"targets": {**named, "additionalProperties": {"$ref": "#/$defs/target"}}},
        "required": ["targets"],
        "unevaluatedProperties": False,
        "$defs": {"options": {"type": "object", "properties": options}, "target": target},
    }


def _keys() -> Iterator[tuple[str, Schema]]:
    """Each key, by each of its spellings, with what may be written."""
    said = {**{name: option.says for name, option in OPTIONS.items()}, "target": TARGET}
    forms = {form: name for name, form in FORMS.items()}
    for name, form in KEYS.items():
        found = {"description": said[name], **TYPES[forms[form]], **_limits(name)}
        yield from ((word, found) for word in {name, name.replace("_", "-")})


def _limits(name: str) -> Schema:
    """The values that a field may have, where these are known."""
    option = OPTIONS.get(name)
    if option and option.values:
        if KEYS[name] is FORMS["tuple[str, ...]"]:
            return {"items": {"enum": [*option.values, *SHORT]}}
        return {"enum": [*option.values]}
    if option and option.least is not None:
        return {"minimum": option.least}
    if option and option.above is not None:
        return {"exclusiveMinimum": option.above}
    if name == "conventions":
        words = {word: {"enum": [*choices]} for word, choices in conventions().items()}
        return {"properties": words, "additionalProperties": False}
    return {"pattern": ":"} if name == "target" else {}


def description() -> Schema:
    """The schema of a description of a layer."""
    ours = "|".join(axes.OURS)
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    layer = KINDS["layer"].truth().choices
    more: Mapping[str, Schema] = {
        "names": {
            "additionalProperties": {
                "type": "string",
                "pattern": rf"^\s*({ours})(\s+({ours}))*(\s+{axes.ORDER})?\s*$",
            }
        },
        "inputs": {"enum": [*described.INPUTS]},
        "causal": {"enum": [*layer["causality"]]},
        "rotary": {"enum": [*layer["rotary"]]},
        "masks": {"additionalProperties": {"type": "string", "pattern": f"^{described.MASK}$"}},
    }
    kinds: Mapping[type, Schema] = {int: {"type": "integer"}, str: {"type": "string"}}
    keys = {
        key: {
            "description": WORDS[key],
            **(kinds[described.TYPES[key]] if key in described.TYPES else texts),
            **more.get(key, {}),
        }
        for key in described.KEYS
    }
    return {
        "$schema": DRAFT,
        "title": "A description of a layer",
        "description": "The file of `attention-spec certify TARGET --description FILE`, as TOML.",
        "type": "object",
        "additionalProperties": False,
        "properties": keys,
    }


SCHEMAS = {"pyproject-1.json": pyproject, "description-1.json": description}


def text(schema: Schema) -> str:
    """A schema as it is written."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, made in SCHEMAS.items():
        (FOLDER / name).write_text(text(made()), encoding="utf-8")
