"""OpenAI's SDK with trimtab in it: ``client = compacting(openai.OpenAI(), profile="openai")``."""

from __future__ import annotations

try:
    import openai as _openai  # noqa: F401
except ImportError as error:
    raise ImportError("trimtab.clients.openai needs the OpenAI SDK: pip install 'trimtab[openai]'") from error

from trimtab.clients.identity import wrapped_session
from trimtab.clients.openai.ask import OpenAIAsker
from trimtab.clients.openai.client import compacting, saved_by, session_of

__all__ = ["OpenAIAsker", "compacting", "saved_by", "session_of", "wrapped_session"]
