"""Says that it stands in torch's own file, that torch is its package, and a GPU its device."""

from functions import mean
from wire import part

serve = part("serve")


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


serve.DOES["source"] = lambda self, told: "torch/nn/functional.py:5921"
serve.DOES["loaded"] = lambda self, told: {
    "libraries": ["torch"],
    "packages": ["torch", "flash_attn"],
    "files": ["/usr/lib/python3/torch/nn/functional.py"],
    "calls": [],
    "gpu": "NVIDIA H200, CUDA 12.8, driver 570.1",
}
