"""Which fields the API knows: of the request, of messages, of content blocks. Anything else is refused.

From the parameter types of the ``anthropic`` SDK 2.14.0.
"""

from __future__ import annotations

__all__ = ["BETA", "BLOCKS", "COUNTED", "MESSAGE", "REQUEST", "SERVER_CALLS", "SERVER_RESULTS", "VOICE"]


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


REQUEST = _names(
    "cache_control container diagnostics inference_geo max_tokens messages metadata model output_config service_tier "
    "speed stop_sequences stream system temperature thinking tool_choice tools top_k top_p"
)
"""Top-level fields of every request."""
BETA = _names(
    "billing_policy compaction context_management fallback_credit_token fallbacks mcp_servers output_format thread"
)
"""Top-level fields of requests that ask for a beta."""
COUNTED = _names(
    "billing_policy cache_control compaction context_management mcp_servers messages model output_config output_format "
    "speed system thinking tool_choice tools"
)
"""Top-level fields of ``count_tokens``."""

MESSAGE = {
    "user": frozenset({"role", "content"}),
    "assistant": frozenset({"role", "content"}),
    "system": frozenset({"role", "content", "clear_at", "output_config"}),
}
"""Fields of a message, by role."""

SERVER_RESULTS = _names(
    "web_search_tool_result web_fetch_tool_result advisor_tool_result code_execution_tool_result "
    "bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result "
    "mcp_tool_result"
)
SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})


def _block(fields: str, marker: bool = True) -> frozenset[str]:
    return _names(f"type {fields} {'cache_control' if marker else ''}")


BLOCKS = {
    **dict.fromkeys(SERVER_RESULTS, _block("content tool_use_id")),
    "text": _block("text citations"),
    "image": _block("source transformations"),
    "document": _block("citations context source title"),
    "search_result": _block("citations content source title"),
    "thinking": _block("signature thinking", marker=False),
    "redacted_thinking": _block("data", marker=False),
    "tool_use": _block("caller id input name toolset_name"),
    "tool_result": _block("content is_error tool_use_id toolset_name"),
    "server_tool_use": _block("caller id input name"),
    "web_search_tool_result": _block("caller content tool_use_id"),
    "web_fetch_tool_result": _block("caller content tool_use_id"),
    "mcp_tool_use": _block("id input name server_name"),
    "mcp_tool_result": _block("content is_error tool_use_id"),
    "container_upload": _block("file_id"),
    "compaction": _block("content encrypted_content signature tool_changes"),
    "tool_addition": _block("tool"),
    "tool_removal": _block("tool"),
    "mcp_tool_listing": _block("mcp_server_name tools", marker=False),
    "fallback": _block("from to trigger", marker=False),
    "tool_reference": _block("tool_name"),
}
"""Fields of a content block, by type."""

VOICE = {
    "user": _names("text image document search_result tool_result container_upload compaction mcp_tool_listing"),
    "assistant": frozenset(BLOCKS) - {"image", "tool_result", "tool_addition", "tool_removal", "tool_reference"},
    "system": frozenset({"text", "tool_addition", "tool_removal"}),
}
"""Types of blocks that a role may send. A compaction block may stand first in a message of either voice."""
