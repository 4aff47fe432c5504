"""From text to token ids: a vocabulary of 1,000 word pieces, trained on the training texts.

A text becomes [CLS] piece ... piece [SEP], cut after 256 tokens. A batch is padded at the end with
[PAD], which has the id 0. The first token is therefore never a word; the model uses the output of
[CLS].

The source of the text-classifier trains a WordPiece vocabulary of this size. Here it is byte-pair
encoding (Sennrich et al. 2016), because the WordPiece trainer of the library numbers pieces in an
order that differs from run to run, and these runs must be reproducible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor

VOCABULARY, LONGEST = 1000, 256
PAD, UNKNOWN, FIRST, LAST = "[PAD]", "[UNK]", "[CLS]", "[SEP]"


def trained(texts: Iterable[str]) -> Tokenizer:
    """Return a tokenizer trained on these texts."""
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = [PAD, UNKNOWN, FIRST, LAST]  # in this order: [PAD] is 0
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=special, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{FIRST} $A {LAST}",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (FIRST, LAST)],
    )
    tokenizer.enable_truncation(LONGEST)
    return tokenizer


def encoded(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Return the token ids of every text."""
    return [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Return one array of texts of different lengths, with zeros after their ends.   (B, L)"""
    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True)
