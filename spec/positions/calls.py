"""Section R, ended. A call does not modify its inputs, and returned arrays are not shared.

The caller still uses the arrays that positions are applied to: the output of the block is
added to the tokens, queries may be rotated by several attention layers, and a mask is added
to the bias. So a call must not modify any of them.
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
def adding_positions_does_not_modify_the_tokens(
    encoding: sinusoidal.Encoding, problem: sinusoidal.Problem
) -> None:
    """Adding positions does not modify the tokens, and the sum has its own memory.

        x after = x before, to the bit

    Here x are the tokens. An in-place addition returns the right sum, but code that reads x later,
    such as a residual connection, gets the sum instead.
    """
    leaves_its_inputs_alone(encoding.call(problem))


@clause("R42", over=Turns(), needs={Capability.CALL}, catches={"turns_queries_in_place"})
def rotary_does_not_modify_its_inputs(rotation: rotary.Rotation, problem: rotary.Problem) -> None:
    """The call modifies neither the queries nor the positions, and the result has its own memory.

        q, p after = q, p before, to the bit

    Here q are the queries, and p their positions. If the function rotates queries in place, two
    calls rotate them twice.
    """
    leaves_its_inputs_alone(rotation.call(problem))


@clause(
    "R43",
    over=Biases(),
    needs={Capability.CALL},
    catches={"hands_out_the_matrix_that_it_keeps"},
    force="should",
)
def returned_alibi_bias_may_be_modified(bias: alibi.LinearBias, problem: alibi.Problem) -> None:
    """The caller may modify a returned bias: the next returned bias uses other memory.

        b = bias(H, N, M),  b += mask,  c = bias(H, N, M)    and c is as b was before the mask

    A cached matrix that is returned directly is right until a caller adds a mask to it in place.
    """
    leaves_its_inputs_alone(bias.call(problem))
