"""Printed tables and JSON: results with the published ones, and the certificate."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from implementations.classifier.certificate import Certificate, Judged
from implementations.classifier.demonstration import Choice, Corpus, Trained
from implementations.classifier.laws import Law
from implementations.classifier.model import parameters

MARKS = {True: "holds", False: "BROKEN"}
PLACES = {True: "inside", False: "outside"}


def heading(corpus: Corpus, epochs: int) -> str:
    """Return a line about the training data."""
    train, test = len(corpus.train.labels), len(corpus.test.labels)
    longest = max(map(len, corpus.train.tokens))
    return (
        f"{train} + {test} documents, {len(corpus.classes)} classes, {epochs} epochs,"
        f" up to {longest} tokens, vocabulary {corpus.tokenizer.get_vocab_size()}"
    )


def table(learners: Sequence[Trained], choices: Mapping[str, Choice]) -> Iterator[str]:
    """Yield accuracies and times of all models, together with the published ones."""
    first, reference = learners[0].seconds, choices[learners[0].name].published
    wide = max(len(learner.name) for learner in learners)
    yield f"{'':{wide}}{'':>13}{'accuracy':>10}{'':>11}{'time':>9}"
    yield (
        f"{'':{wide}}{'parameters':>13}{'here':>10}{'published':>11}"
        f"{'seconds':>9}{'ratio':>7}{'published':>11}"
    )
    for learner in learners:
        published = choices[learner.name].published
        accuracy = f"{published.accuracy:.3g}" if published else "-"
        ratio = f"{published.seconds / reference.seconds:.2f}" if published and reference else "-"
        yield (
            f"{learner.name:{wide}}{parameters(learner.model):>13,}"
            f"{learner.epochs[-1].accuracy:>10.3f}{accuracy:>11}"
            f"{learner.seconds:>9.1f}{learner.seconds / first:>7.2f}{ratio:>11}"
        )


def curves(certificate: Certificate, name: str) -> Iterator[str]:
    """Yield the loss curves, compared with that of the layer `name`."""
    steps, budget = len(certificate.losses), certificate.budget
    yield f"End to end in float64: the loss of {steps} steps beside that of {name}'s layer"
    yield f"budget {budget[0]:.1e} at the first step, {budget[-1]:.1e} at the last"
    yield f"{'':40}{'difference':>11}{'of budget':>11}"
    yield from (curve(judged) for judged in certificate.judged)


def curve(judged: Judged) -> str:
    """Return one line: the difference of a curve, and whether it must be inside the bound."""
    label = judged.name if judged.right else f"fault: {judged.name}"
    verdict = f"{PLACES[judged.right]}: {MARKS[judged.holds]}"
    return f"{label:40}{judged.difference.max():>11.1e}{judged.ratio:>11.2g}  {verdict}"


def order(certificate: Certificate) -> Iterator[str]:
    """Yield the laws of word order, with a line for each law and a column for each layer."""
    columns = "".join(f"{name:>{width(name)}}" for name in certificate.laws)
    yield f"{'Order, in units of the budget':48}{columns}"
    for laws in zip(*certificate.laws.values(), strict=True):
        yield line(laws, list(certificate.laws))
    control = certificate.control
    verdict = f"{PLACES[control.same]}: {MARKS[control.holds]}"
    yield f"{'fault: rows of weights added up over the heads':48}{control.ratio:>10.0e}  {verdict}"


def line(laws: Sequence[Law], names: Sequence[str]) -> str:
    """Return the line of one law, with the result of every layer."""
    law = laws[0]
    sentence = f"{'with positions: ' if law.positions else ''}{law.sentence}"
    ratios = "".join(
        f"{each.ratio:>{width(name)}.0e}" for each, name in zip(laws, names, strict=True)
    )
    return f"{sentence:48}{ratios}  {PLACES[law.same]}: {MARKS[all(x.holds for x in laws)]}"


def width(name: str) -> int:
    """Return the width of a column with this head."""
    return max(10, len(name) + 2)


def record(
    learners: Sequence[Trained], certificate: Certificate, corpus: Corpus, seed: int
) -> dict[str, Any]:
    """Return all results as numbers; equal arguments give equal results, except for seconds."""
    return {
        "seed": seed,
        "documents": {"train": len(corpus.train.labels), "test": len(corpus.test.labels)},
        "classes": corpus.classes,
        "models": {learner.name: learnt(learner) for learner in learners},
        "certificate": {
            "passed": certificate.passed,
            "losses": [finite(x) for x in certificate.losses],
            "budget": [finite(x) for x in certificate.budget],
            "curves": [recorded(judged) for judged in certificate.judged],
            "laws": {
                name: [{**law._asdict(), "ratio": finite(law.ratio)} for law in laws]
                for name, laws in certificate.laws.items()
            },
        },
    }


def learnt(learner: Trained) -> dict[str, Any]:
    """Return one model as numbers."""
    epochs = [epoch._asdict() for epoch in learner.epochs]
    return {
        "parameters": parameters(learner.model),
        "epochs": [{name: finite(x) for name, x in epoch.items()} for epoch in epochs],
        "seconds": learner.seconds,
    }


def recorded(judged: Judged) -> dict[str, Any]:
    """Return one curve as numbers."""
    return {
        "name": judged.name,
        "right": judged.right,
        "holds": judged.holds,
        "of_budget": finite(judged.ratio),
        "difference": [finite(x) for x in judged.difference],
    }


def finite(x: float) -> float | None:
    """Return a number for JSON, or None instead of infinity and NaN."""
    return float(x) if math.isfinite(x) else None
