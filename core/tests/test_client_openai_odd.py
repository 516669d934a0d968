"""Odd servers, odd input, many callers: the caller gets what the plain SDK gives for the same answers."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai_agent import Clear, agent, async_agent, history, items, profile
from trimtab import ContextOverflow
from trimtab.clients.openai import compacting, session_of
from trimtab.testing.provider import FakeProvider, Settings, Text

BIG = 40_000
HEADERS = {"content-type": "text/event-stream"}
COMPLETED = {"type": "response.completed", "response": {"id": "r", "output": [], "status": "completed"}}


def chunk(*, choices: Any = None, **more: Any) -> dict[str, Any]:
    """One of a stream; with a word unless it says otherwise."""
    word = [{"index": 0, "delta": {"content": "hi"}, "finish_reason": None}]
    return {"id": "x", "choices": word if choices is None else choices, **more}


def lines(*events: Any) -> str:
    """The bytes of a stream of these events."""
    said = (event if isinstance(event, str) else json.dumps(event) for event in events)
    return "".join(f"data: {one}\n\n" for one in said)


CHAT = {
    "no words": lines(),
    "no JSON": lines("nonsense"),
    "no JSON later": lines(chunk(), "nonsense"),
    "values that are none": lines("null", "5", '"text"', "[1]", chunk()),
    "choices that are none": lines(chunk(choices=5), chunk(choices=["a", None]), chunk()),
    "a delta that is none": lines(chunk(choices=[{"delta": "yo"}, {"delta": None}]), chunk()),
    "half of a character": b'data: {"id": "\xff"}\n\n',
    "an error": lines({"error": {"message": "bad", "code": "x"}}),
    "an error later": lines(chunk(), {"error": "bad"}),
    "sizes that cannot be": lines(chunk(usage={"prompt_tokens": 10**30, "completion_tokens": 1})),
    "sizes below zero": lines(chunk(usage={"prompt_tokens": -7, "completion_tokens": None})),
}
RESPONSES = {
    "no words": lines(),
    "no JSON": lines("nonsense"),
    "values that are none": lines("null", "[1]", COMPLETED),
    "unknown events": lines({"type": "new"}, {"no": "type"}, COMPLETED),
    "an error": lines({"type": "error", "message": {"a": 1}}),
    "a failure without words": lines({"type": "response.failed", "response": None}),
    "no response": lines({"type": "response.completed", "response": "x"}),
}
CASES = [("chat", *case) for case in CHAT.items()] + [("responses", *case) for case in RESPONSES.items()]


def shown(event: Any) -> Any:
    """An event or an error, to be compared."""
    if isinstance(event, Exception):
        return type(event), str(event), getattr(event, "body", None)
    return event.to_dict(warnings=False) if isinstance(event, openai.BaseModel) else event


class Broken(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A connection that dies behind some bytes."""

    def __init__(self, said: str, error: Exception) -> None:
        self.said, self.error = said, error

    def __iter__(self) -> Iterator[bytes]:
        yield self.said.encode()
        raise self.error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.said.encode()
        raise self.error


def heard(client: openai.OpenAI, api: str) -> list[Any]:
    """All that a caller gets of a stream: what `create` gives or raises, the events, the error among them."""
    made: list[Any] = []
    try:
        if api == "chat":
            events: Any = client.chat.completions.create(model="m", messages=history(1), stream=True)
        else:
            events = client.responses.create(model="m", input=items(1), stream=True)
        made.append("created")
        made.extend(map(shown, events))
    except Exception as error:
        made.append(shown(error))
    return made


async def aheard(client: openai.AsyncOpenAI, api: str) -> list[Any]:
    """`heard` for event loops."""
    made: list[Any] = []
    try:
        if api == "chat":
            events: Any = await client.chat.completions.create(model="m", messages=history(1), stream=True)
        else:
            events = await client.responses.create(model="m", input=items(1), stream=True)
        made.append("created")
        async for event in events:
            made.append(shown(event))
    except Exception as error:
        made.append(shown(error))
    return made


