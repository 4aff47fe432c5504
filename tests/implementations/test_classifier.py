"""The text-classifier: losses of correct and of faulty layers, and laws of word order."""

import numpy as np
import pytest
import torch

from implementations.classifier.budgets import Prediction
from implementations.classifier.certificate import Bench, Certificate, Judged, certified
from implementations.classifier.demonstration import Corpus, prepared
from implementations.classifier.documents import ROWS, Documents, load
from implementations.classifier.faults import FAULTS, AddsUpTheWeights
from implementations.classifier.grammar import corpus as texts_of
from implementations.classifier.laws import laws, row_sums
from implementations.classifier.model import HEADS, LAYERS, WIDTH, built, parameters
from implementations.classifier.tokens import LONGEST, VOCABULARY, trained
from implementations.classifier.topics import TOPICS
from implementations.systems.efficient_layer import EfficientLayer

pytestmark = pytest.mark.classifier
STEPS = 2  # a wrong gradient changes the loss of the second


class Answers(EfficientLayer):
    """Returns NaN."""

    def attended(self, q, k, v):
        o, a = super().attended(q, k, v)
        return o * torch.nan, a


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    documents = load(None, seed=0)
    return prepared(Documents(documents.train[:400], documents.test[:40], documents.classes))


@pytest.fixture(scope="module")
def bench(corpus: Corpus) -> Bench:
    return Bench(corpus.train, len(corpus.classes), seed=0, steps=STEPS, told=lambda: None)


@pytest.fixture(scope="module")
def certificate(bench: Bench, corpus: Corpus) -> Certificate:
    return certified(LAYERS, bench, corpus.tokenizer)


