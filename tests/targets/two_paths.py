"""Functions of torch with one path for inference and another for training."""

import torch
from torch.nn.functional import scaled_dot_product_attention as inference


def shifted_in_training(query, key, value):
    """Another output where gradients are recorded, and the right gradients of it."""
    out = inference(query, key, value)
    return out + 1 if out.requires_grad else out


def shifted_in_inference(query, key, value):
    out = inference(query, key, value)
    return out if out.requires_grad else out + 1


def by_hand(query, key, value):
    """Autograd differentiates other calls than inference makes, and both are right."""
    if not query.requires_grad:
        return inference(query, key, value)
    s = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    return torch.softmax(s, dim=-1) @ value


def compiled():
    """Compiled for each shape anew, so that eight shapes are all that it is compiled for."""
    return torch.compile(inference, backend="eager", dynamic=False)
