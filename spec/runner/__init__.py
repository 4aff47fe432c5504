"""The process in which a target lives. It gets arrays and returns bytes; it judges nothing.

Nothing here imports the specification, and nothing of the specification is in this process. The
judge (`boundary`) starts it as a package of its own, `attention_runner`, through `start.py`:

    zygote      a process with the array library and without a target, which copies itself
    confine     what a copy may still do, before it imports the target
    serve       the loop of a copy: one message in, one message out
    objects     what the judge refers to by number: arrays, functions, results
    memory      the block that both processes share, and arrays in it
    arrays      the three array libraries
    find        what a target's name means;  describe: what it says of itself
    inference   the array library that it is written for
"""
