"""One Anthropic client for all tests of the fake provider: making one takes longer than a test."""

from __future__ import annotations

import atexit
from typing import Any

import anthropic
from trimtab.testing.provider import FakeProvider

SHARED = anthropic.Anthropic(base_url="http://127.0.0.1", api_key="any", max_retries=0)
atexit.register(SHARED.close)


def client(provider: FakeProvider, **more: Any) -> anthropic.Anthropic:
    """A client of this provider, without retries unless ``more`` says otherwise."""
    return SHARED.with_options(base_url=provider.url, **more)
