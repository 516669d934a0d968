"""The same on event loops: what differs from the synchronous client is who waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import openai
import pytest
from openai_agent import async_agent, history, items, profile
from pydantic import BaseModel
from trimtab import ContextOverflow
from trimtab.clients.openai import session_of
from trimtab.testing.provider import Cut, Fail, FakeProvider, Reply, Settings, Text

BIG = 40_000
SMALL = Settings(window=3_000)
REFUSED = Fail(400, "Your input exceeds the context window of this model.", code="context_length_exceeded")
WORDS = "one two three four five six seven eight"


class City(BaseModel):
    """What is asked for."""

    name: str


def run(provider: FakeProvider, path: Path, use: Any) -> None:
    """``use(client)`` in a loop of its own."""

    async def main() -> None:
        async with async_agent(provider, path) as client:
            assert isinstance(client, openai.AsyncOpenAI)
            await use(client)

    with provider:
        asyncio.run(main())


async def heard(request: Coroutine[Any, Any, Any]) -> list[Any]:
    """All events of a stream."""
    return [event async for event in await request]


def text(chunks: list[Any]) -> str:
    """What they say."""
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def test_requests_run_side_by_side(tmp_path: Path) -> None:
    """Each is recovered, whatever the others do; a copy of the client has the same sessions."""
    provider = FakeProvider(lambda call: call.text, SMALL)

    async def use(client: openai.AsyncOpenAI) -> None:
        async def ask(n: int) -> Any:
            messages: Any = [{"role": "user", "content": f"task {n}"}, *history(12)[1:]]
            return await client.with_options(timeout=20).chat.completions.create(model="gpt-5.6-sol", messages=messages)

        said = await asyncio.gather(*map(ask, range(4)))
        assert [one.choices[0].message.content for one in said] == [f"task {n}" for n in range(4)]
        assert session_of(client).saved().requests == 1

    run(provider, profile(tmp_path, BIG), use)
    assert len(provider.refused) == 4


def test_a_stream_is_recovered_before_its_first_word_and_not_behind_it(tmp_path: Path) -> None:
    """Twice in a row at its beginning; later the error is the caller's and the next request smaller."""
    cuts = [Reply([Text(WORDS)], cut=Cut(after, REFUSED)) for after in (0, 1, 2)]
    provider = FakeProvider([*cuts, "done"])

    async def use(client: openai.AsyncOpenAI) -> None:
        options: Any = {"model": "gpt-5.6-sol", "messages": history(40), "stream": True}
        with pytest.raises(openai.APIError, match="exceeds the context window"):
            await heard(client.chat.completions.create(**options))
        assert len(provider.served) == 3
        chunks = await heard(client.chat.completions.create(**options))
        assert text(chunks) == "done"
        assert not any(chunk.usage for chunk in chunks)
        assert session_of(client).saved().requests == 1

    run(provider, profile(tmp_path, BIG), use)
    sizes = [len(json.dumps(served.body["messages"])) for served in provider.served]
    assert sizes == sorted(set(sizes), reverse=True)


@pytest.mark.parametrize("way", ["event", "failed", "400"])
def test_responses_refuse_in_three_ways(tmp_path: Path, way: Any) -> None:
    """Each is recovered unnoticed."""
    provider = FakeProvider(settings=Settings(window=3_000, stream_overflow=way))

    async def use(client: openai.AsyncOpenAI) -> None:
        kinds = [event.type for event in await heard(client.responses.create(model="m", input=items(12), stream=True))]
        assert (kinds.count("response.created"), kinds[-1]) == (1, "response.completed")
        assert len(provider.served) > 1
        assert session_of(client).saved().requests == 1

    run(provider, profile(tmp_path, 12_000), use)


def test_raw_and_parsed_answers(tmp_path: Path) -> None:
    """`with_raw_response`, `with_streaming_response`, `parse`, and a raw stream."""
    paris = json.dumps({"name": "Paris"})
    provider = FakeProvider([paris] * 4, SMALL)

    async def use(client: openai.AsyncOpenAI) -> None:
        chat: Any = {"model": "gpt-5.6-sol", "messages": history(20)}
        raw = await client.chat.completions.with_raw_response.create(**chat)
        assert raw.parse().usage
        async with client.chat.completions.with_streaming_response.create(**chat) as opened:
            assert (await opened.parse()).usage
        one = await client.chat.completions.parse(**chat, response_format=City)
        assert one.choices[0].message.parsed == City(name="Paris")
        more: Any = {"stream": True, "stream_options": {"include_usage": True}}
        stream = await client.chat.completions.with_raw_response.create(**chat, **more)
        assert [chunk async for chunk in stream.parse()][-1].usage
        assert session_of(client).saved().requests == 4

    run(provider, profile(tmp_path, BIG), use)


def test_a_silent_overflow_and_one_that_nothing_helps(tmp_path: Path) -> None:
    """The first is sent again, as a stream or not; the second is one `ContextOverflow`."""
    settings = Settings(window=11_500, silent_overflow="length", count=lambda text: len(text) * 10 // 19)
    provider = FakeProvider(settings=settings)

    async def use(client: openai.AsyncOpenAI) -> None:
        options: Any = {"model": "gpt-5.6-sol", "messages": history(12)}
        assert (await client.chat.completions.create(**options)).choices[0].message.content
        other: Any = {"model": "gpt-5.6-sol", "messages": [{"role": "user", "content": "go"}, *history(12)[1:]]}
        assert text(await heard(client.chat.completions.create(**other, stream=True)))
        assert len(provider.served) == 4
        with pytest.raises(ContextOverflow):
            await client.chat.completions.create(
                model="gpt-5.6-sol", messages=[{"role": "user", "content": "word " * 20_000}]
            )

    run(provider, profile(tmp_path, 11_500), use)


def test_a_stream_may_be_left_early(tmp_path: Path) -> None:
    """Its connection is closed and the next request goes on."""
    provider = FakeProvider([WORDS * 50, "done"])

    async def use(client: openai.AsyncOpenAI) -> None:
        options: Any = {"model": "gpt-5.6-sol", "messages": history(2), "stream": True}
        async with await client.chat.completions.create(**options) as stream:
            assert (await anext(stream)).choices
        assert stream.response.is_closed
        assert text(await heard(client.chat.completions.create(**options))) == "done"

    run(provider, profile(tmp_path, BIG), use)
