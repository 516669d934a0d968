"""Responses: sizes, usage, refusals, and the check of a list of items."""

from __future__ import annotations

from typing import Any

import pytest
from machine import SHARED
from trimtab import Session, load
from trimtab.conversation import Conversation
from trimtab.dialect import Refusal
from trimtab.dialects.refusals import refusal
from trimtab.dialects.responses import Responses, validate
from trimtab.dialects.responses.sizes import FRAME, SEALED, SEALING, SEARCH
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.transcripts import read

DIALECT = Responses()
SESSIONS = sorted((SHARED / "corpus" / "codex-rollout").glob("*.jsonl"))
CALL = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "x"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}


def size(item: Any) -> int:
    """Tokens of an item, a token for each character."""
    return Conversation(DIALECT, len).locate([item]).path[0].sizes[0]


def test_sizes() -> None:
    """Text by the counter, framing for what is no message, what is encrypted by its length, pictures by pixels."""
    assert size({"role": "user", "content": "four"}) == 4
    assert size(CALL) == FRAME + 4 + 2
    assert size({**OUTPUT, "output": "four"}) == FRAME + 4
    for characters, thought in ((900, 0), (1_938, int(SEALED * (1_938 - SEALING)))):
        assert size({**THOUGHT, "encrypted_content": "x" * characters}) == FRAME + thought
    assert size({"type": "web_search_call", "status": "completed"}) == FRAME + SEARCH
    picture = {"type": "input_image", "detail": "low", "image_url": "data:image/png;base64," + "A" * 90_000}
    assert size({"role": "user", "content": [picture]}) == 85
    assert 85 < size({"type": "image_generation_call", "id": "ig", "result": "A" * 90_000}) < 2_000
    assert size({**OUTPUT, "output": [{"type": "input_text", "text": "four"}, picture]}) == FRAME + 4 + 85


def test_usage() -> None:
    """What was read and written is part of the input; without it what was not read was written."""
    details = {"cached_tokens": 60, "cache_write_tokens": 30}
    told = {"input_tokens": 100, "input_tokens_details": details, "output_tokens": 7}
    found = DIALECT.usage({"usage": told, "model": "gpt-6"})
    assert found is not None
    assert (found.read, found.written, found.fresh, found.output, found.model) == (60, 30, 10, 7, "gpt-6")
    assert DIALECT.usage({"type": "response.completed", "response": {"usage": told, "model": "gpt-6"}}) == found
    older = DIALECT.usage({**told, "input_tokens_details": {"cached_tokens": 60}})
    assert older is not None
    assert (older.read, older.written, older.fresh) == (60, 40, 0)
    assert DIALECT.usage({"output": []}) is None


INCOMPLETE = {
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "usage": {"output_tokens": 0},
}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({**INCOMPLETE, "output": []}, Refusal("tokens")),
        ({"type": "response.incomplete", "response": {**INCOMPLETE, "output": []}}, Refusal("tokens")),
        ({**INCOMPLETE, "output": [{"type": "message"}]}, None),
        ({**INCOMPLETE, "output": [], "usage": {"output_tokens": 9}}, None),
        ({**INCOMPLETE, "output": [], "incomplete_details": {"reason": "content_filter"}}, None),
        ({"status": "completed", "output": [], "usage": {"output_tokens": 0}}, None),
        (
            {
                "type": "response.failed",
                "response": {
                    "status": "failed",
                    "error": {
                        "code": "context_length_exceeded",
                        "message": "Your input exceeds the context window of this model.",
                    },
                    "output": [],
                },
            },
            Refusal("tokens"),
        ),
        (
            {
                "type": "response.failed",
                "response": {"status": "failed", "error": {"code": "server_error", "message": "Sorry."}, "output": []},
            },
            None,
        ),
        (
            {"error": {"type": "invalid_request_error", "message": "No tool output found for custom tool call c1."}},
            None,
        ),
    ],
)
def test_refusals(said: Any, expected: Refusal | None) -> None:
    """An answer without room, whole or at the end of a stream, and an error in an answer."""
    assert refusal(said) == expected


@pytest.mark.parametrize(
    ("items", "rules"),
    [
        ([CALL, OUTPUT], []),
        ([CALL], ["R3"]),
        ([OUTPUT], ["R3"]),
        ([OUTPUT, CALL], ["R3", "R3"]),
        ([{"id": "fc_1"}, OUTPUT], []),
        ([THOUGHT, CALL, OUTPUT], []),
        ([THOUGHT, THOUGHT, CALL, OUTPUT], []),
        ([THOUGHT], ["R1"]),
        ([THOUGHT, {"role": "user", "content": "x"}], ["R1"]),
        ([CALL, THOUGHT, OUTPUT], ["R1"]),
        ([THOUGHT, {"type": "compaction", "encrypted_content": "x"}], []),
        ([{"role": "tool", "content": "x"}], ["role"]),
        ([{"role": "user", "content": None}], ["shape"]),
        ([{"role": "user", "content": [{"type": "input_text"}]}], ["shape"]),
        ([{**CALL, "arguments": {}}, OUTPUT], ["shape"]),
        ([CALL, {**OUTPUT, "output": None}], ["shape"]),
        ([{"role": "user", "content": "half \ud83d"}], ["surrogate"]),
        ([{"type": "of_next_year"}, {"type": "item_reference", "id": "x"}], []),
        (["go"], ["role"]),
    ],
)
def test_the_check(items: Any, rules: list[str]) -> None:
    """Certain faults only, in order."""
    assert [found.rule for found in validate(items) if found.certain] == rules


@pytest.mark.corpus
@pytest.mark.skipif(not SESSIONS, reason="the recorded sessions (../shared/corpus) are not here")
def test_a_recorded_session_is_valid_untouched_and_weighed() -> None:
    """Each request is made of the very objects handed in; from the tenth on its size is known within 3 %."""
    recording, now = read(SESSIONS[0]), 0.0
    provider = {"kind": "responses", "window": 200_000, "cache": {"ttl": "1h"}}
    profile = load("minimal", overrides={"provider": provider, "counter": "estimate"}, env={}, cwd="/")
    stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    session = Session.open(recording.session, profile, clock=lambda: now, **stores)
    errors = []
    for one in recording.requests:
        now = one.now
        request = session.prepare(one.messages, recording.system, recording.tools)
        assert request.report.failures == []
        assert request.report.repairs == 0
        assert all(new is old for new, old in zip(request.messages, one.messages, strict=True))
        usage = session.dialect.usage({"usage": one.usage, "model": one.model})
        assert usage is not None
        errors.append(abs(request.report.tokens_after / usage.total - 1))
        session.observe(usage)
    assert sorted(errors[10:])[len(errors[10:]) * 9 // 10] < 0.03
