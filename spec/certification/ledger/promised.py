"""A line about promises of bits: which were kept, and the smallest problems that break others."""

from collections.abc import Iterator

from spec.certification.ledger.findings import Findings


def same_bits(certificate: Findings) -> str:
    """The promises that were kept, and those that were not, for the head of a report."""
    found = certificate.promises
    kept = [f"{name}{' (promised)' * x.declared}" for name, x in found.items() if x.kept]
    problems = sum(x.problems for x in found.values() if x.kept)
    lines = [f"{', '.join(kept)} ({problems} problems)"] * bool(kept)
    broken = [*_broken(certificate)]
    lines += [f"not: {', '.join(broken)}"] * bool(broken)
    return "; ".join(lines)


def _broken(certificate: Findings) -> Iterator[str]:
    """Yield each promise that was not kept, the formats if they are not all, and a problem.

    If two equal calls differ, so does everything else: then the others have only their names.
    """
    broken = {name: x for name, x in certificate.promises.items() if not x.kept}
    for name, promise in broken.items():
        if "run" in broken and name != "run":
            yield name
        else:
            every = len(promise.dtypes) == len(certificate.dtypes)
            where = "" if every else f" in {', '.join(promise.dtypes)}"
            told = ["promised"] * promise.declared
            told += [f"smallest: {promise.smallest}"] * bool(promise.smallest)
            more = f" ({'; '.join(told)})" if told else ""
            yield f"{name}{where}{more}"