@pytest.mark.parametrize("positions", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_it_has_the_published_number_of_parameters(name, positions):
    model = built(LAYERS[name], 5, seed=0, positions=positions)
    layer = 4 * (WIDTH * WIDTH + WIDTH)
    assert parameters(model.layer) == layer
    assert parameters(model) == VOCABULARY * WIDTH + layer + 65 * 128 + 129 * 5 == 89605


def test_all_layers_compute_the_same_function_before_training(bench):
    ids = bench.batches[0][0][:1]
    models = [bench.model(layer) for layer in LAYERS.values()]
    within = Prediction(models[0], ids).of_scores
    with torch.no_grad():
        first, *others = (model(ids)[0].numpy() for model in models)
    assert all((np.abs(other - first) <= within).all() for other in others)
    assert (within < 1e-9).all()


@pytest.mark.slow
def test_correct_layers_have_the_same_loss_curve(certificate):
    right = {judged.name: judged for judged in certificate.judged if judged.right}
    assert [*right] == [
        "naive",
        "efficient",
        "ours",
        "torch, heads reversed",
        "torch, batches reversed",
    ]
    assert all(judged.ratio <= 1 for judged in right.values())
    assert any(judged.difference.any() for judged in right.values())
    assert certificate.passed


@pytest.mark.parametrize("fault", FAULTS)
def test_losses_of_a_faulty_layer_are_far_from_the_curve(certificate, fault):
    judged = next(judged for judged in certificate.judged if judged.name == fault)
    assert not judged.right
    assert judged.ratio > 1000
    assert judged.holds


def test_error_bound_of_the_losses_is_small(certificate):
    assert (certificate.budget > 0).all()
    assert (certificate.budget < 1e-12).all()
    assert np.abs(certificate.losses - np.log(5)).max() < 0.5


def test_wrong_weights_with_a_correct_output_break_a_law_only(bench, corpus):
    wrong, right = bench.model(AddsUpTheWeights), bench.model(EfficientLayer)
    batches = bench.batches[:2]
    assert (bench.curve(wrong, batches) == bench.curve(right, batches)).all()
    assert not row_sums(wrong, corpus.tokenizer).holds
    assert row_sums(right, corpus.tokenizer).holds


@pytest.mark.parametrize("layer", [*FAULTS.values(), Answers])
def test_no_faulty_layer_is_certified(certificate, bench, layer):
    curve = bench.curve(bench.model(layer))
    judged = Judged("", True, np.abs(curve - certificate.losses), certificate.budget)
    assert not judged.holds
    assert not certificate._replace(judged=[judged]).passed


@pytest.mark.parametrize(
    ("differences", "ratio"),
    [([0, 0], 0), ([1, 3], 1.5), ([np.nan, 0], np.inf), ([np.inf, 0], np.inf)],
)
def test_ratio_is_that_of_the_worst_step(differences, ratio):
    assert Judged("", True, np.array(differences, float), np.array([1.0, 2.0])).ratio == ratio


@pytest.mark.parametrize("name", LAYERS)
def test_without_positions_word_order_has_no_influence(certificate, name):
    found = {law.sentence: law for law in certificate.laws[name] if not law.positions}
    assert {sentence: law.same for sentence, law in found.items()} == {
        "the words turn, the same answer": True,
        "all but [CLS] reversed, the same answer": True,
        "another word first and no [CLS], another answer": False,
        "equal tokens, equal rows": True,
        "rows of weights sum to one": True,
    }
    assert all(law.holds for law in found.values()), found


@pytest.mark.parametrize("name", LAYERS)
def test_with_positions_word_order_has_an_influence(certificate, name):
    found = {law.sentence: law for law in certificate.laws[name] if law.positions}
    assert {sentence: law.same for sentence, law in found.items()} == {
        "the words turn, another answer": False,
        "equal tokens, unequal rows": False,
        "rows of weights sum to one": True,
    }
    assert all(law.holds for law in found.values()), found


@pytest.mark.parametrize("positions", [False, True])
def test_model_with_other_positions_breaks_the_laws(bench, corpus, positions):
    model = bench.model(EfficientLayer, positions=positions)
    found = list(laws(model, corpus.tokenizer, positions=not positions))
    broken = [law.sentence for law in found if not law.holds]
    alike = ["the words turn, the same answer", "all but [CLS] reversed, the same answer"]
    if positions:
        assert broken == [*alike, "equal tokens, equal rows"]
    else:
        assert broken == ["the words turn, another answer", "equal tokens, unequal rows"]


def test_prediction_in_a_batch_without_padding_equals_that_alone(bench, corpus):
    model = bench.model(EfficientLayer)
    ids = torch.tensor([[2, 10, 20, 30, 3], [2, 40, 50, 60, 3]])
    within = Prediction(model, ids[:1]).of_scores
    with torch.no_grad():
        assert (np.abs((model(ids)[0] - model(ids[:1])[0]).numpy()) <= within).all()
    assert (model.embedding.weight[0] == 0).all()
    assert corpus.tokenizer.token_to_id("[PAD]") == 0


@pytest.mark.slow
def test_generated_corpus_is_balanced_and_reproducible():
    documents = load(None, seed=3)
    assert (len(documents.train), len(documents.test)) == (918, 307)
    assert documents == load(None, seed=3)
    assert documents.train != load(None, seed=4).train
    assert np.bincount([label for _, label in texts_of(ROWS, 3)]).tolist() == [ROWS // 5] * 5
    assert documents.classes == tuple(TOPICS)


def test_no_topic_has_a_word_in_every_text():
    texts = [(set(text.split()), label) for text, label in texts_of(ROWS, 0)]
    for label, topic in enumerate(TOPICS.values()):
        own = [words for words, x in texts if x == label]
        assert max(sum(noun in words for words in own) for noun in topic.nouns) < 0.9 * len(own)


def test_vocabulary_has_a_thousand_entries_and_is_reproducible():
    texts = [text for text, _ in load(None, seed=0).train]
    one, other = trained(texts), trained(texts)
    assert one.get_vocab_size() == VOCABULARY
    assert one.get_vocab() == other.get_vocab()
    assert one.encode("the storm and the train").tokens[::6] == ["[CLS]", "[SEP]"]
    assert len(one.encode("storm " * 1000).ids) == LONGEST


def test_heads_divide_the_width():
    assert (WIDTH, HEADS) == (64, 8)
