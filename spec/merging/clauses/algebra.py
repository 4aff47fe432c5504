"""Section Q, continued. States are a commutative monoid, and a merge is a mean.

Parts may come in any order and in any tree, and parts without a key are no parts: that is what
lets a server choose how it cuts. Beside these laws stand what every mean keeps: it lies between,
and knows no origin.
"""

import numpy as np

from spec.attention.options import Capability
from spec.attention.proofs import blocks
from spec.clause import clause
from spec.comparison import at_least, at_most, equal, same_bits
from spec.merging import proofs
from spec.merging.domain import LIVE, MODEST, Problems
from spec.merging.notation import Merging, Problem, State
from spec.merging.parts import exact, merged
from spec.merging.rounding import of_gradients, of_state

SHIFTS = (1.0, -3.0, 40.0, -100.0, 10000.0, -10000.0)


@clause("Q5", over=Problems(), catches={"overwrites_by_an_idle_split", "returns_the_first"})
def parts_may_come_in_any_order(merging: Merging, problem: Problem) -> None:
    """Two states in the other order make the same one.

        s_1 + s_2 = s_2 + s_1

    Each is within its budget of the same numbers: who adds three terms may round them in order.
    """
    turned = problem.turned()

    one, other = merging.forward(problem), merging.forward(turned)

    budget, more = of_state(problem), of_state(turned)
    equal(other.o, one.o, within=budget.o + more.o)
    equal(other.lse, one.lse, within=budget.lse + more.lse)


@clause(
    "Q6",
    over=Problems(),
    catches={
        "averages_the_outputs",
        "forgets_to_renormalise",
        "measures_the_mean",
        "returns_the_larger",
    },
    proof=proofs.merging_is_associative,
)
def parts_may_be_merged_in_any_tree(merging: Merging, problem: Problem) -> None:
    """Of three states it is no matter which two are merged first.

        (s_1 + s_2) + s_3 = s_1 + (s_2 + s_3)

    The third is the first one's cotangent as an output, and half its log-sum-exp. What the first
    merge rounds moves the second, by as much as Lemma 5 of the budgets says.
    """
    third = exact(State(problem.do, np.where(problem.empty[0], -np.inf, problem.lse_1 / 2)))
    one, two = exact(problem.one), exact(problem.two)

    left = merged(merging, problem, merged(merging, problem, one, two), third)
    right = merged(merging, problem, one, merged(merging, problem, two, third))

    equal(right.state.o, left.state.o, within=left.within.o + right.within.o)
    equal(right.state.lse, left.state.lse, within=left.within.lse + right.within.lse)


@clause(
    "Q7",
    over=LIVE,
    catches={"adds_the_log_sum_exps", "averages_the_outputs", "starts_the_sum_at_one"},
    proof=blocks.merging_with_the_empty_block_changes_nothing,
)
def an_empty_state_changes_no_output(merging: Merging, problem: Problem) -> None:
    """Merged with the state of no keys, on either side, an output keeps every bit.

        (o, lse) + (0, -inf) = (o, lse) = (0, -inf) + (o, lse)

    Its weight is exp(0) over 1, which nobody rounds. A log-sum-exp that is put in bits and back
    may lose one, and keeps to its budget.
    """
    nothing = State(np.zeros_like(problem.o_1), np.full_like(problem.lse_1, -np.inf))
    behind, before = problem.of(problem.one, nothing), problem.of(nothing, problem.one)

    for put in (behind, before):
        o, lse = merging.forward(put)
        same_bits(o, problem.o_1)
        equal(lse, problem.lse_1, within=of_state(put).lse)


@clause(
    "Q8",
    over=LIVE,
    catches={"measures_in_base_two", "measures_the_mean", "returns_the_larger"},
    proof=proofs.a_state_twice_adds_log_two,
)
def a_state_and_itself_have_twice_the_sum(merging: Merging, problem: Problem) -> None:
    """A state merged with itself has the same output, and log 2 more.

        (o, lse) + (o, lse) = (o, lse + log 2)

    Every key is there twice, as where two splits overlap: the output does not tell.
    """
    twice = problem.of(problem.one, problem.one)

    o, lse = merging.forward(twice)

    equal(o, problem.o_1, within=of_state(twice).o)
    equal(lse, problem.lse_1 + np.log(np.longdouble(2)), within=of_state(twice).lse)


