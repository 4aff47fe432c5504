"""Train a text classifier with four attention layers: torch, naive, efficient, and ours.

    python -m implementations.classifier               our own corpus, ten epochs
    python -m implementations.classifier --quick       two epochs
    python -m implementations.classifier --dataset SetFit/bbc-news       from the hub
    python -m implementations.classifier --dataset FOLDER                train.jsonl, test.jsonl

Exit codes: 0: all layers have the same loss curve, and the laws hold. 1: one of them fails. 2: bad
arguments; a one-line message says why, and no file is written. 3: interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, NoReturn

import torch
from tqdm import tqdm

from implementations.classifier import report
from implementations.classifier.certificate import Bench, Certificate, certified, runs
from implementations.classifier.demonstration import (
    CHOICES,
    Choice,
    Corpus,
    Trained,
    prepared,
    steps,
    trained_models,
)
from implementations.classifier.documents import Unusable, load
from implementations.classifier.files import writable, written
from implementations.classifier.model import LAYERS, LayerClass, named


class Extent(NamedTuple):
    """The number of training epochs, and the number of steps of a curve of the certificate."""

    epochs: int
    steps: int


FULL, QUICK = Extent(epochs=10, steps=40), Extent(epochs=2, steps=6)


class Parser(argparse.ArgumentParser):
    """A parser that reports errors in one line."""

    def error(self, message: str) -> NoReturn:
        """Raise Unusable, which leads to exit code 2."""
        raise Unusable(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)  # gives sums the same order on every machine
        return run(parser().parse_args(arguments))
    except Unusable as reason:
        print(f"error: {reason}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 3
    finally:
        torch.set_num_threads(threads)


def run(options: argparse.Namespace) -> int:
    """Train, certify, print, and write pictures."""
    json_file = writable(Path(options.json)) if options.json else None
    folder = None if options.no_pictures else drawable(Path(options.pictures))
    extra = {target: named(target) for target in options.layer}
    corpus = prepared(load(options.dataset, options.seed))
    choices = {**CHOICES, **{name: Choice(layer) for name, layer in extra.items()}}
    learners, certificate = studied(options, corpus, choices, {**LAYERS, **extra})
    printed(options.epochs, corpus, choices, learners, certificate)
    files: dict[Path, bytes] = {}
    if json_file:
        numbers = report.record(learners, certificate, corpus, options.seed)
        files[json_file] = (json.dumps(numbers, indent=1, allow_nan=False) + "\n").encode()
    if folder:
        from implementations.classifier import pictures

        found = pictures.drawn(learners, certificate, corpus.tokenizer)
        files.update({folder / name: content for name, content in found.items()})
        print(f"pictures in {folder}")
    written(files)
    print("\ncertified" if certificate.passed else "\nNOT CERTIFIED")
    return 0 if certificate.passed else 1


def studied(
    options: argparse.Namespace,
    corpus: Corpus,
    choices: Mapping[str, Choice],
    layers: Mapping[str, LayerClass],
) -> tuple[list[Trained], Certificate]:
    """Return all trained models and the certificate of all layers, with a progress bar."""
    extent = QUICK if options.quick else FULL
    options.epochs = options.epochs or extent.epochs
    length, seed = options.steps or extent.steps, options.seed
    total = len(choices) * options.epochs * steps(corpus) + runs(layers) * length
    with tqdm(total=total, unit="step", disable=None, desc="training") as progress:
        learners = trained_models(choices, corpus, options.epochs, seed, progress.update)
        progress.set_description("certifying")
        bench = Bench(corpus.train, len(corpus.classes), seed, length, progress.update)
        return learners, certified(layers, bench, corpus.tokenizer)


def printed(
    epochs: int,
    corpus: Corpus,
    choices: Mapping[str, Choice],
    learners: Sequence[Trained],
    certificate: Certificate,
) -> None:
    """Print three tables."""
    print(report.heading(corpus, epochs), *report.table(learners, choices), sep="\n", end="\n\n")
    print(*report.curves(certificate, learners[0].name), sep="\n", end="\n\n")
    print(*report.order(certificate), sep="\n", end="\n\n")


def drawable(folder: Path) -> Path:
    """Return the folder. Raises Unusable if pictures cannot be drawn or written there."""
    if find_spec("matplotlib") is None:
        raise Unusable(
            "matplotlib cannot be found, which draws the pictures:"
            " pip install matplotlib, or --no-pictures"
        )
    if folder.exists() and not folder.is_dir():
        raise Unusable(f"{folder} is no folder")
    writable(folder / "losses.png")
    return folder


def parser() -> Parser:
    """Return the parser of the options."""
    found = Parser(prog="python -m implementations.classifier", description=__doc__)
    found.formatter_class = argparse.RawDescriptionHelpFormatter
    add = found.add_argument
    add("--quick", action="store_true", help="two epochs, and a certificate of six steps")
    add("--dataset", metavar="NAME", help="a folder, or a dataset of the hub; else our own")
    add("--json", metavar="FILE", help="write all numbers as JSON")
    add("--pictures", metavar="FOLDER", default="build/classifier", help="%(default)s")
    add("--no-pictures", action="store_true", help="draw none, so that matplotlib is not needed")
    add("--seed", type=whole(0), default=0, metavar="N", help="%(default)s")
    add("--epochs", type=whole(1), metavar="N", help="10, or 2 with --quick")
    add("--steps", type=whole(1), metavar="N", help="of the certificate: 40, or 6 with --quick")
    more = "one more, called as torch's is: module:Class or path/to/file.py:Class"
    add("--layer", action="append", default=[], metavar="TARGET", help=more)
    return found


def whole(least: int) -> Callable[[str], int]:
    """Return a parser of integers that rejects those below `least`."""

    def number(text: str) -> int:
        try:
            found = int(text)
        except ValueError:
            found = least - 1
        if found < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least {least}")
        return found

    return number