def compared(tmp_path: Path, api: str, answer: Callable[[], httpx2.Response]) -> list[list[Any]]:
    """What callers get: of the plain client and ours, synchronous and not."""
    transport = httpx2.MockTransport(lambda _: answer())
    options: Any = {"base_url": "http://server/v1", "api_key": "any", "max_retries": 0}
    path, made = profile(tmp_path, BIG), []
    with openai.OpenAI(http_client=httpx2.Client(transport=transport), **options) as plain:
        made += [heard(plain, api), heard(compacting(plain, path, plugins=[Clear]), api)]

    async def main() -> None:
        async with openai.AsyncOpenAI(http_client=httpx2.AsyncClient(transport=transport), **options) as plain:
            made.append(await aheard(plain, api))
            made.append(await aheard(compacting(plain, path, plugins=[Clear]), api))

    asyncio.run(main())
    return made


@pytest.mark.parametrize(("api", "name", "said"), CASES, ids=[f"{api}: {name}" for api, name, _ in CASES])
def test_a_stream_of_nonsense_is_the_caller_s_as_it_came(tmp_path: Path, api: str, name: str, said: Any) -> None:
    """Every event reaches him, and an error where the SDK raises it: while he reads, not before he has the stream."""
    plain, ours, aplain, aours = compared(tmp_path, api, lambda: httpx2.Response(200, headers=HEADERS, content=said))
    assert ours == plain
    assert aours == aplain
    assert plain[0] == "created"


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("error", [httpx2.ReadError("lost"), RuntimeError("a proxy's own")], ids=repr)
@pytest.mark.parametrize("words", [0, 1])
def test_a_connection_that_dies_does_so_while_the_caller_reads(
    tmp_path: Path, api: str, error: Exception, words: int
) -> None:
    """Also before the first word."""
    event = chunk() if api == "chat" else {"type": "response.output_text.delta", "delta": "hi"}
    said = lines(*[event] * words)
    plain, ours, aplain, aours = compared(
        tmp_path, api, lambda: httpx2.Response(200, headers=HEADERS, stream=Broken(said, error))
    )
    assert (ours, aours) == (plain, aplain)
    assert len(plain) == 2 + words


def test_a_usage_that_cannot_be_is_no_overflow(tmp_path: Path) -> None:
    """A server that tells nonsense has answered all the same."""
    usage = {"prompt_tokens": 10**30, "completion_tokens": 1, "total_tokens": 10**30}
    said = {"id": "c", "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}}], "usage": usage}
    with httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, json=said))) as http:
        plain = openai.OpenAI(base_url="http://server/v1", api_key="any", http_client=http, max_retries=0)
        client = compacting(plain, profile(tmp_path, BIG), plugins=[Clear])
        for _ in range(2):
            answer = client.chat.completions.create(model="m", messages=history(2))
            assert answer.choices[0].message.content == "hi"