@clause(
    "Q9",
    over=Problems(places=MODEST, families=("lattice", "ties")),
    catches={"forgets_the_maximum", "forgets_the_maximum_in_the_sum", "adds_the_log_sum_exps"},
    proof=proofs.a_constant_passes,
)
def a_constant_passes_into_the_log_sum_exp(merging: Merging, problem: Problem) -> None:
    """A constant added to both log-sum-exps is added to that of both, and changes no output.

        (o_1, lse_1 + c) + (o_2, lse_2 + c) = (o, lse + c)

    So scores have no origin, however they were cut. Ten thousand is no exponent of any format;
    on the lattice the sums with it are exact.
    """
    c = np.resize(SHIFTS, problem.N)
    one, two = (State(x.o, x.lse + c) for x in (problem.one, problem.two))
    shifted = problem.of(one, two)

    here, there = merging.forward(problem), merging.forward(shifted)

    budget, more = of_state(problem), of_state(shifted)
    equal(there.o, here.o, within=budget.o + more.o)
    equal(there.lse, here.lse + c, within=budget.lse + more.lse)


@clause("Q10", over=LIVE, catches={"forgets_to_renormalise", "starts_the_sum_at_one"})
def the_output_lies_between_the_two(merging: Merging, problem: Problem) -> None:
    """Every number of the output lies between those of the two states.

        min(o_1, o_2) <= o <= max(o_1, o_2)

    The weights are not negative and sum to one.
    """
    o, _ = merging.forward(problem)

    within = of_state(problem).o
    at_least(o, np.minimum(problem.o_1, problem.o_2), within=within)
    at_most(o, np.maximum(problem.o_1, problem.o_2), within=within)


@clause(
    "Q11",
    over=LIVE,
    catches={"forgets_to_renormalise", "starts_the_sum_at_one", "adds_epsilon_to_the_sum"},
)
def equal_outputs_stay(merging: Merging, problem: Problem) -> None:
    """Where both states have the same output, so has their merge, whatever they weigh.

        (o, lse_1) + (o, lse_2) = (o, ...)

    The weights sum to one, and their sum is all that is seen here.
    """
    same = problem.of(problem.one, State(problem.o_1, problem.lse_2))

    o, _ = merging.forward(same)

    equal(o, problem.o_1, within=of_state(same).o)


@clause(
    "Q12", over=LIVE, catches={"adds_the_log_sum_exps", "measures_in_base_two", "measures_the_mean"}
)
def the_log_sum_exp_is_near_the_larger_one(merging: Merging, problem: Problem) -> None:
    """The log-sum-exp of both is no less than either, and above both by log 2 at most.

        max(lse_1, lse_2) <= lse <= max(lse_1, lse_2) + log 2

    Log 2 is reached where they are equal, as with a state and itself.
    """
    _, lse = merging.forward(problem)

    larger, within = np.maximum(problem.lse_1, problem.lse_2), of_state(problem).lse
    at_least(lse, larger, within=within)
    at_most(lse, larger + np.log(2), within=within)


@clause(
    "Q13",
    over=LIVE,
    needs={Capability.GRADIENTS},
    catches={
        "hands_the_cotangent_of_lse_to_both",
        "hands_the_whole_cotangent_to_both",
        "drops_the_output_from_the_difference",
    },
    proof=proofs.gradients_add_up_to_the_cotangents,
)
def gradients_add_up_to_the_cotangents(merging: Merging, problem: Problem) -> None:
    """What reaches the two states is what came back from their merge, and no more.

        do_1 + do_2 = do    dlse_1 + dlse_2 = dlse

    The first as the weights sum to one. The second is the derivative of Q9 in c.
    """
    d, budget = merging.backward(problem), of_gradients(problem)

    equal(d.o_1 + d.o_2, problem.do, within=budget.o_1 + budget.o_2)
    equal(d.lse_1 + d.lse_2, problem.dlse, within=budget.lse_1 + budget.lse_2)
