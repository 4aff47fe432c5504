"""A layer in symbols: every entry of inputs, parameters and cotangent is a symbol of its own.

`spec.layer.definition` answers with formulas (`spec.proving.formulas`), biases and all. A
head of width 1 has the scale 1; one of width 2 has the scale that the definition gives it,
the float64 next to 1 / sqrt(2), taken for the fraction that it is. Any other scale is in it:
a factor of the scale is a factor of W_q and b_q, and those are any numbers.
"""

from typing import Any

from spec.layer import definition
from spec.layer.notation import LayerProblem, Parameters
from spec.proving.formulas import symbols


def symbolic(
    B: int = 1, H: int = 1, D: int = 1, N: int = 1, M: int = 2, K: int = 1, V: int = 1
) -> LayerProblem:
    """A layer problem in symbols, with all biases and no mask."""
    A = H * D
    return LayerProblem(
        query=symbols("x", B, N, A),
        key=symbols("y", B, M, K),
        value=symbols("z", B, M, V),
        dout=symbols("g", B, N, A),
        parameters=Parameters(
            W_q=symbols("Q", A, A),
            W_k=symbols("K", A, K),
            W_v=symbols("V", A, V),
            W_o=symbols("O", A, A),
            **{f"b_{place}": symbols(f"b{place}", A) for place in "qkvo"},
        ),
        heads=H,
    )


def of_itself(H: int = 1, D: int = 1, N: int = 2) -> LayerProblem:
    """Self-attention in symbols: query, key and value are one array."""
    problem = symbolic(H=H, D=D, N=N, M=N, K=H * D, V=H * D)
    return problem.but(arrays=1)


def unbiased(problem: LayerProblem) -> LayerProblem:
    """The same problem without biases."""
    return problem.of(**dict.fromkeys(problem.biases))


def loss(problem: LayerProblem) -> Any:
    """L = <dout, y>."""
    return (problem.dout * definition.layer(problem)).sum()
