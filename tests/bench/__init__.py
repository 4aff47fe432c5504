"""The promises about speed and memory, measured, and the figures that the README shows."""
