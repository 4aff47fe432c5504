"""Arrays to and from the libraries that implementations are written in."""
