"""What needs a GPU. Without one each program says so, and passes as not run.

python -m tests.cuda             certificates of torch's attention and ours, held to what they were
python -m tests.cuda.seeds       whether a seed makes a false alarm
python -m tests.cuda.again       whether a hundred calls return the same bits
python -m tests.cuda.numbers     what its units do with numbers
python -m tests.cuda.speed       how fast our kernels are beside torch's

implementations/ledger/devices is what was found on one.
"""

NOT_RUN = "not run: torch finds no CUDA device here"


def there_is_one() -> bool:
    """Whether torch finds a GPU; if not, that is said."""
    import torch

    if not torch.cuda.is_available():
        print(NOT_RUN)
    return torch.cuda.is_available()
