"""Layers: three inputs and eight parameters in, one output out, and masks of three kinds."""

from spec.kind import Kind
from spec.layer.features import MEANINGS, VOCABULARY
from spec.layer.known import KNOWN
from spec.layer.mistakes import MISTAKES
from spec.layer.notation import LayerProblem
from spec.layer.plug import layer, program
from spec.layer.plug.conventions import under
from spec.layer.plug.described import read
from spec.layer.plug.dropping import steady
from spec.layer.plug.instances import is_layer
from spec.layer.plug.lenses import LENSES
from spec.layer.plug.trials import apart, core, fitted, kinds, telling, trials
from spec.layer.script import calls
from spec.layer.simplify import WAYS
from spec.layer.truth import truth

KIND = Kind(
    about="layer",
    noun="a layer",
    sections={"L": "layer"},
    problem=LayerProblem,
    definition="L1",
    core=core,
    beyond=apart,
    fitted=fitted,
    truth=truth,
    mistakes=MISTAKES,
    load=layer,
    told=is_layer,
    program=program,
    barred=steady,
    described=read,
    known=KNOWN,
    lenses=LENSES,
    kinds=kinds,
    trials=trials,
    ask={"step": lambda record, problem: record.step(problem, 0.5)},
    simplify=WAYS,
    under=under,
    telling=telling,
    precise=core,
    calls=calls,
    compares={"forward": ("L1",), "backward": ("L2", "L3"), "weights": ("L4",), "call": ("L42",)},
    vocabulary=VOCABULARY,
    meanings=MEANINGS,
    telltale={"step": "backward"},
)
