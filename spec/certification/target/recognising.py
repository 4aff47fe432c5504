"""Conventions recognised: what to say of them."""

from __future__ import annotations


def advice(name: str, choice: str) -> str:
    """What to say of a convention that was recognised."""
    word = f"{name}={choice}"
    option = f'"{word}"' if " " in word else word
    return f"looks like the convention {word}: declare it with --convention {option} if it is meant"
