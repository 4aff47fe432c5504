"""What needs a GPU: `tox run -e cuda`. Without one it says so, and passes as not run."""

import sys

TARGETS = (
    "torch.nn.functional:scaled_dot_product_attention",
    "oracles.sdpa:math",
    "oracles.sdpa:flash",
    "oracles.sdpa:efficient",
    "oracles.sdpa:cudnn",
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
    from spec.backends import Unsuitable

    passed = []
    for target in TARGETS:
        try:
            certificate = certify(target, backend="torch", device="cuda", profile="quick")
        except Unsuitable as error:  # not every GPU has every kernel
            print(f"not run: {error}")
        else:
            print(certificate)
            passed.append(certificate.passed)
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed, of {len(TARGETS)}")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
