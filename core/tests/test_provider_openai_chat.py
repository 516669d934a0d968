"""Chat Completions of the fake provider, as the OpenAI SDK sees it: answers, streams, refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from trimtab.testing.provider import Cut, Fail, FakeProvider, Reply, Settings, Text, Think, Use

openai = pytest.importorskip("openai")

MODEL = "gpt-5.5"
USER = {"role": "user", "content": "What is in a.txt?"}
TOOL = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
ROUND = [Think("I must read it."), Use("read", {"path": "a.txt"}), Use("read", {"path": "b.txt"})]


@contextmanager
def provided(script: Any = None, **settings: Any) -> Iterator[tuple[FakeProvider, Any]]:
    """A provider and a client that never retries."""
    with (
        FakeProvider(script, Settings(**settings)) as provider,
        openai.OpenAI(base_url=provider.url + "/v1", api_key="any", max_retries=0) as client,
    ):
        yield provider, client


def called(*ids: str) -> dict[str, Any]:
    """An answer with calls of these ids."""
    calls = [{"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(id: str) -> dict[str, Any]:
    """The result of a call."""
    return {"role": "tool", "tool_call_id": id, "content": "Nothing."}


def test_a_tool_loop() -> None:
    """Calls come with their input, their results reach the script, and the usage is the log's."""
    seen = []

    def script(call: Any) -> Any:
        seen.append((call.number, call.text, list(call.results)))
        return ROUND if call.number == 1 else "Done."

    with provided(script) as (provider, client):
        messages: list[Any] = [USER]
        first = client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
        answer = first.choices[0].message
        assert first.choices[0].finish_reason == "tool_calls"
        assert answer.reasoning_content == "I must read it."
        assert [call.function.arguments for call in answer.tool_calls] == ['{"path": "a.txt"}', '{"path": "b.txt"}']
        results = [{"role": "tool", "tool_call_id": call.id, "content": call.id} for call in answer.tool_calls]
        last = client.chat.completions.create(model=MODEL, messages=[USER, answer, *results])
        assert (last.choices[0].message.content, last.choices[0].finish_reason) == ("Done.", "stop")
        assert seen == [(1, USER["content"], []), (2, USER["content"], [call.id for call in answer.tool_calls])]
        assert last.usage.model_dump(exclude_unset=True) == provider.served[-1].usage
        assert first.usage.completion_tokens_details.reasoning_tokens == 5
        assert not provider.refused


def test_a_stream_says_what_the_answer_says() -> None:
    """The SDK puts the same message together from a stream, and usage comes where it was asked for."""
    parts = [*ROUND, Text("That is " + "long " * 30)]
    with provided([parts, parts, parts]) as (_, client):
        plain = client.chat.completions.create(model=MODEL, messages=[USER], tools=[TOOL])
        ask: dict[str, Any] = {"model": MODEL, "messages": [USER], "tools": [TOOL]}
        with client.chat.completions.stream(**ask, stream_options={"include_usage": True}) as stream:
            final = stream.get_final_completion()
        one, other = plain.choices[0].message, final.choices[0].message
        assert one.content == other.content
        arguments = [[call.function.arguments for call in message.tool_calls] for message in (one, other)]
        assert arguments[0] == arguments[1]
        assert final.usage == plain.usage
        assert final.choices[0].finish_reason == "tool_calls"
        chunks = list(client.chat.completions.create(**ask, stream=True))
        assert all(chunk.usage is None and chunk.choices for chunk in chunks)


def test_async() -> None:
    """The asynchronous client gets the same, and answers that overlap have ids of their own."""

    async def run(url: str) -> list[str]:
        async with openai.AsyncOpenAI(base_url=url + "/v1", api_key="any") as client:
            asks = [client.chat.completions.create(model=MODEL, messages=[USER]) for _ in range(3)]
            plain, *others = await asyncio.gather(*asks)
            assert len({plain.id, *(other.id for other in others)}) == 3
            stream = await client.chat.completions.create(model=MODEL, messages=[USER], stream=True)
            pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
            return [plain.choices[0].message.content, "".join(pieces)]

    with provided(lambda call: Reply([Text("Hello")], delay=0.05)) as (provider, _):
        assert asyncio.run(run(provider.url)) == ["Hello"] * 2


