"""timm's attention layer without torch's fused function, as with `TIMM_FUSED_ATTN=0`."""

from __future__ import annotations

from typing import Any

from timm.layers.attention import Attention


class Unfused(Attention):  # type: ignore[misc]
    """The layer that uses matrix products."""

    def __init__(self, *sizes: Any, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.fused_attn = False
