"""The laws of attention, one idea a module; `spec.attention` says in which order to read them."""
