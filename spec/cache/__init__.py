"""Decoding with a cache: the part of section C about programs that remember what they read.

A text may be read at a stroke, in chunks or token by token, because what comes later
changes nothing that came before (C1). A cache keeps the keys and values so far:

    extend     answers a chunk of tokens, and keeps them        o, state = extend(state, chunk)
    rollback   goes back to the first tokens                    state = rollback(state, lengths)
    fork       makes a second cache that has read the same      other = fork(state)

and its answers are the rows of one causal pass, in whatever way the text arrived. Each
answer is an ordinary attention problem, so that definition, budgets and words are those of
attention. To read in this order:

    notation      texts, steps, problems
    record        states, and the cache that is judged
    definition    a cache that forgets nothing and is in no hurry
    rounding      the budget of an answer is that of its row in one pass
    domain        the texts that are drawn, and how they arrive
    agreement     decoding with a cache is decoding without one           C16 to C19
    chunks        a chunk sees the whole past, and its own tokens up to each   C20 to C22, C40
    going_back    what was taken back was never there                     C23 to C27
    branching     a past may be shared, and is read once                  C28 to C30
    together      sequences and heads are decoded together, and each is alone   C31 to C35
    memory        a cache remembers one text, and nothing else            C36 to C39
    windows       a window forgets what no token will see                 C41 to C43
    proofs        what holds without rounding
    plug          the record of a class that somebody wrote
    mistakes      plausible wrong caches

Nothing is said of caches that forget more than a window does (sinks, eviction), that keep
tokens in fewer bits than they came in, or that are told positions.
"""

from spec.cache.clauses import agreement, branching, chunks, going_back, memory, together, windows

SECTIONS = (agreement, chunks, going_back, branching, together, memory, windows)
