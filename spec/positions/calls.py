"""Section R, ended. The call is a function.

Positions are shown to arrays that somebody else goes on with: the tokens are added to the
output of the block, the queries are rotated once for every attention that looks at them, and
the bias gets a mask added to it. So none of them may change under its owner's hands.
"""

from spec.clause import clause
from spec.comparison import leaves_its_inputs_alone
from spec.positions.alibi import notation as alibi
from spec.positions.alibi.domain import Biases
from spec.positions.record import Capability
from spec.positions.rotary import notation as rotary
from spec.positions.rotary.domain import Turns
from spec.positions.sinusoidal import notation as sinusoidal
from spec.positions.sinusoidal.domain import Tokens


@clause("R41", over=Tokens(), needs={Capability.CALL}, catches={"adds_to_the_tokens_in_place"})
def tokens_are_left_alone(encoding: sinusoidal.Encoding, problem: sinusoidal.Problem) -> None:
    """The tokens are as they were, and the sum has memory of its own.

        x after = x before, to the bit

    x += PE gives the right sum, and a residual connection around it the wrong one.
    """
    leaves_its_inputs_alone(encoding.call(problem))


@clause("R42", over=Turns(), needs={Capability.CALL}, catches={"turns_queries_in_place"})
def queries_are_left_alone(rotation: rotary.Rotation, problem: rotary.Problem) -> None:
    """The queries and the positions are as they were, and what is rotated has its own memory.

        q, p after = q, p before, to the bit

    Queries that are rotated in place are rotated twice by who asks twice.
    """
    leaves_its_inputs_alone(rotation.call(problem))


@clause(
    "R43",
    over=Biases(),
    needs={Capability.CALL},
    catches={"hands_out_the_matrix_that_it_keeps"},
    force="should",
)
def a_bias_belongs_to_who_asked(bias: alibi.LinearBias, problem: alibi.Problem) -> None:
    """A bias that was handed out may be written into: the next one has other memory.

        b(x); b += mask; b(x)    and the second is as the first was

    A matrix that is kept and handed out is right until somebody adds a mask to it in place.
    """
    leaves_its_inputs_alone(bias.call(problem))
