"""The means of all proofs: theorems with controls, exact numbers, symbols."""
