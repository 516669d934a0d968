"""What the provider clears by itself: the parameters that ask for it, and what a response says of it."""

from __future__ import annotations

from typing import Any

import pytest
from trimtab.dialect import Usage
from trimtab.parts import part

CLAUDE, CHAT = part("dialect", "anthropic")(), part("dialect", "openai")()
BETA = "context-management-2025-06-27"
USAGE = {"input_tokens": 10, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 90, "output_tokens": 5}


def test_all_settings() -> None:
    """Each under the name that the provider has for it, thinking first."""
    settings = {
        "thinking": 2,
        "trigger": 180_000,
        "keep": 5,
        "clear_at_least": 40_000,
        "exclude": ["edit"],
        "inputs": ("read", "search"),
    }
    assert CLAUDE.extra({"context_management": settings, "cache_edits": "some-header"}) == {
        "context_management": {
            "edits": [
                {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 2}},
                {
                    "type": "clear_tool_uses_20250919",
                    "trigger": {"type": "input_tokens", "value": 180_000},
                    "keep": {"type": "tool_uses", "value": 5},
                    "clear_at_least": {"type": "input_tokens", "value": 40_000},
                    "exclude_tools": ["edit"],
                    "clear_tool_inputs": ["read", "search"],
                },
            ]
        },
        "betas": [BETA, "some-header"],
    }


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ({}, {}),
        ({"cache_edits": True}, {}),
        ({"cache_edits": "some-header"}, {"betas": ["some-header"]}),
        ({"context_management": {}}, {}),
        (
            {"context_management": {"thinking": "all"}},
            {"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}, "betas": [BETA]},
        ),
        (
            {"context_management": {"thinking": None, "keep": 0, "exclude": [], "trigger": None}},
            {
                "context_management": {
                    "edits": [{"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": 0}}]
                },
                "betas": [BETA],
            },
        ),
    ],
)
def test_only_what_is_asked_for(features: dict[str, Any], expected: dict[str, Any]) -> None:
    """Settings that are absent are left to the provider; a feature without a header needs none."""
    assert CLAUDE.extra(features) == expected


def test_the_sdk_takes_the_parameters() -> None:
    """The beta call has arguments of these names, and types with these fields."""
    anthropic = pytest.importorskip("anthropic")
    import inspect
    import typing

    call = inspect.signature(anthropic.resources.beta.messages.Messages.create).parameters
    edits = CLAUDE.extra({"context_management": {"thinking": 1, "trigger": 1, "keep": 1, "inputs": ["x"]}})
    assert edits.keys() <= call.keys()
    types = anthropic.types.beta
    kinds = (types.BetaClearThinking20251015EditParam, types.BetaClearToolUses20250919EditParam)
    for edit, kind in zip(edits["context_management"]["edits"], kinds, strict=True):
        fields = typing.get_type_hints(kind)
        assert edit.keys() <= fields.keys()
        assert edit["type"] in str(fields["type"])


def test_chat_has_no_features() -> None:
    """Nothing is asked for, and nothing is marked."""
    assert CHAT.features == frozenset()
    assert CHAT.extra({"context_management": {"keep": 1}, "cache_edits": "x"}) == {}
    messages = [{"role": "user", "content": "go"}]
    assert CHAT.evicting(messages, {0: ["a"]}) == messages
    assert CHAT.evicting(messages, {})[0] is messages[0]
    assert CLAUDE.features == {"cache_edits", "compaction", "context_management", "drop_block"}


def test_what_was_deleted_and_cleared() -> None:
    """Deleted is in the usage, cleared beside it: the sum over all edits."""
    edits = [
        {"type": "clear_thinking_20251015", "cleared_input_tokens": 100, "cleared_thinking_turns": 1},
        {"type": "clear_tool_uses_20250919", "cleared_input_tokens": 4_000, "cleared_tool_uses": 3},
        {"type": "another"},
    ]
    response = {
        "model": "m",
        "usage": {**USAGE, "cache_deleted_input_tokens": 300},
        "context_management": {"applied_edits": edits},
    }
    assert CLAUDE.usage(response) == Usage(900, 90, 10, 5, "m", deleted=300, cleared=4_100)
    assert CLAUDE.usage({"usage": USAGE}) == Usage(900, 90, 10, 5)
    assert CLAUDE.usage(USAGE) == Usage(900, 90, 10, 5)
    for odd in (None, {}, {"applied_edits": None}, {"applied_edits": [None, {"cleared_input_tokens": "x"}]}):
        assert CLAUDE.usage({"usage": USAGE, "context_management": odd}) == Usage(900, 90, 10, 5)


def test_a_zero_does_not_overwrite_what_was_deleted() -> None:
    """It is cumulative: of the places that tell it the largest counts, the size is still the last message's."""
    last = {**USAGE, "type": "message", "cache_deleted_input_tokens": 0}
    steps = [{**USAGE, "type": "message", "input_tokens": 1, "cache_deleted_input_tokens": 300}, last]
    expected = Usage(900, 90, 10, 5, deleted=300)
    assert CLAUDE.usage({"usage": {**USAGE, "cache_deleted_input_tokens": 0, "iterations": steps}}) == expected
    assert CLAUDE.usage({"usage": {**USAGE, "cache_deleted_input_tokens": 300, "iterations": [last]}}) == expected


def test_usage_of_an_object_of_the_sdk() -> None:
    """The deleted tokens are a field that the SDK does not know, and keeps."""
    anthropic = pytest.importorskip("anthropic")
    edit = {"type": "clear_tool_uses_20250919", "cleared_input_tokens": 4_000, "cleared_tool_uses": 3}
    fields = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {**USAGE, "cache_deleted_input_tokens": 300},
        "context_management": {"applied_edits": [edit]},
    }
    message = anthropic.types.beta.BetaMessage.model_validate(fields)
    assert CLAUDE.usage(message) == Usage(900, 90, 10, 5, "m", deleted=300, cleared=4_000)
