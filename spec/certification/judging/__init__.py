"""One clause after the other, on problems that are drawn."""
