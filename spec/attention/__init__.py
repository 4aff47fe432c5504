"""Multi-head attention: the chapter that the others stand on.

Read `notation` for the words and `definition` for what attention is; then the sections in
`clauses`, in this order. Each opens with its idea and its derivation; each clause is a
sentence, a formula and a check of a few lines.

    A agreement       the output and all that is shown are those of the definition
      gradients       and so are the gradients
      single_sizes    at every size
    S softmax         the weights are a softmax, whether or not anybody shows them
      large_scores    however large the scores are
      log_sum_exp     what it divides by is a smooth maximum
      jacobian        and its derivative has a row term
      through_lse     which what comes back through the log-sum-exp meets
    V values          the output is a weighted mean, and only values are averaged
      large_values    which is no larger than they are
    K keys            keys have no origin
    B bases           only inner products matter
      scale           and the scale multiplies them
    P permutations    keys are a set, queries are a batch
    M masking         the forbidden does not exist
      forbidden       to the bit
      idleness        and who may see nothing returns nothing
      biases          what is between seeing and not seeing is added
    C causality       under causality the future does not exist
      gradient_flow   and no gradient reaches it
      decoding        so a text may be read token by token
    W windows         a window shows a query the keys around its own place
      window_edges    and nothing of what lies outside
      first_keys      but for the first keys of the text, where these are to stay
    U caps            no score exceeds a cap, and few come near it
      beyond_caps     what is hidden or added lies beyond it, and what flows back meets it
    Z sinks           a sink takes its part of the weights, and gives nothing for it
      sinks_beside    what it is to the log-sum-exp, to parts, to a shift, and backward
    Y slopes          slopes take from a score with every place between a query and a key
      slopes_beside   wherever the text stands, beside everything else, and backward
    I places          tokens stand where they are said to stand, whatever row they are in
      places_read     so a text may be read in parts
      places_beside   tile by tile, backward, and whatever is shown
    J segments        several texts lie in one array, and none knows of another
      other_texts     and what another one holds changes no bit
      segments_apart  wherever they lie, and beside everything else
      segments_backward   whatever flows back, and whatever is shown
    H heads           heads do not meet, and a group of them shares its keys
      latents         or makes them of what it shares, which may be left to the queries
    X blocks          attention over parts merges into attention over the whole
      thousands       however long it is
    T calls           the call is a function

Then `record`, what is judged; `domain` and `masks`, where the clauses quantify; `rounding`, how
far a right implementation may stray; `proofs`, what is proved; `mistakes`, what must be
rejected; `plug`, how an ordinary function is called; `explaining`, how a failure is shown.
Who else has which option, under what name, say `libraries` and `deployed` (spec/options.md).
"""

from importlib import import_module

IN_ORDER = (
    "agreement gradients single_sizes softmax large_scores log_sum_exp jacobian through_lse values "
    "large_values keys bases scale permutations masking forbidden idleness biases causality "
    "gradient_flow decoding windows window_edges first_keys caps beyond_caps sinks sinks_beside "
    "slopes slopes_beside places places_read places_beside segments other_texts segments_apart "
    "segments_backward heads latents blocks thousands calls"
)
SECTIONS = tuple(import_module(f"{__name__}.clauses.{name}") for name in IN_ORDER.split())
