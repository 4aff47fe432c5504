"""Feed-forward networks, as the engine asks for them."""

from spec.abilities import Conventions, Functions
from spec.attention.conventions import declaring, granted
from spec.feed_forward import mistakes, plug
from spec.feed_forward.features import MEANINGS, VOCABULARY
from spec.feed_forward.notation import Problem
from spec.feed_forward.truth import truth
from spec.kind import Kind

KIND = Kind(
    about="feed-forward",
    noun="a feed-forward network",
    sections={"F": "feed-forward"},
    problem=Problem,
    definition="F1",
    core=plug.core,
    truth=truth,
    mistakes=mistakes.MISTAKES,
    load=plug.feed_forward,
    vocabulary=VOCABULARY,
    meanings=MEANINGS,
    functions=Functions(
        fitted=granted,
        compares={"forward": ("F1",), "backward": ("F2", "F3", "F4", "F5", "F6"), "call": ("F23",)},
        parts={"F2": "dx", "F3": "dW1", "F4": "db1", "F5": "dW2", "F6": "db2"},
    ),
    conventions=Conventions(under=declaring, telling=plug.telling),
)
