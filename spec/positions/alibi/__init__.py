"""Linear biases: what is far fades, at a rate for each head. Slopes, then biases."""
