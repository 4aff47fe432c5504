"""Functions of torch that compute in float32, round once, and are wrong where scores are large."""

import math

import torch


def _attention(query, key, value, instead=None, beyond=math.inf, of_largest=False):
    """Attention, but for rows with a product of sizes beyond a limit, and what these get instead.

    instead: the weights of these rows, of their scores. of_largest: only the sizes of the key with
    the largest score count.
    """
    q, k, v = (x.float() for x in (query, key, value))
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = scores.softmax(-1)
    if instead is not None and key.shape[-2]:
        sizes = q.abs() @ k.abs().mT / math.sqrt(q.shape[-1])
        best = scores.argmax(-1, keepdim=True)
        size = sizes.gather(-1, best) if of_largest else sizes.amax(-1, keepdim=True)
        weights = torch.where(size > beyond, instead(scores), weights)
    return (weights @ v).to(value.dtype)


def _lowest(scores):
    return torch.nn.functional.one_hot(scores.argmin(-1), scores.shape[-1]).float()


def _equal(scores):
    return torch.ones_like(scores) / scores.shape[-1]


def right(query, key, value):
    return _attention(query, key, value)


def lowest_where_the_largest_is_beyond_91(query, key, value):
    return _attention(query, key, value, _lowest, 91.0, of_largest=True)


def lowest_where_the_largest_is_beyond_200(query, key, value):
    return _attention(query, key, value, _lowest, 200.0, of_largest=True)


def mean_where_the_largest_is_beyond_91(query, key, value):
    return _attention(query, key, value, _equal, 91.0, of_largest=True)


def lowest_where_any_is_beyond_1448(query, key, value):
    return _attention(query, key, value, _lowest, 1448.0)


def mean_where_any_is_beyond_1448(query, key, value):
    return _attention(query, key, value, _equal, 1448.0)
