"""The Models API: sizes and capabilities of the models that the settings name."""

from __future__ import annotations

from typing import Any

from trimtab.testing.provider.endpoint import Asked, Given, Refused
from trimtab.testing.provider.messages.compaction import HEADER
from trimtab.testing.provider.settings import Settings

__all__ = ["listed", "one"]

RELEASED = "2026-01-01T00:00:00Z"


def _can(yes: bool, **more: Any) -> dict[str, Any]:
    return {"supported": yes, **more}


def _model(id: str, settings: Settings, asked: Asked) -> dict[str, Any]:
    on = settings.context_management
    edits = {"clear_tool_uses_20250919": _can(on), "clear_thinking_20251015": _can(on), "compact_20260112": _can(False)}
    capabilities: dict[str, Any] = {
        **dict.fromkeys(("batch", "citations", "code_execution", "structured_outputs"), _can(False)),
        **dict.fromkeys(("image_input", "pdf_input"), _can(True)),
        "context_management": _can(on, **edits),
        "effort": _can(False, **dict.fromkeys(("low", "medium", "high", "max"), _can(False))),
        "server_tools": _can(False, web_search=_can(False), code_execution=_can(False)),
        "thinking": _can(True, types={"adaptive": _can(True), "enabled": _can(True)}),
    }
    if HEADER in asked.headers.get("anthropic-beta", ""):
        capabilities["compaction"] = _can(settings.compaction, summarize=_can(settings.compaction))
    return {
        "id": id,
        "type": "model",
        "display_name": id,
        "created_at": RELEASED,
        "lifecycle": "active",
        "max_input_tokens": settings.window,
        "max_tokens": settings.max_output,
        "capabilities": capabilities,
    }


def listed(asked: Asked, settings: Settings) -> Given:
    """All models, on one page."""
    data = [_model(id, settings, asked) for id in settings.models]
    first, last = (settings.models[0], settings.models[-1]) if data else (None, None)
    return Given({"data": data, "has_more": False, "first_id": first, "last_id": last})


def one(asked: Asked, settings: Settings) -> Given:
    """One model; raises `Refused` 404 for one that the settings do not name."""
    id = asked.named("id")
    if id not in settings.models:
        raise Refused(404, f"model: {id}", "not_found_error")
    return Given(_model(id, settings, asked))
