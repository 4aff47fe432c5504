"""Names files that it has loaded which are no paths, when its libraries are asked for."""

from functions import mean
from wire import part

serve = part("serve")


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


known = serve.DOES["loaded"]
serve.DOES["loaded"] = lambda self, told: {**known(self, told), "files": ["../up\n.py"]}
