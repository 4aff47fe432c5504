"""How faults are told, measured: one cause for each mistake, and both of two at once.

    python -m tests.faults --part 0/16             of the catalogue, every sixteenth mistake
    python -m tests.faults --pairs 40 --seed 3     pairs of mistakes of attention, drawn at random
    python -m tests.faults --profile standard      with as many problems as users have by default

A line for each, figures at the end. Hours for all; nothing here is a test of what is right.
"""

import argparse
import random
import statistics
import sys
import warnings
from collections.abc import Iterator, Sequence

from spec.attention.mistakes.making import at_once
from spec.certification.profiles import PROFILES
from spec.kinds import KINDS
from tests.telling import Told, told

PAGE, MORE = 60, 25  # lines of one cause, and of each further one


def alone(part: int, parts: int, profile: str) -> Iterator[Told]:
    """Each mistake of a part of the catalogue."""
    every = [(k, m) for k in KINDS.values() for m in k.mistakes.values() if not m.harmless]
    for kind, mistake in [pair for pair in every if pair[1].force == "must"][part::parts]:
        dtypes = tuple(dict.fromkeys(("float64", *mistake.dtypes)))
        yield told(kind, [mistake], mistake.target, dtypes, profile)


def pairs(count: int, seed: int, of: int, profile: str) -> Iterator[Told]:
    """Several mistakes of different steps at once."""
    kind, chance = KINDS["attention"], random.Random(seed)
    usual = [m for m in kind.mistakes.values() if not m.harmless and m.force == "must"]
    usual = [m for m in usual if m.spoils in ("forward", "gradient") and m.dtypes == ("float32",)]
    while count:
        mistakes = chance.sample(usual, of)
        made = at_once(mistakes)
        if made is not None:
            count -= 1
            yield told(kind, mistakes, made, ("float64", "float32"), profile)


def figures(found: Sequence[Told]) -> Iterator[str]:
    """What is worth telling of all of them."""
    count, many = len(found), [len(x.sentences) for x in found]
    each = len(found[0].names)
    yield f"{count} certificates, each of {each} at once"
    yield f"as many causes: {sum(n == each for n in many)}; more: {sum(n > each for n in many)}"
    yield f"at most {max(many)} causes; all told: {sum(all(x.known) for x in found)}"
    yield f"some of them told: {sum(any(x.known) for x in found)}"
    lines = [x.lines for x in found]
    yield f"lines: {statistics.median(lines):.0f} in the median, {max(lines)} at worst"
    long = sum(x.lines > PAGE + MORE * max(0, len(x.sentences) - 1) for x in found)
    yield f"longer than a page, and a third for each further cause: {long}"
    regions = [x.fresh for x in found if x.fresh != "nowhere"]
    yield f"regions: {len(regions)}; that hold on fresh problems: {regions.count('holds')}"
    shares = [x for one in found for x in one.wrong]
    third = sum(x >= 1 / 3 for x in shares)
    yield f"causes: {len(shares)}; of which a third is wrong on fresh problems: {third}"
    scripts = [x for one in found for x in one.shown]
    yield f"scripts: {len(scripts)}; that show their cause: {sum(scripts)}"
    yield f"scripts that need the specification: {sum(not x for one in found for x in one.alone)}"
    yield f"JSON: {max(x.letters for x in found) / 1000:.0f} kB at worst"


def main(words: Sequence[str] | None = None) -> int:
    """Tell them, one by one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", default="0/16", help="of the catalogue")
    parser.add_argument("--pairs", type=int, help="how many, instead")
    parser.add_argument("--of", type=int, default=2, help="how many mistakes at once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--profile", choices=PROFILES, default="quick")
    asked = parser.parse_args(words)
    several, part = (asked.pairs, asked.seed, asked.of), [int(x) for x in asked.part.split("/")]
    found = []
    for one in pairs(*several, asked.profile) if asked.pairs else alone(*part, asked.profile):
        found.append(one)
        known = "".join("+" if x else "-" for x in one.known)
        sentences = "; ".join(one.sentences)
        scripts = "".join("+" if x else "-" for x in one.shown)
        shares = " ".join(f"{x:.0%}" for x in one.wrong)
        said = f"{known} {' and '.join(one.names)}: {sentences}"
        print(f"{said} [{one.fresh}] {shares} {scripts}", flush=True)
    print("\n".join(figures(found)))
    return 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