REFUSALS: list[tuple[str, list[Any], str, str | None, str | None]] = [
    (
        "no result",
        [USER, called("a", "b"), result("a")],
        "have response messages: b",
        "messages.[3].role",
        None,
    ),
    ("late result", [USER, called("a"), USER, result("a")], "must be followed by tool messages", None, None),
    ("no call", [USER, result("a")], "must be a response to a preceding message", "messages.[1].role", None),
    ("old call", [USER, called("a"), result("a"), USER, result("a")], "must be a response to a preceding", None, None),
    ("no calls", [USER, called()], "empty array", "messages[1].tool_calls", "empty_array"),
    ("part", [{"role": "user", "content": [{"type": "tool_use"}]}], "'tool_use'", None, "invalid_value"),
    ("system image", [{"role": "system", "content": [{"type": "image_url"}]}], "'image_url'", None, "invalid_value"),
    ("null", [{"role": "user", "content": None}], "expected a string, got null", "messages.[0].content", None),
    ("role", [{"role": "model", "content": "x"}], "'model'", "messages[0].role", "invalid_value"),
    ("nothing", [], "empty array", "messages", "empty_array"),
]


@pytest.mark.parametrize(
    ("messages", "words", "param", "code"), [case[1:] for case in REFUSALS], ids=[case[0] for case in REFUSALS]
)
def test_what_is_refused(messages: list[Any], words: str, param: str | None, code: str | None) -> None:
    """Each broken list of messages is a 400 in OpenAI's words, and no answer is used up."""
    with provided(["first"]) as (provider, client):
        with pytest.raises(openai.BadRequestError, match="400") as caught:
            client.chat.completions.create(model=MODEL, messages=messages)
        assert words in caught.value.message
        assert caught.value.type == "invalid_request_error"
        assert caught.value.code == code
        assert param is None or caught.value.param == param
        assert provider.refused[0].error == {"error": caught.value.body}
        assert client.chat.completions.create(model=MODEL, messages=[USER]).choices[0].message.content == "first"


def test_switches_of_compatible_servers() -> None:
    """Empty lists of calls pass where the server takes them; thinking must come back, also when it is empty."""
    with provided(empty_calls=True) as (_, client):
        empty = {"role": "assistant", "content": "x", "tool_calls": []}
        client.chat.completions.create(model=MODEL, messages=[USER, empty, USER])
    for server, words in (("deepseek", "must be passed back to the API"), ("kimi", "message at index 1")):
        with provided(thinking_back=server) as (_, client):
            with pytest.raises(openai.BadRequestError, match=words):
                client.chat.completions.create(model="m", messages=[USER, called("a"), result("a")])
            kept = {**called("a"), "reasoning_content": ""}
            client.chat.completions.create(model="m", messages=[USER, kept, result("a")])


def test_failures_and_broken_streams() -> None:
    """A script can fail with any status, and break a stream off, with an error event or without."""
    fail = Fail(503, "Overloaded.", "server_error", code="overloaded")
    script = [fail, Reply([Text("x" * 200)], cut=Cut(3, fail)), Reply([Text("x" * 200)], cut=Cut(3))]
    with provided(script) as (provider, client):
        with pytest.raises(openai.InternalServerError) as caught:
            client.chat.completions.create(model=MODEL, messages=[USER])
        assert (caught.value.code, caught.value.type) == ("overloaded", "server_error")
        with pytest.raises(openai.APIError, match="Overloaded"):
            list(client.chat.completions.create(model=MODEL, messages=[USER], stream=True))
        with pytest.raises(openai.APIConnectionError):
            list(client.chat.completions.create(model=MODEL, messages=[USER], stream=True))
        assert [served.status for served in provider.served] == [503, 200, 200]


def test_models_are_those_of_the_settings() -> None:
    """The Models API lists the settings' models and refuses others; an Anthropic client gets them in its own shape."""
    with provided(models=("gpt-5.5", "gpt-6-sol")) as (_, client):
        assert [model.id for model in client.models.list()] == ["gpt-5.5", "gpt-6-sol"]
        assert client.models.retrieve("gpt-6-sol").object == "model"
        theirs = client.models.list(extra_headers={"anthropic-version": "2026-10-21"})
        assert [(model.id, model.object) for model in theirs] == [("gpt-5.5", None), ("gpt-6-sol", None)]
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("gpt-7")
