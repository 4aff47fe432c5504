"""Multi-head attention: the chapter that the others stand on.

Read `contents` and `notation` for the terms and `definition` for what attention is; then the
sections in `clauses`, in this order. Each begins with its idea and its derivation; each clause is a
claim, a formula and a check of a few lines.

    A agreement       the output and everything else returned match the definition
      gradients       so do the gradients
      single_sizes    at every size
    S softmax         the weights are a softmax, whether or not they are returned
      large_scores    for scores of any size
      log_sum_exp     the normaliser is the log-sum-exp of the scores
      jacobian        the softmax gradient subtracts a weighted mean
      through_lse     gradients also flow back through the log-sum-exp
    V values          the output is a weighted mean of the values
      large_values    which is never larger than the values
    K keys            only differences between keys matter
    B bases           only inner products matter, in any basis
      scale           and the scale multiplies them
    P permutations    keys are a set, queries are a batch
      batches         and a sequence has the same output in every batch
      pages           and in any pages of a cache, where that is promised
    M masking         masked keys have no influence
      forbidden       not in a single bit
      room            nor does their number, where that is promised
      idleness        a fully masked query returns zero and changes no gradient
      biases          a bias is added to the scores after the scale
    C causality       future keys have no influence
      gradient_flow   and get no gradient
      decoding        so chunks and single tokens give the same result as the whole sequence
      pieces          not in a single bit, where that is promised
    W windows         a query attends only to keys near its own position
      window_edges    at exactly the bounds
      first_keys      leading keys may stay visible
      out_of_sight    and no other hidden key leaves a trace
    U caps            a soft-cap bounds the scores smoothly
      beyond_caps     masks and biases come after it; gradients include its derivative
    Z sinks           an attention sink takes weight and adds no value
      sinks_beside    together with the log-sum-exp, parts, shifts, and backward
      sinks_trained   which training changes
      sinks_apart     and every head has its own
    Y slopes          ALiBi slopes lower a score by the distance
      slopes_beside   together with every other option, and backward
      slopes_apart    and every head has its own
    I places          given positions replace the index of a row
      places_read     so a sequence may be processed in parts
      places_beside   in tiles, backward, and in everything that is returned
    J segments        packed sequences do not attend to each other
      other_texts     and do not change a bit of each other
      segments_apart  in any order, and together with every other option
      segments_backward   backward, and in everything that is returned
    H heads           heads are independent, and grouped heads share keys
      latents         keys and values computed from latents need not be stored
    X blocks          attention over parts of the keys merges into the whole
      thousands       at more than a thousand keys or queries
      long            at up to a million
    T calls           a call is a pure function of its inputs
      repeated        so the same call gives the same result

Then `record`: an implementation as clauses see it. `domain` and `masks`: the problems that clauses
are tested on. `rounding`: error bounds. `proofs`: what is proved. `mistakes`: known bugs that must
be rejected. `plug`: how an ordinary function is called. `explaining`: how a failure is shown.
`libraries` and `deployed`: which library has which option under which name (spec/options.md).
"""

from importlib import import_module

IN_ORDER = (
    "agreement gradients single_sizes softmax large_scores log_sum_exp jacobian through_lse "
    "values large_values keys bases scale permutations batches pages masking forbidden room "
    "idleness biases causality gradient_flow decoding pieces windows window_edges first_keys "
    "out_of_sight caps beyond_caps sinks sinks_beside sinks_trained sinks_apart slopes "
    "slopes_beside slopes_apart places places_read places_beside segments other_texts "
    "segments_apart segments_backward heads latents blocks thousands long calls repeated"
)
SECTIONS = tuple(import_module(f"{__name__}.clauses.{name}") for name in IN_ORDER.split())
