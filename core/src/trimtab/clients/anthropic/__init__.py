"""trimtab in the Anthropic SDK: one middleware, added to a client."""

from __future__ import annotations

from trimtab.clients.anthropic.ask import AnthropicAsker
from trimtab.clients.identity import wrapped_session

try:
    from trimtab.clients.anthropic.middleware import Compaction
except ImportError as error:
    if (error.name or "").partition(".")[0] not in ("anthropic", "httpx2"):
        raise
    raise ImportError("this needs the Anthropic SDK: pip install 'trimtab[anthropic]'", name=error.name) from error

__all__ = ["AnthropicAsker", "Compaction", "wrapped_session"]
