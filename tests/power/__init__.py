"""How small a fault may be and still be refused: by us, and by three rules in use elsewhere.

    python -m tests.power [FAMILY ...] [--record]

Each family of faults (`faults`) is right but for one step, which a strength between 0 and 1 makes
wrong. `search` finds the smallest strength that is refused, `rivals` has the rules of others, and
`tests/power/README.md` the table.
"""
