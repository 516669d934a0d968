"""The Anthropic SDK through trimtab: calls stay as they are, what does not concern it is left alone."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import anthropic
import httpx2
import pytest
from anthropic_client import MODEL, TOOL, compaction, long_talk, marked
from stages import Do
from trimtab import Param, Stage, Tool
from trimtab.ask import Ask, asking
from trimtab.clients.anthropic import Compaction, wrapped_session
from trimtab.clients.sessions import Exchange, Sessions
from trimtab.testing.provider import FakeProvider, Reply, Settings, Text, Use

SAYS: dict[str, Any] = {"model": MODEL, "max_tokens": 100}


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """A provider that echoes."""
    with FakeProvider(settings=Settings(window=30_000, minimum=1)) as provider:
        yield provider


MADE: list[anthropic.Anthropic] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Clients are closed behind each test."""
    yield
    while MADE:
        MADE.pop().close()


def client(provider: FakeProvider, *middleware: Compaction, **options: Any) -> anthropic.Anthropic:
    """The SDK's client."""
    MADE.append(anthropic.Anthropic(base_url=provider.url, api_key="any", middleware=middleware, **options))
    return MADE[-1]


class Recorder:
    """A provider that takes anything, and keeps what it was sent."""

    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """A short answer."""
        self.requests.append(request)
        usage = {"input_tokens": 10, "output_tokens": 1}
        said = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hi."}], "usage": usage}
        return httpx2.Response(200, json={"id": "msg_1", "model": MODEL, "stop_reason": "end_turn", **said})

    def client(self, *middleware: Compaction, **options: Any) -> anthropic.Anthropic:
        """A client of it."""
        http = httpx2.Client(transport=httpx2.MockTransport(self))
        return anthropic.Anthropic(api_key="any", http_client=http, middleware=middleware, **options)


def test_client_sync(provider: FakeProvider, tmp_path: Path) -> None:
    """Answers come as before, each request is observed, and each reads from the cache what the last one wrote."""
    middle = compaction(tmp_path)
    anthropic = client(provider, middle)
    messages: list[Any] = [{"role": "user", "content": "Hello."}]
    for n in range(3):
        answer = anthropic.messages.create(messages=messages, system="Be brief.", **SAYS)
        assert answer.content[0].text.startswith("You said: ")  # type: ignore[union-attr]
        messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": f"More {n}."}]
    for before, after in pairwise(served.usage or {} for served in provider.served):
        stored = before["cache_read_input_tokens"] + before["cache_creation_input_tokens"]
        assert after["cache_read_input_tokens"] == stored
    assert middle.last is not None
    assert middle.last.saved().requests == 3
    assert middle.last.saved().sent_tokens == provider.billed.read + provider.billed.written + provider.billed.fresh


def test_client_async(provider: FakeProvider, tmp_path: Path) -> None:
    """The asynchronous client: the same."""
    middle = compaction(tmp_path)

    async def talk() -> None:
        async with anthropic.AsyncAnthropic(base_url=provider.url, api_key="any", middleware=[middle]) as client:
            await client.messages.create(messages=[{"role": "user", "content": "Hello."}], **SAYS)
            async with client.messages.stream(messages=[{"role": "user", "content": "Hello."}], **SAYS) as stream:
                assert await stream.get_final_text() == "You said: Hello."
            stream = await client.beta.messages.create(
                messages=[{"role": "user", "content": "Hello."}], stream=True, **SAYS
            )
            assert [event.type async for event in stream][-1] == "message_stop"

    asyncio.run(talk())
    assert middle.last is not None
    assert middle.last.saved().requests == 3


def test_client_ways_to_read(provider: FakeProvider, tmp_path: Path) -> None:
    """However an answer is read, the caller gets all of it, and it is observed once."""
    middle = compaction(tmp_path)
    anthropic, says = client(provider, middle), {"messages": [{"role": "user", "content": "Hello."}], **SAYS}
    plain = client(provider)
    for beta in (False, True):
        mine, other = (one.beta.messages if beta else one.messages for one in (anthropic, plain))
        assert mine.with_raw_response.create(**says).parse().content == other.create(**says).content
        with mine.with_streaming_response.create(**says) as response:
            assert response.json()["content"][0]["text"] == "You said: Hello."  # type: ignore[index,call-overload]
        with mine.with_streaming_response.create(stream=True, **says) as response:
            lines = list(response.iter_lines())
        with other.with_streaming_response.create(stream=True, **says) as response:
            assert len(list(response.iter_lines())) == len(lines)
        events = list(mine.with_raw_response.create(stream=True, **says).parse())
        assert [event.type for event in events] == [event.type for event in other.create(stream=True, **says)]
        with mine.stream(**says) as stream:
            assert "".join(stream.text_stream) == "You said: Hello."
    assert middle.last is not None
    assert middle.last.saved().requests == 10


