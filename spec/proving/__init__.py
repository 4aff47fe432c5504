"""What proofs of any kind are written in: theorems with controls, exact numbers, symbols."""
