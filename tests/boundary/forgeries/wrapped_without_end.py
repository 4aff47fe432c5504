"""Says of itself that it is the wrapper of another function, which is one as well, without end."""

from functions import mean


class Wrapper:
    def __call__(self, query, key, value, attn_mask=None, is_causal=False, scale=None):
        return mean(query, key, value)

    @property
    def __wrapped__(self):
        return Wrapper()


attend = Wrapper()
