"""The certificate: its text, its files, and how two of them differ."""
