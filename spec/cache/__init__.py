"""Decoding with a cache: the part of section C about objects that keep keys and values.

The whole sequence, chunks, and single tokens give the same result, because later tokens do not
influence earlier ones (C1). A cache keeps the keys and values so far:

    extend     appends a chunk of tokens and answers it         o, state = extend(state, chunk)
    rollback   keeps only the first tokens                      state = rollback(state, lengths)
    fork       makes a second cache with the same past          other = fork(state)

Its outputs are the rows of one causal pass, however the sequence was split. Each output is an
ordinary attention problem, so the definition, the error bounds and the terms are those of
attention. Read in this order:

    notation      sequences, steps, problems
    record        states, and the cache under test
    definition    a cache that keeps everything
    rounding      the error bound of an output is that of its row in one pass
    domain        the sequences that are drawn, and how they are split
    agreement     decoding with a cache equals decoding without one       C16 to C19
    chunks        a chunk attends to the whole past and causally to itself     C20 to C22, C40
    going_back    tokens that were rolled back have no influence          C23 to C27
    branching     forks share a past and nothing else                     C28 to C30
    together      sequences and heads are independent                     C31 to C35
    memory        a cache keeps one sequence, and nothing else            C36 to C39, C57
    windows       a cache with a window forgets what no token will need   C41 to C43
    traces        and nothing of all that leaves a trace                  C47 to C56
    proofs        what holds without rounding
    plug          a class as a record
    mistakes      plausible wrong caches

Not covered: caches that evict more than a window does, that store tokens in fewer bits, or that
take positions.
"""

from spec.cache.clauses import (
    agreement,
    branching,
    chunks,
    going_back,
    memory,
    together,
    traces,
    windows,
)

SECTIONS = (agreement, chunks, going_back, branching, together, memory, windows, traces)
