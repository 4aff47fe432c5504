"""What needs a GPU: `tox run -e cuda`. Without one it says so, and passes as not run."""

import sys

TARGETS = (
    "torch.nn.functional:scaled_dot_product_attention",
    "oracles.sdpa:math",
    "oracles.autograd:attend",
    "implementations.einsum_torch:attend",
    "implementations.fused_torch:attend",
    "implementations.multihead_torch:MultiHead",
)


def main() -> int:
    """Certify the torch implementations on a GPU; 1 if one of them is not certified."""
    import torch

    if not torch.cuda.is_available():
        print("not run: torch finds no CUDA device here")
        return 0
    from spec import certify

    refused = []
    for target in TARGETS:
        certificate = certify(target, backend="torch", device="cuda", profile="quick")
        print(certificate)
        if not certificate.passed:
            refused.append(target)
    print(f"{len(TARGETS) - len(refused)} passed, {len(refused)} failed")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
