"""Usage under the names of many servers, and what the cache model is told by it; sizes of parts."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest
from trimtab import Session, load
from trimtab.conversation import Conversation
from trimtab.counters.estimate import Estimate
from trimtab.dialect import Usage
from trimtab.dialects.media import PAGE, PAGES
from trimtab.dialects.openai import OpenAIChat
from trimtab.dialects.openai.dialect import CALL
from trimtab.dialects.openai.sizes import BASE, IMAGE, TILE, part_tokens, tile_tokens
from trimtab.storage.memory import MemoryBlobs, MemoryLedger

DIALECT = OpenAIChat()
COUNT = Estimate()

REPORTED: dict[str, tuple[dict[str, Any], Usage]] = {
    "OpenAI": (
        {"prompt_tokens": 2_000, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 1_920}},
        Usage(1_920, 80, 0, 9),
    ),
    "OpenAI, a first request": (
        {"prompt_tokens": 2_000, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 0}},
        Usage(0, 2_000, 0, 9),
    ),
    "OpenAI, writes told": (
        {"prompt_tokens": 2_000, "prompt_tokens_details": {"cached_tokens": 1_000, "cache_write_tokens": 700}},
        Usage(1_000, 700, 300, 0),
    ),
    "writes told beside it": (
        {"prompt_tokens": 2_000, "cached_tokens": 1_000, "cache_write_tokens": 700},
        Usage(1_000, 700, 300, 0),
    ),
    "a proxy that fills in zeros": (
        {
            "prompt_tokens": 2_000,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "prompt_cache_hit_tokens": 1_500,
        },
        Usage(1_500, 500, 0, 0),
    ),
    "DeepSeek": (
        {"prompt_tokens": 2_000, "prompt_cache_hit_tokens": 1_984, "prompt_cache_miss_tokens": 16},
        Usage(1_984, 16, 0, 0),
    ),
    "DeepSeek without the sum": (
        {"prompt_cache_hit_tokens": 1_984, "prompt_cache_miss_tokens": 16},
        Usage(1_984, 16, 0, 0),
    ),
    "Kimi": ({"prompt_tokens": 2_000, "cached_tokens": 256}, Usage(256, 1_744, 0, 0)),
    "nothing of a cache": ({"prompt_tokens": 2_000, "completion_tokens": 9}, Usage(0, 0, 2_000, 9, split=False)),
    "a null": (
        {"prompt_tokens": 2_000, "prompt_tokens_details": None, "cached_tokens": None},
        Usage(0, 0, 2_000, 0, split=False),
    ),
    "more read than sent": ({"prompt_tokens": 10, "cached_tokens": 99}, Usage(10, 0, 0, 0)),
}


@pytest.mark.parametrize("name", REPORTED)
def test_usage_of_each_server(name: str) -> None:
    """What was read is part of the prompt; what was not is written, unless the server says what was."""
    reported, usage = REPORTED[name]
    assert DIALECT.usage(reported) == usage
    assert DIALECT.usage({"usage": reported}) == usage
    assert usage.total == max(reported.get("prompt_tokens", 0), usage.total)


@pytest.mark.parametrize(
    "response",
    [None, 5, {}, {"usage": None}, {"usage": 5}, {"prompt_tokens": "x"}, {"prompt_tokens": float("nan")}, {"input": 1}],
)
def test_no_usage(response: Any) -> None:
    """What holds no usage says nothing."""
    assert DIALECT.usage(response) is None


def test_the_model_that_answers() -> None:
    """Comes with the response."""
    usage = DIALECT.usage({"model": "deepseek-chat", "usage": {"prompt_tokens": 5}})
    assert usage is not None
    assert usage.model == "deepseek-chat"


def test_a_response_of_the_real_sdk() -> None:
    """What `openai` parses is read like the JSON it came from, fields of other servers too."""
    types = pytest.importorskip("openai.types.chat")
    answer = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
    fields = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [answer]}
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11, "prompt_cache_hit_tokens": 4}
    response = types.ChatCompletion.model_validate({**fields, "usage": usage})
    assert DIALECT.usage(response) == DIALECT.usage(
        response.usage | {} if isinstance(response.usage, dict) else response
    )
    assert DIALECT.usage(response) == Usage(4, 5, 0, 2, "m")


@pytest.mark.parametrize("read", [0, 1_900])
def test_the_cache_model_takes_a_request_as_stored(read: int) -> None:
    """After a first request of which nothing was read, and after a hit, the next one finds all of it held."""
    provider = {"kind": "openai", "window": 100_000, "cache": {"ttl": "5m", "minimum": 0}}
    profile = load("minimal", overrides={"counter": "estimate", "provider": provider}, env={}, cwd="/")
    stores = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    session = Session.open("s", profile, clock=lambda: 1_000.0, **stores)
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "word " * 2_000}]
    session.prepare(messages)
    session.observe({"usage": {"prompt_tokens": 2_000, "prompt_tokens_details": {"cached_tokens": read}}})
    messages += [{"role": "assistant", "content": "So."}, {"role": "user", "content": "On."}]
    session.prepare(messages)
    assert session.view.held == 2


# ------------------------------------------------------------------ sizes


def png(width: int, height: int) -> str:
    """A data URL of a picture whose header states this size."""
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x06\0\0\0" * 4
    return "data:image/png;base64," + base64.b64encode(head).decode()


@pytest.mark.parametrize(
    ("width", "height", "tiles"),
    [(1, 1, 1), (512, 512, 1), (513, 512, 2), (1_024, 1_024, 4), (2_048, 4_096, 6), (4_096, 8_192, 6), (10_000, 10, 4)],
)
def test_pictures_by_their_tiles(width: int, height: int, tiles: int) -> None:
    """The examples of the vendor's guide: 1,024 square costs 765 tokens, 2,048 x 4,096 1,105; of low detail 85."""
    assert tile_tokens(width, height) == BASE + tiles * TILE
    part = {"type": "image_url", "image_url": {"url": png(width, height)}}
    assert part_tokens(part, COUNT) == BASE + tiles * TILE
    part["image_url"]["detail"] = "low"
    assert part_tokens(part, COUNT) == BASE == 85