@pytest.mark.parametrize("how", ["closed", "dropped", "broken off", "at the end"])
def test_client_stream_not_read_to_its_end(provider: FakeProvider, tmp_path: Path, how: str) -> None:
    """A stream that the caller lets go is observed with what it told."""
    middle = compaction(tmp_path)
    stream = client(provider, middle).messages.create(
        messages=[{"role": "user", "content": "Hello."}], stream=True, **SAYS
    )
    for event in stream:
        if how == "broken off" and event.type == "content_block_delta":
            with pytest.raises(RuntimeError), stream:
                raise RuntimeError("the caller's")
        if event.type == ("message_stop" if how == "at the end" else "content_block_delta"):
            break
    if how == "closed":
        stream.close()
    elif how == "dropped":
        del stream
    assert middle.last is not None
    assert middle.last.saved().requests == 1


def test_client_left_alone(provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not for trimtab goes out as it does without."""
    middle = compaction(tmp_path)
    mine, plain = client(provider, middle), client(provider)
    says: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello."}], **SAYS}

    def same(call: Any) -> None:
        for one in (mine, plain):
            with suppress(anthropic.APIStatusError):  # the provider need not offer it
                call(one)
        ours, theirs = provider.served[-2:]
        assert ours.body == theirs.body
        assert not marked(ours.body)
        assert ours.headers.get("anthropic-beta") == theirs.headers.get("anthropic-beta")

    same(lambda one: one.messages.count_tokens(messages=says["messages"], model=MODEL))
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    same(lambda one: one.beta.messages.create(betas=["message-threads-2026-08-12"], thread=thread, **says))
    same(lambda one: one.beta.messages.create(betas=["compact-2026-09-04"], compaction={"type": "summarize"}, **says))
    same(lambda one: one.messages.batches.create(requests=[{"custom_id": "a", "params": says}]))
    same(lambda one: one.messages.create(**says | {"messages": []}))
    token = asking.set(Ask("Summarise."))
    same(lambda one: one.messages.create(**says))
    asking.reset(token)
    monkeypatch.setenv("TRIMTAB_OFF", "1")
    same(lambda one: one.messages.create(**says))
    assert middle.last is None


def test_client_keeps_what_the_user_says(tmp_path: Path) -> None:
    """The user's breakpoints, headers and fields, and system messages in the conversation, stay as they are."""
    mine, plain = Recorder(), Recorder()
    messages: list[Any] = long_talk(2, 10)
    messages += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "More."}]
    messages += [{"role": "system", "content": "Be brief."}]
    messages[0]["content"] = [{"type": "text", "text": "Read.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    for client in (mine.client(compaction(tmp_path)), plain.client()):
        client.beta.messages.create(
            messages=messages,
            tools=[TOOL],  # type: ignore[list-item]
            betas=["unknown-2030-01-01", "thinking-binding-controls-2026-08-01"],
            thinking={"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
            extra_headers={"x-mine": "1"},
            extra_body={"unknown": {"deep": [1]}},
            **SAYS,
        )
    (ours,), (theirs,) = mine.requests, plain.requests
    assert json.loads(ours.content) == json.loads(theirs.content)
    assert all(ours.headers[name] == theirs.headers[name] for name in ("anthropic-beta", "x-mine"))


@pytest.mark.parametrize("beta", [False, True])
def test_client_betas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beta: bool) -> None:
    """A feature's header is added to the request's own, else to the client's, whichever method is called."""
    monkeypatch.setattr(Do, "free", lambda self, view: [Param("context_management", {"trigger": 50_000})])
    middle, recorder = compaction(tmp_path, "do", provider="context_management: true"), Recorder()
    client = recorder.client(middle, default_headers={"Anthropic-Beta": "theirs-1"})
    create = client.beta.messages.create if beta else client.messages.create
    create(messages=[{"role": "user", "content": "Hello."}], **SAYS)
    create(messages=[{"role": "user", "content": "Hello."}], extra_headers={"anthropic-beta": "mine-1, mine-2"}, **SAYS)
    first, second = recorder.requests
    assert first.headers["anthropic-beta"] == "theirs-1,context-management-2025-06-27"
    assert second.headers["anthropic-beta"] == "mine-1,mine-2,context-management-2025-06-27"
    assert json.loads(first.content)["context_management"]["edits"][0]["trigger"]["value"] == 50_000
    assert first.url.path == "/v1/messages"
    assert not first.url.query, "the address is the same: the header alone makes it a beta request"


def test_client_provider_summaries(tmp_path: Path) -> None:
    """A conversation that begins with the provider's own summary on demand gets the header that this needs."""
    recorder = Recorder()
    create = recorder.client(compaction(tmp_path)).messages.create
    for field in ("signature", "encrypted_content"):  # of those at a threshold the user has said what they need
        block: Any = {"type": "compaction", "content": "We said hello.", field: "c2ln"}
        messages: list[Any] = [{"role": "assistant", "content": [block]}, {"role": "user", "content": "Well?"}]
        create(messages=messages, **SAYS)
        sent = json.loads(recorder.requests[-1].content)["messages"][0]["content"][0]
        assert {**sent, "cache_control": None} == {**block, "cache_control": None}
    assert [one.headers.get("anthropic-beta") for one in recorder.requests] == ["compact-2026-09-04", None]


def test_client_session_ids(provider: FakeProvider, tmp_path: Path) -> None:
    """A session is named by the caller, by a context, by metadata, or by how the conversation begins."""
    id, hello = str(uuid4()), [{"role": "user", "content": "Hello."}]
    middle = compaction(tmp_path)
    create = client(provider, middle).messages.create

    def used() -> str:
        assert middle.last is not None
        return middle.last.id

    create(messages=hello, **SAYS)  # type: ignore[arg-type]
    derived = used()
    create(messages=[*hello, {"role": "assistant", "content": "Hi."}, *hello], **SAYS)  # type: ignore[list-item]
    assert used() == derived
    create(messages=hello, metadata={"user_id": "user_1"}, **SAYS)  # type: ignore[arg-type]
    assert used() == derived, "a person is no conversation"
    for name in (f"user_1_account__session_{id}", f'{{"device_id": "1", "session_id": "{id}"}}'):
        create(messages=hello, metadata={"user_id": name}, **SAYS)  # type: ignore[arg-type]
        assert used() == id
    with wrapped_session("mine"):
        create(messages=hello, metadata={"user_id": name}, **SAYS)  # type: ignore[arg-type]
        assert used() == "mine"
    assert middle.sessions.find("mine") is middle.last
    for chosen, expected in (
        ("one", "one"),
        (lambda body: body["metadata"]["user_id"], "user_1"),
        (lambda body: None, derived),
    ):
        middle = compaction(tmp_path, session=chosen)
        client(provider, middle).messages.create(messages=hello, metadata={"user_id": "user_1"}, **SAYS)  # type: ignore[arg-type]
        assert used() == expected


def test_client_session_in_tasks(provider: FakeProvider, tmp_path: Path) -> None:
    """Tasks that run at the same time keep their sessions apart."""
    middle = compaction(tmp_path)
    client = anthropic.AsyncAnthropic(base_url=provider.url, api_key="any", middleware=[middle])

    async def agent(name: str) -> None:
        with wrapped_session(name):
            for n in range(3):
                await client.messages.create(messages=[{"role": "user", "content": f"{name} {n}"}], **SAYS)

    async def both() -> None:
        await asyncio.gather(agent("a"), agent("b"))
        await client.close()

    asyncio.run(both())
    assert {middle.sessions.find(name).saved().requests for name in ("a", "b")} == {3}  # type: ignore[union-attr]
    assert len(provider.served) == 6


def test_client_threads(provider: FakeProvider, tmp_path: Path) -> None:
    """Two threads in one session, with conversations of their own: each sends its own."""
    middle = compaction(tmp_path, session="one")
    anthropic = client(provider, middle)
    failed: list[BaseException] = []

    def agent(name: str) -> None:
        try:
            messages: list[Any] = [{"role": "user", "content": name}]
            for n in range(4):
                answer = anthropic.messages.create(messages=messages, **SAYS)
                assert answer.content[0].text.endswith(messages[-1]["content"])  # type: ignore[union-attr]
                messages += [
                    {"role": "assistant", "content": answer.content},
                    {"role": "user", "content": f"{name} {n}"},
                ]
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=agent, args=(name,)) for name in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    for served in provider.served:
        said = [str(message["content"]) for message in served.body["messages"]]
        assert all("first" in one for one in said) or all("second" in one for one in said)


def test_client_broken_stage(provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage that fails costs no request."""
    monkeypatch.setattr(Do, "now", lambda view: 1 / 0)
    create = client(provider, compaction(tmp_path, "do: {when: {over: 0.01}}")).messages.create
    assert create(messages=long_talk(3, 500), tools=[TOOL], **SAYS).content  # type: ignore[arg-type,list-item]


@pytest.mark.parametrize("step", ["get", "prepare", "observe"])
def test_client_broken_session(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any, step: str
) -> None:
    """Where trimtab itself fails, the request goes out as it is, unless the profile is strict."""

    def fail(*_: Any) -> Any:
        raise OSError("disk gone")

    hello: list[Any] = [{"role": "user", "content": "Hello."}]
    monkeypatch.setattr(Sessions if step == "get" else Exchange, step, fail)
    with caplog.at_level(logging.WARNING, "trimtab"):
        assert client(provider, compaction(tmp_path)).messages.create(messages=hello, **SAYS).content
    assert "OSError" in caplog.text
    assert ("disk gone" in caplog.text) == (step == "get")  # of what fails beside a conversation, the words too
    if step != "observe":
        assert provider.served[-1].body["messages"] == hello
    with pytest.raises(OSError):
        client(provider, compaction(tmp_path, strict=True)).messages.create(messages=hello, **SAYS)


class Recall(Stage):
    """Offers a tool."""

    name = "recall"

    def propose(self, view: Any) -> Any:
        """Nothing."""
        yield from ()

    def tools(self, view: Any) -> list[Tool]:
        """One."""
        return [Tool("recall", "Tells what was.", {"type": "object", "properties": {}})]

    def call_tool(self, view: Any, name: str, input: Any) -> Any:
        """Tell."""
        yield from ()
        return f"It was {len(view.messages)}."


@pytest.mark.parametrize("stream", [False, True])
def test_client_stage_tools(tmp_path: Path, stream: bool) -> None:
    """The model is offered the tools of stages, and a call is answered in the session in which it was made."""
    middle = compaction(tmp_path, "recall", stage_tools=True, plugins=[Recall])
    script = [[Text("Well."), Use("recall")], [Use("read")], "Done."]
    with FakeProvider(script, Settings(window=30_000)) as provider:
        anthropic = client(provider, middle)

        def ask(messages: list[Any]) -> Any:
            if stream:
                with anthropic.messages.stream(messages=messages, tools=[TOOL], **SAYS) as events:  # type: ignore[list-item]
                    return events.get_final_message()
            return anthropic.messages.create(messages=messages, tools=[TOOL], **SAYS)  # type: ignore[list-item]

        answer = ask([{"role": "user", "content": "What was?"}])
        other = ask([{"role": "user", "content": "Something else."}])
        assert middle.call_tool(other.content[0]) is None
        result = middle.call_tool(answer.content[-1].to_dict())
        assert (result["tool_use_id"], result["content"]) == (answer.content[-1].id, "It was 1.")
        assert [tool["name"] for tool in provider.served[0].body["tools"]] == ["read", "recall"]


def test_client_breakpoints_of_the_profile(provider: FakeProvider, tmp_path: Path) -> None:
    """The profile may want none, or such as last for an hour."""
    hello: list[Any] = [{"role": "user", "content": "Hello."}]
    client(provider, compaction(tmp_path, provider="cache: {breakpoints: false}")).messages.create(
        messages=hello, **SAYS
    )
    assert not marked(provider.served[-1].body)
    client(provider, compaction(tmp_path, provider="cache: {ttl: 1h}")).messages.create(messages=hello, **SAYS)
    assert provider.served[-1].body["messages"][0]["content"][0]["cache_control"]["ttl"] == "1h"


def test_client_cancelled(tmp_path: Path) -> None:
    """A task that is cancelled while it waits for the first word lets go of the connection."""
    with FakeProvider([Reply([Text("Late.")], delay=5.0)], Settings(window=30_000)) as provider:
        middle = compaction(tmp_path)

        async def talk() -> None:
            async with anthropic.AsyncAnthropic(base_url=provider.url, api_key="any", middleware=[middle]) as client:
                hello: Any = [{"role": "user", "content": "Hello."}]
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.1):
                        await client.messages.create(messages=hello, stream=True, **SAYS)
                assert (await client.messages.create(messages=hello, **SAYS)).content

        asyncio.run(talk())
