"""Golden certificates: what the judge says of some thousand targets, as one line each.

    python -m tests.golden                   judge all, and print the lines that are not as recorded
    python -m tests.golden --few             the fixed part that the test suite judges
    python -m tests.golden attention/ torch  those whose names begin so
    python -m tests.golden --record          write what was found to `certificates.txt`
    python -m tests.golden --show NAME       all that the two hashes of a line are made of, as JSON
    python -m tests.golden --moved REF       the lines that differ from those of a commit, to list
                                             in the message of the change that moves them

A change to the engine may move only the lines that its message lists.
"""
