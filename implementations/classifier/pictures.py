"""Pictures: the losses of every model, the effect of rounding on them, and attention heat maps.

They need no screen and no global state of matplotlib: the Agg renderer saves separate figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO

import numpy as np
import torch
from matplotlib.figure import Figure
from tokenizers import Tokenizer

from implementations.classifier.certificate import Certificate
from implementations.classifier.demonstration import Trained
from implementations.classifier.laws import WORDS
from spec.notation import Array

DPI = 100


def drawn(
    learners: Sequence[Trained], certificate: Certificate, tokenizer: Tokenizer
) -> Mapping[str, bytes]:
    """Return every picture as PNG, by file name."""
    figures = {
        "losses.png": losses(learners),
        "differences.png": differences(certificate),
        "attention.png": attention(learners, tokenizer),
    }
    return {name: as_png(figure) for name, figure in figures.items()}


def as_png(figure: Figure) -> bytes:
    """Return the content of a PNG file."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    return buffer.getvalue()


def losses(learners: Sequence[Trained]) -> Figure:
    """Return a figure of training and test loss over the epochs, with a panel for each model."""
    figure = Figure(figsize=(3.2 * len(learners), 3.6), layout="constrained")
    panels = figure.subplots(1, len(learners), sharey=True, squeeze=False)[0]
    for panel, learner in zip(panels, learners, strict=True):
        epochs = range(1, len(learner.epochs) + 1)
        for part, colour in (("train_loss", "tab:blue"), ("test_loss", "tab:orange")):
            values = [getattr(epoch, part) for epoch in learner.epochs]
            panel.plot(epochs, values, marker="o", color=colour, label=part.replace("_", " "))
        panel.set(title=learner.name, xlabel="epoch")
        panel.xaxis.get_major_locator().set_params(integer=True)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("cross-entropy")
    panels[0].legend()
    return figure


def differences(certificate: Certificate) -> Figure:
    """Return a figure of the difference of every curve to the reference, with the error bound."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    panel = figure.subplots()
    steps = np.arange(1, len(certificate.losses) + 1)
    panel.fill_between(steps, certificate.budget, color="0.85", label="budget")
    for judged in certificate.judged:
        style = "-" if judged.right else "--"
        shown = np.where(judged.difference > 0, judged.difference, np.nan)
        label = judged.name if judged.right else f"fault: {judged.name}"
        panel.plot(steps, shown, style, marker=".", label=label)
    panel.set(yscale="log", xlabel="step", ylabel="difference of the loss, float64")
    panel.set_ylim(bottom=float(np.finfo(float).eps) / 4)
    figure.legend(loc="outside right upper", fontsize="small")
    return figure


def attention(learners: Sequence[Trained], tokenizer: Tokenizer) -> Figure:
    """Return a figure of the mean weights of every model, for a text with a repeated word."""
    encoding = tokenizer.encode(WORDS)
    figure = Figure(figsize=(4.2 * len(learners), 4.8), layout="constrained")
    panels = figure.subplots(1, len(learners), squeeze=False)[0]
    places = range(len(encoding.tokens))
    every = [mean_weights(learner, encoding.ids) for learner in learners]
    most = max(float(weights.max()) for weights in every)  # one colour scale for all panels
    for panel, learner, weights in zip(panels, learners, every, strict=True):
        panel.imshow(weights, cmap="viridis", vmin=0, vmax=most)
        panel.set_xticks(places, encoding.tokens, rotation=90)
        panel.set_yticks(places, encoding.tokens)
        for i, j in np.ndindex(weights.shape):
            shade = "white" if weights[i, j] < most / 2 else "black"
            panel.text(j, i, f"{weights[i, j]:.2f}", ha="center", va="center", color=shade, size=7)
        panel.set(title=learner.name, xlabel="key")
    panels[0].set_ylabel("query")
    return figure


def mean_weights(learner: Trained, ids: list[int]) -> Array:
    """Return the weights of one text, averaged over the heads.   (L, L)"""
    with torch.no_grad():
        return learner.model.attention(torch.tensor([ids]))[0].numpy()
