"""Where breakpoints are placed: what one request writes, the next one reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trimtab.clients.anthropic.breakpoints import Stored, ends_of, has_breakpoints, with_breakpoints
from trimtab.testing.provider import FakeProvider, Settings

MARK = {"type": "ephemeral"}
TOOL = {"name": "read", "description": "Reads a file.", "input_schema": {"type": "object"}}


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    """One connection for all."""
    with httpx2.Client() as http:
        yield http


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """A provider that caches prefixes of any size."""
    with FakeProvider(settings=Settings(window=10_000_000, minimum=1)) as provider:
        yield provider


def step(calls: int, words: str, speaks: bool = True) -> list[dict[str, Any]]:
    """An answer with so many calls, and their results; without any, an answer and what the user says to it."""
    answer: list[dict[str, Any]] = [{"type": "text", "text": f"{words} it is."}] if speaks or not calls else []
    answer += [{"type": "tool_use", "id": f"{words}_{n}", "name": "read", "input": {"n": n}} for n in range(calls)]
    results = [{"type": "tool_result", "tool_use_id": f"{words}_{n}", "content": f"{words} {n}"} for n in range(calls)]
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": results or f"And {words}?"}]


STEPS = st.builds(step, st.integers(0, 45), st.sampled_from(("so", "thus", "well")), st.booleans())
HEADS = st.sampled_from(({"tools": [TOOL]}, {"system": "Hm.", "tools": [TOOL]}))


def usage(http: httpx2.Client, provider: FakeProvider, body: dict[str, Any]) -> dict[str, Any]:
    """The usage of a request to the provider; asserts that it is accepted."""
    response = http.post(f"{provider.url}/v1/messages", json=body, headers={"x-api-key": "any"})
    assert response.status_code == 200, response.text
    used: dict[str, Any] = response.json()["usage"]
    return used


def body_of(messages: list[dict[str, Any]], **rest: Any) -> dict[str, Any]:
    """A request's body."""
    return {"model": "claude-opus-4-6", "max_tokens": 100, "messages": messages, **rest}


def placed(body: dict[str, Any], *, ttl: float = 300.0, held: int = 0) -> dict[str, Any]:
    """The body with breakpoints, of whose messages so many are stored."""
    return with_breakpoints(body, ttl=ttl, ends=ends_of(body["messages"], held))


def marks(body: dict[str, Any]) -> list[str]:
    """Where breakpoints stand: ``part.block``, of messages ``number.block``."""
    lists = {part: body.get(part) or () for part in ("tools", "system")}
    lists |= {str(n): message["content"] for n, message in enumerate(body["messages"])}
    return [f"{part}.{n}" for part, blocks in lists.items() for n, one in enumerate(blocks) if "cache_control" in one]


@settings(max_examples=20, deadline=None)
@given(appended=st.lists(st.lists(STEPS, min_size=1, max_size=3), max_size=5), rest=HEADS, salt=st.uuids())
def test_breakpoints_read_back(http: Any, provider: FakeProvider, appended: Any, rest: Any, salt: Any) -> None:
    """Whatever is appended, a request reads all that the one before it wrote, and is accepted."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": str(salt)}]
    stored, sent = 0, 0
    for added in [[], *appended]:
        messages = [*messages, *(message for one in added for message in one)]
        held = sent if len(added) > 1 else 0  # of one step the messages alone tell where the last request ended
        used = usage(http, provider, placed(body_of(messages, **rest), held=held))
        assert used["cache_read_input_tokens"] >= stored
        assert used["input_tokens"] == 0
        stored, sent = used["cache_read_input_tokens"] + used["cache_creation_input_tokens"], len(messages)


def test_breakpoints_behind_an_edit(http: httpx2.Client, provider: FakeProvider) -> None:
    """Where an edit changes what was written at once, half of that is read all the same, and what was stored before."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "edit me " * 50}]
    messages += [message for n in range(20) for message in step(15, f"part {n}")]
    stored, keys = Stored(), [str(n) for n in range(len(messages) + 1)]
    shares = []
    for at in (0, 36, 30, 24, 14):
        if at:
            results = messages[at]["content"]
            messages[at] = {"role": "user", "content": [{**block, "content": "cut"} for block in results]}
            keys[at + 1] += "cut"
        ends = ends_of(messages, max(held := stored.held(keys), default=0))
        used = usage(http, provider, with_breakpoints(body_of(messages, tools=[TOOL]), ttl=300, ends=ends))
        stored, read = Stored(keys.copy(), {*held, *ends}), used["cache_read_input_tokens"]
        shares.append(read / (read + used["cache_creation_input_tokens"]))
    assert shares == [pytest.approx(share, abs=0.02) for share in (0.0, 0.5, 0.75, 0.5, 0.0)]


RESULT = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "b", "cache_control": MARK}]}


@pytest.mark.parametrize(
    "marked",
    [
        {"cache_control": MARK},
        {"system": [{"type": "text", "text": "Hm.", "cache_control": MARK}]},
        {"tools": [TOOL, {**TOOL, "cache_control": MARK}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": MARK}]}]},
        {"messages": [{"role": "user", "content": [RESULT]}]},
    ],
)
def test_breakpoints_of_the_user(marked: dict[str, Any]) -> None:
    """A marker of the user's is seen wherever it stands."""
    assert has_breakpoints(body_of([{"role": "user", "content": "Hi"}]) | marked)


def test_breakpoints_not_there() -> None:
    """An argument of that name, and null, are no markers."""
    call = {"type": "tool_use", "id": "a", "name": "edit", "input": {"cache_control": MARK}, "cache_control": None}
    assert not has_breakpoints(body_of([{"role": "assistant", "content": [call]}], system="cache_control"))


def test_breakpoints_places() -> None:
    """They stand where system, what is stored and all messages end, and between, on blocks that take one."""
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Ho"},
        {"role": "user", "content": [{"type": "text", "text": "Go"}, {"type": "text", "text": " "}]},
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": [{"type": "text", "text": "Went"}, thinking]},
    ]
    body = body_of(messages, tools=[TOOL], system="Be kind.")
    before = json.dumps(body)
    made = placed(body, ttl=3_600, held=1)
    assert marks(made) == ["system.0", "0.0", "2.0", "4.0"]
    assert made["messages"][4]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert json.dumps(body) == before, "the caller's own are not touched"
    assert made["messages"][1] is messages[1]
    assert marks(placed(body, held=3)) == ["system.0", "2.0", "4.0"], "none stands on a system message"
    later = [TOOL, {**TOOL, "name": "late", "defer_loading": True}]
    assert marks(placed(body_of(messages[:1], tools=later))) == ["tools.0", "0.0"]


def test_breakpoints_beside_evictions() -> None:
    """With deletions from the cache only the last message carries one."""
    messages = [{"role": "user", "content": "Hi"}]
    for n in range(3):
        messages += step(2, f"part {n}")
    messages[2]["content"][0]["cache_reference"] = "x"  # type: ignore[index]
    assert marks(placed(body_of(messages), held=3)) == ["6.1"]
