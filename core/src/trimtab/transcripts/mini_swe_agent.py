"""Trajectories of mini-swe-agent: one object whose messages are OpenAI's, each with what was measured beside it."""

from __future__ import annotations

from typing import Any

from trimtab.transcripts.history import History
from trimtab.transcripts.records import Recording
from trimtab.transcripts.source import Source
from trimtab.transcripts.wire import chat, count, listed, mapping, mappings, seconds, string

__all__ = ["NAME", "read", "sniff"]

NAME = "mini-swe-agent"
USAGE = ("prompt_tokens", "completion_tokens", "prompt_cache_hit_tokens", "prompt_cache_miss_tokens")


def sniff(source: Source) -> bool:
    """Whether the file says so of itself."""
    document = mapping(source.document)
    named = string(document.get("trajectory_format")).startswith(NAME)
    return named or "mini_version" in mapping(document.get("info"))


def read(source: Source) -> Recording:
    """Read all requests; what ended the run (role ``exit``) was not sent."""
    document = mapping(source.document)
    history = History(source)
    records = listed(document.get("messages"))
    history.skipped["odd records"] += len(records) - len(mappings(records))
    for record in mappings(records):
        message = chat(record, history.skipped)
        if message is None:
            continue
        history.records += 1
        extra = mapping(record.get("extra"))
        time = seconds(extra.get("timestamp"))
        if message["role"] == "assistant":
            response = mapping(extra.get("response"))
            history.answer(message, time, _usage(response.get("usage")), string(response.get("model")) or None)
        else:
            history.add(message, time)
    return history.recording(NAME, session=document.get("instance_id"))


def _usage(recorded: Any) -> dict[str, Any] | None:
    """The counts under the names that the provider gave them."""
    found = mapping(recorded)
    if not count(found.get("prompt_tokens")):
        return None
    details = mapping(found.get("prompt_tokens_details"))
    counts: dict[str, Any] = {name: count(found[name]) for name in USAGE if name in found}
    if "cached_tokens" in details:
        counts["prompt_tokens_details"] = {"cached_tokens": count(details["cached_tokens"])}
    return counts