def stream(client: Any, messages: list[Any]) -> Any:
    """A stream, or what gives one."""
    return client.chat.completions.create(model="gpt-5.6-sol", messages=messages, stream=True)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_answer_that_the_caller_has_is_never_an_overflow(tmp_path: Path, asynchronous: bool) -> None:
    """A stream whose usage is above the window ends as it should; the next request is a smaller one."""
    settings = Settings(window=11_500, silent_overflow="accept", count=lambda text: len(text) * 10 // 19)
    path, said = profile(tmp_path, 11_500), [history(12), [{"role": "user", "content": "word " * 4_600}]]
    with FakeProvider(settings=settings) as provider:
        if asynchronous:

            async def main() -> None:
                async with async_agent(provider, path) as client:
                    for messages in said:
                        create = stream(client, messages)
                        assert [chunk async for chunk in await create][-1].choices[0].finish_reason == "stop"

            asyncio.run(main())
        else:
            with agent(provider, path) as client:
                for messages in said:
                    create = stream(client, messages)
                    assert list(create)[-1].choices[0].finish_reason == "stop"
        assert [served.usage["prompt_tokens"] > 11_500 for served in provider.served if served.usage] == [True] * 2


def test_sizes_that_contradict_each_other_say_nothing(tmp_path: Path) -> None:
    """A refusal of 12 tokens as more than 999,999 is one without sizes: it takes a few requests, not one a result."""
    asked: list[int] = []

    def serve(request: httpx2.Request) -> httpx2.Response:
        asked.append(len(request.content))
        what = "maximum context length is 999999 tokens. However, your messages resulted in 12 tokens"
        return httpx2.Response(400, json={"error": {"message": what, "code": "context_length_exceeded"}})

    with httpx2.Client(transport=httpx2.MockTransport(serve)) as http:
        plain = openai.OpenAI(base_url="http://server/v1", api_key="any", http_client=http, max_retries=0)
        with pytest.raises(ContextOverflow):
            compacting(plain, profile(tmp_path, BIG), plugins=[Clear]).chat.completions.create(
                model="m", messages=history(45)
            )
    assert asked == sorted(set(asked), reverse=True)
    assert 1 < len(asked) < 6


def test_conversations_in_one_session_do_not_get_into_each_other(tmp_path: Path) -> None:
    """Threads under one id, each with a conversation of its own that is refused: each gets the answer to its own."""

    def words(n: int) -> list[Any]:
        said = json.loads(json.dumps(history(12)).replace("src/f", f"src/{n}-"))
        return [{"role": "user", "content": f"task {n}"}, *said[1:]]

    said: dict[int, Any] = {}
    provider = FakeProvider(lambda call: Text(call.body["messages"][0]["content"]), Settings(window=3_000))
    with provider, agent(provider, profile(tmp_path, BIG), session="one") as client:

        def run(n: int) -> None:
            try:
                answer = client.chat.completions.create(model="gpt-5.6-sol", messages=words(n))
                said[n] = answer.choices[0].message.content
            except Exception as error:
                said[n] = error

        threads = [threading.Thread(target=run, args=(n,)) for n in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert provider.refused
    assert said == {n: f"task {n}" for n in range(12)}


def test_a_refusal_is_that_of_its_own_request(tmp_path: Path) -> None:
    """Of two conversations of a session the first is refused last: it is that one that comes back, and smaller."""
    with FakeProvider() as provider, agent(provider, profile(tmp_path, BIG), session="one") as client:
        client.chat.completions.create(model="m", messages=history(1))
        session = session_of(client)
        first = session.prepare(history(20))
        other = session.prepare([{"role": "user", "content": "another"}])
        factor = session.meter.factor
        assert session.observe({"usage": {"prompt_tokens": 90_000, "completion_tokens": 1}}, first) is False
        assert session.meter.factor == factor
        with pytest.raises(KeyError):
            session.recover(KeyError("another fault"), first)
        assert session.request is other
        body = {"message": "maximum context length is 3000 tokens. However, your messages resulted in 9000 tokens"}
        again = session.recover(openai.APIError("too long", httpx2.Request("POST", "http://x"), body=body), first)
        assert again.messages[0] == history(1)[0]
        assert again.report.tokens_after < 3_000


@pytest.mark.parametrize("given", [tuple, list])
def test_any_sequence_is_a_conversation(tmp_path: Path, given: Any) -> None:
    """Also one that the SDK does not look at."""
    with FakeProvider() as provider, agent(provider, profile(tmp_path, 3_000)) as client:
        client.responses.create(model="m", input=[], extra_body={"input": given(items(20))})
        assert len(json.dumps(provider.served[0].body["input"])) < len(json.dumps(items(20)))


def test_subclasses_keep_their_own_methods(tmp_path: Path) -> None:
    """What is not a client is no client."""

    class Own(openai.OpenAI):
        def with_options(self, **options: Any) -> Any:
            return super().with_options(**options, timeout=7)

    client = compacting(Own(api_key="any"), profile(tmp_path, BIG), plugins=[Clear])
    assert client.with_options(max_retries=1).timeout == 7
    thing: Any = object()
    with pytest.raises(TypeError, match=r"openai\.OpenAI or openai\.AsyncOpenAI, not object"):
        compacting(thing)