def test_parts_whose_size_cannot_be_seen() -> None:
    """Stated defaults; never the length of base64 or of a URL."""
    assert part_tokens({"type": "image_url", "image_url": {"url": "https://example.com/" + "a" * 999}}, COUNT) == IMAGE
    assert part_tokens({"type": "image_url", "image_url": {"url": "data:image/png;base64,!!"}}, COUNT) == IMAGE
    assert part_tokens({"type": "file", "file": {"file_id": "f"}}, COUNT) == PAGES * PAGE
    second = base64.b64encode(bytes(48_000)).decode()
    assert part_tokens({"type": "input_audio", "input_audio": {"data": second, "format": "wav"}}, COUNT) == 10


def test_sizes_of_messages() -> None:
    """Text, reasoning and results by the counter, calls by name and arguments, pictures inside a result too."""
    arguments = '{"command": "make test"}'
    call = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    picture = {"type": "image_url", "image_url": {"url": png(512, 512)}}
    messages = [
        {"role": "user", "content": "some words"},
        {"role": "assistant", "content": "more", "reasoning_content": "thought about it", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "out"}, picture]},
    ]
    asked, answer, result = Conversation(DIALECT, COUNT).locate(messages).path
    assert asked.sizes == (COUNT("some words"),)
    assert answer.sizes == (COUNT("thought about it"), COUNT("more"), CALL + COUNT("bash") + COUNT(arguments))
    assert result.sizes == (COUNT("out") + BASE + TILE,)
    tools = [{"type": "function", "function": {"name": "bash"}}]
    assert DIALECT.head(None, tools, COUNT) == DIALECT.head("", tools, COUNT) > 5
    assert DIALECT.head("Be brief.", None, COUNT) == COUNT("Be brief.")
    assert DIALECT.head(None, None, COUNT) == 0
