"""The pictures of an attention problem: its scores and weights, under its mask."""

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem
from spec.picture import Picture


def pictures(problem: Problem) -> tuple[Picture, ...]:
    """The scores and the weights that the definition says, hatched where a key is forbidden."""
    hidden = ~problem.allowed
    with np.errstate(all="ignore"):  # an overflow is what such a problem may be about
        scores, weights = definition.scores(problem), definition.weights(problem)
    return (
        Picture("scores", scores, "B H N M", hidden),
        Picture("weights", weights, "B H N M", hidden, share=True),
    )
