"""Functions of torch that compute in float32, round once, and are wrong by a few percent."""

import math

import torch


def _weights(query, key, temperature=1.0):
    """The weights in float32. temperature: a factor of all scores."""
    scores = temperature * (query.float() @ key.float().mT) / math.sqrt(query.shape[-1])
    return torch.softmax(scores, -1)


def _with(temperature=1.0, of_q=1.0, of_k=1.0, of_v=1.0, row_term=1.0):
    """A function with its backward pass, of which the given numbers should all be one."""

    def attend(query, key, value):
        return (_weights(query, key, temperature) @ value.float()).to(value.dtype)

    def backward(dout, query, key, value):
        a, scale = _weights(query, key), 1 / math.sqrt(query.shape[-1])
        q, k, v, dout = (x.float() for x in (query, key, value, dout))
        da = dout @ v.mT
        ds = a * (da - row_term * (a * da).sum(-1, keepdim=True))
        dq, dk = of_q * scale * ds @ k, of_k * scale * ds.mT @ q
        return dq.to(query.dtype), dk.to(key.dtype), (of_v * a.mT @ dout).to(value.dtype)

    attend.backward = backward
    return attend


right = _with()
temperature_is_two_percent_off = _with(temperature=1.02)
query_gradients_are_two_percent_off = _with(of_q=1.02)
key_gradients_are_three_percent_off = _with(of_k=1.03)
value_gradients_are_one_percent_off = _with(of_v=1.01)
row_term_is_two_percent_off = _with(row_term=0.98)


def stores_all(query, key, value):
    """Right, with every array in the format of its inputs."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    e = (scores - (scores.amax(-1, keepdim=True) if key.shape[-2] else 0)).exp()
    return (e / e.sum(-1, keepdim=True)) @ value
