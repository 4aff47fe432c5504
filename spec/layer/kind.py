"""Layers: three inputs and eight parameters in, one output out, and masks of three kinds."""

from spec.abilities import Causes, Conventions, Functions, Reports, Targets, Trials
from spec.kind import Kind
from spec.layer.excluded import excluded
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
from spec.layer.plug.trials import apart, core, fitted, kinds, of_functions, telling
from spec.layer.script import calls
from spec.layer.simplify import WAYS
from spec.layer.truth import truth

FUNCTIONS = Functions(
    ask={"step": lambda record, problem: record.step(problem, 0.5)},
    fitted=fitted,
    compares={"forward": ("L1",), "backward": ("L2", "L3"), "weights": ("L4",), "call": ("L42",)},
    parts={"L2": "gradients of the inputs", "L3": "gradients of the parameters"},
    telltale={"step": "backward"},
)
KIND = Kind(
    about="layer",
    noun="a layer",
    sections={"L": "layer"},
    problem=LayerProblem,
    definition="L1",
    core=core,
    truth=truth,
    mistakes=MISTAKES,
    load=layer,
    simplify=WAYS,
    vocabulary=VOCABULARY,
    meanings=MEANINGS,
    targets=Targets(told=is_layer, described=read, barred=steady, program=program, known=KNOWN),
    functions=FUNCTIONS,
    trials=Trials(kinds=kinds, of_functions=of_functions, beyond=apart, precise=(core("float64"),)),
    conventions=Conventions(under=under, telling=telling),
    causes=Causes(lenses=LENSES),
    reports=Reports(calls=calls, excluded=excluded),
)
