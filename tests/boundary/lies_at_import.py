"""A target that changes what the runner it lives in says, from its import on."""

import json
import os
import sys
import types

import numpy as np

LIE = "{lie}"  # which the test writes here


def dumps(told):
    if LIE == "token":
        told = {**told, "n": "f" * 16}
    elif LIE == "garbage":
        return "certified"
    elif LIE == "ends":
        os._exit(0)
    elif "parameters" in (described := told.get("ok") or {}):
        lies = {
            "library": {"libraries": ["os"]},
            "parameters": {"parameters": [{"name": "query", "kind": "empty"}]},
            "name": {"name": ["attend"]},
            "kind": {"kind": {}},
        }
        told = {**told, "ok": {**described, **lies[LIE]}}
    return json.dumps(told)


sys.modules["attention_runner.serve"].json = types.SimpleNamespace(loads=json.loads, dumps=dumps)


def attend(query, key, value):
    return np.zeros_like(query @ np.swapaxes(key, -1, -2) @ value)
