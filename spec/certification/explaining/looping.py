"""Texts that differ only in a number that counts up, written as a list or a loop."""

import re
from collections.abc import Iterator, Sequence

NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
FEWEST = 3  # that are worth it


def as_list(texts: Sequence[str]) -> str:
    """A list of expressions as text."""
    found = counted(texts, "i") if len(texts) >= FEWEST else None
    return f"[{found[0]} for i in {found[1]}]" if found else f"[{', '.join(texts)}]"


def as_loops(blocks: Sequence[list[str]], name: str) -> list[str]:
    """The lines of blocks, one after another; runs of similar ones as a loop."""
    lines: list[str] = []
    for run in _runs(["\n".join(block) for block in blocks]):
        found = counted(run, name) if len(run) >= FEWEST else None
        if found is None:
            lines += [line for block in run for line in block.splitlines()]
        else:
            lines.append(f"for {name if name in found[0] else '_'} in {found[1]}:")
            lines += [f"    {line}" for line in found[0].splitlines()]
    return lines


def counted(texts: Sequence[str], name: str) -> tuple[str, str] | None:
    """Equal texts with `name` for the number that differs, and its range; None if others differ.

    Texts that are all equal have any number.
    """
    pieces = [NUMBER.split(text) for text in texts]
    if len({(*x[::2],) for x in pieces}) != 1:
        return None
    numbers = [[int(x) for x in piece[1::2]] for piece in pieces]
    start, end = numbers[0], numbers[-1]
    moved = {(a, b) for a, b in zip(start, end, strict=True) if a != b}
    if len(moved) > 1:
        return None
    first = next(iter(moved))[0] if moved else 0
    moves = [a != b for a, b in zip(start, end, strict=True)]
    for step, found in enumerate(numbers):
        if found != [a + step * m for a, m in zip(start, moves, strict=True)]:
            return None
    words = [name if m else str(a) for a, m in zip(start, moves, strict=True)]
    text = "".join(x for pair in zip(pieces[0][::2], [*words, ""], strict=True) for x in pair)
    over = f"range({first}, {first + len(texts)})" if first else f"range({len(texts)})"
    return text, over


def _runs(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield runs of texts that differ only in a number."""
    run: list[str] = []
    for text in texts:
        if run and counted([*run[-2:], text], "i") is None:
            yield run
            run = []
        run.append(text)
    if run:
        yield run
