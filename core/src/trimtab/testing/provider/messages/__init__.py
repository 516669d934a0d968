"""Anthropic's Messages API."""

from __future__ import annotations

from trimtab.testing.provider.messages.api import routes

__all__ = ["routes"]
