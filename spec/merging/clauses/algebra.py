"""Section Q, continued. Merging is commutative, associative and a weighted mean.

Parts may be merged in any order and in any tree, and a part without keys changes nothing.
States are thus a commutative monoid, which lets a server split the keys as it likes.
Further clauses test what every weighted mean satisfies: it lies between its inputs, and it
is unaffected when both log-sum-exps are shifted.
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
def merge_is_commutative(merging: Merging, problem: Problem) -> None:
    """Swapping the two states does not change their merge.

        s_1 + s_2 = s_2 + s_1

    Here + merges two states (o, lse). The results are compared within their error bounds and not
    bit for bit, because o_1 + w_2 (o_2 - o_1), for example, is rounded differently if swapped.
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
def merge_is_associative(merging: Merging, problem: Problem) -> None:
    """For three states, the result does not depend on which two are merged first.

        (s_1 + s_2) + s_3 = s_1 + (s_2 + s_3)

    Here + merges two states (o, lse). The check makes a third state: its output is the array `do`
    of the problem, and its log-sum-exp is half that of the first state. Lemma 5 in
    spec/merging/rounding.py bounds how far the rounding of one merge changes the next one.
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
def empty_state_is_the_identity_of_merging(merging: Merging, problem: Problem) -> None:
    """Merging with a state of no keys, on either side, does not change a bit of the output.

        (o, lse) + (0, -inf) = (o, lse) = (0, -inf) + (o, lse)

    Here + merges two states, and (0, -inf) is the state of no keys. The other state has the weight
    exp(0) / 1, which is exact. Its log-sum-exp may change within the error bound, because an
    implementation may convert it to base 2 and back.
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
def merging_a_state_with_itself_adds_log_two(merging: Merging, problem: Problem) -> None:
    """Merging a state with itself keeps the output and adds log 2 to the log-sum-exp.

        (o, lse) + (o, lse) = (o, lse + log 2)

    Every key then counts twice, as it does if two parts have the same keys by mistake. The output
    does not show this error, but the log-sum-exp does.
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
def constant_added_to_both_lse_shifts_the_merged_lse(merging: Merging, problem: Problem) -> None:
    """A constant added to both log-sum-exps is added to the merged log-sum-exp and does not
    change the output.

        (o_1, lse_1 + c) + (o_2, lse_2 + c) = (o, lse + c)

    So scores may be shifted by a constant, however the keys are split. The exponential of ten
    thousand overflows in every format. The lse_i are multiples of 1/16, so lse_i + c is exact.
    """
    c = np.resize(SHIFTS, problem.N)
    one, two = (State(x.o, x.lse + c) for x in (problem.one, problem.two))
    shifted = problem.of(one, two)

    here, there = merging.forward(problem), merging.forward(shifted)

    budget, more = of_state(problem), of_state(shifted)
    equal(there.o, here.o, within=budget.o + more.o)
    equal(there.lse, here.lse + c, within=budget.lse + more.lse)


@clause("Q10", over=LIVE, catches={"forgets_to_renormalise", "starts_the_sum_at_one"})
def merged_output_lies_between_both_outputs(merging: Merging, problem: Problem) -> None:
    """Every entry of the merged output lies between the entries of the two outputs.

        min(o_1, o_2) <= o <= max(o_1, o_2)    unless both parts are empty

    Then the weights are nonnegative and sum to one.
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
def merging_equal_outputs_returns_that_output(merging: Merging, problem: Problem) -> None:
    """If both states have the same output, the merge returns it, whatever the log-sum-exps are.

        (o, lse_1) + (o, lse_2) = (o, ...)

    The weights sum to one, and this clause depends on nothing except their sum.
    """
    same = problem.of(problem.one, State(problem.o_1, problem.lse_2))

    o, _ = merging.forward(same)

    equal(o, problem.o_1, within=of_state(same).o)


@clause(
    "Q12", over=LIVE, catches={"adds_the_log_sum_exps", "measures_in_base_two", "measures_the_mean"}
)
def merged_lse_exceeds_the_larger_by_at_most_log_two(merging: Merging, problem: Problem) -> None:
    """The merged log-sum-exp is at least the larger of the two, and exceeds it by at most log 2.

        max(lse_1, lse_2) <= lse <= max(lse_1, lse_2) + log 2

    The upper limit is reached if both are equal, for example if a state is merged with itself.
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
    """The gradients of the two states add up to the cotangents of their merge.

        do_1 + do_2 = do    dlse_1 + dlse_2 = dlse

    Here do_i and dlse_i are the gradients of state i. The first sum is do, because the weights sum
    to one. The second follows from Q9: a constant added to both lse_i is added to the merged lse.
    """
    d, budget = merging.backward(problem), of_gradients(problem)

    equal(d.o_1 + d.o_2, problem.do, within=budget.o_1 + budget.o_2)
    equal(d.lse_1 + d.lse_2, problem.dlse, within=budget.lse_1 + budget.lse_2)
