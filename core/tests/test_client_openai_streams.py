"""Streams: usage that nobody asked for, refusals before and behind the first word, streams that are not read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai_agent import Clear, agent, history, items, profile
from pydantic import BaseModel
from trimtab import ContextOverflow
from trimtab.clients.openai import compacting, session_of
from trimtab.testing.provider import Cut, Fail, FakeProvider, Reply, Settings, Text, Think

BIG = 40_000
REFUSED = Fail(400, "Your input exceeds the context window of this model.", code="context_length_exceeded")
WORDS = "one two three four five six seven eight"


def chat(client: openai.OpenAI, messages: list[Any], **more: Any) -> list[Any]:
    """All chunks of one request."""
    return list(client.chat.completions.create(model="gpt-5.6-sol", messages=messages, stream=True, **more))


def respond(client: openai.OpenAI, said: Any) -> list[Any]:
    """All events of one request."""
    return list(client.responses.create(model="gpt-5.6-sol", input=said, stream=True))


def text(chunks: list[Any]) -> str:
    """What they say."""
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def test_usage_is_asked_for_and_its_chunk_hidden(tmp_path: Path) -> None:
    """The caller sees the chunks of a plain request; the session sees the usage."""
    with FakeProvider() as provider, agent(provider, profile(tmp_path, BIG)) as client:
        chunks = chat(client, history(2))
        plain = chat(agent(provider, None), history(2))
        assert [chunk.choices for chunk in chunks] == [chunk.choices for chunk in plain]
        assert provider.served[0].body["stream_options"] == {"include_usage": True}
        assert session_of(client).saved().requests == 1


@pytest.mark.parametrize("asked", [True, False])
def test_a_caller_who_says_whether_he_wants_usage_gets_what_he_asked_for(tmp_path: Path, asked: bool) -> None:
    """The option goes out as it is, and its chunk, if any, comes through."""
    with FakeProvider() as provider, agent(provider, profile(tmp_path, BIG)) as client:
        chunks = chat(client, history(2), stream_options={"include_usage": asked})
        assert provider.served[0].body["stream_options"] == {"include_usage": asked}
        assert bool(chunks[-1].usage) is asked
        assert session_of(client).saved().requests == int(asked)


def test_a_server_that_refuses_the_option_is_not_asked_again(tmp_path: Path) -> None:
    """The request comes again without it, and later ones never have it."""
    seen: list[Any] = []

    def serve(request: httpx2.Request) -> httpx2.Response:
        seen.append(json.loads(request.content))
        if "stream_options" in seen[-1]:
            return httpx2.Response(
                422, json={"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]}
            )
        said = {"id": "x", "choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, text=f"data: {json.dumps(said)}\n\n")

    with httpx2.Client(transport=httpx2.MockTransport(serve)) as http:
        plain = openai.OpenAI(base_url="http://server/v1", api_key="any", http_client=http)
        client = compacting(plain, profile(tmp_path, BIG), plugins=[Clear])
        assert [text(chat(client, history(2))) for _ in range(2)] == ["hi", "hi"]
    assert ["stream_options" in body for body in seen] == [True, False, False]


@pytest.mark.parametrize("refusals", [1, 2])
def test_a_refusal_before_the_first_word_is_recovered(tmp_path: Path, refusals: int) -> None:
    """Also twice in a row, and behind the chunk that only tells the role."""
    cut = [Reply([Text(WORDS)], cut=Cut(after, REFUSED)) for after in range(refusals)]
    with FakeProvider([*cut, "done"]) as provider, agent(provider, profile(tmp_path, BIG)) as client:
        chunks = chat(client, history(40))
        assert text(chunks) == "done"
        assert [choice.delta.role for chunk in chunks for choice in chunk.choices].count("assistant") == 1
        sizes = [len(json.dumps(served.body["messages"])) for served in provider.served]
        assert len(sizes) == refusals + 1
        assert sizes == sorted(set(sizes), reverse=True)


def test_a_refusal_behind_the_first_word_reaches_the_caller_and_the_next_request_is_smaller(tmp_path: Path) -> None:
    """What was heard cannot be taken back: the error is the provider's own."""
    provider = FakeProvider([Reply([Text(WORDS)], cut=Cut(2, REFUSED)), "done"])
    with provider, agent(provider, profile(tmp_path, BIG)) as client:
        stream = client.chat.completions.create(model="gpt-5.6-sol", messages=history(40), stream=True)
        assert text([next(stream), next(stream)])
        with pytest.raises(openai.APIError, match="exceeds the context window"):
            next(stream)
        assert text(chat(client, history(40))) == "done"
        first, second = (len(json.dumps(served.body["messages"])) for served in provider.served)
        assert second < first


@pytest.mark.parametrize("way", ["event", "failed", "400"])
def test_responses_refuse_in_three_ways(tmp_path: Path, way: Any) -> None:
    """An error event, a failed response, a status: each is recovered unnoticed."""
    settings = Settings(window=3_000, stream_overflow=way)
    with FakeProvider(settings=settings) as provider, agent(provider, profile(tmp_path, 12_000)) as client:
        kinds = [event.type for event in respond(client, items(12))]
        assert kinds[:3] == ["response.created", "response.in_progress", "response.output_item.added"]
        assert (kinds.count("response.created"), kinds[-1]) == (1, "response.completed")
        assert len(provider.served) > 1
        assert session_of(client).saved().requests == 1


class Bytes(httpx2.SyncByteStream):
    """The body of a stream that stays open until somebody closes it."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self.events = events
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        for event in self.events:
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("words", [0, 1])
def test_an_error_event_without_an_error_field_is_one_too(tmp_path: Path, words: int) -> None:
    """The SDK gives it out as an event: it is recovered before the first word, later it reaches the caller."""
    error = {"type": "error", "code": "context_length_exceeded", "message": "It is too long.", "sequence_number": 9}
    word = {"type": "response.output_text.delta", "delta": "one", "sequence_number": 1}
    done = {"type": "response.output_text.delta", "delta": "done", "sequence_number": 1}
    bodies, sizes = [Bytes(*[word] * words, error), Bytes(done)], []

    def serve(request: httpx2.Request) -> httpx2.Response:
        sizes.append(len(request.content))
        body = bodies[len(sizes) - 1]
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=body)

    with httpx2.Client(transport=httpx2.MockTransport(serve)) as http:
        plain = openai.OpenAI(base_url="http://server/v1", api_key="any", http_client=http)
        client = compacting(plain, profile(tmp_path, BIG), plugins=[Clear])
        heard = [event.type for event in respond(client, items(40))]
        assert heard == ([word["type"], "error"] if words else [word["type"]])
        if words:
            respond(client, items(40))
    assert sizes[1] < sizes[0]
    assert all(body.closed for body in bodies)


def test_a_refusal_that_nothing_helps_is_one_context_overflow(tmp_path: Path) -> None:
    """It comes from the error that the stream told."""
    provider = FakeProvider(settings=Settings(window=3_000))
    with provider, agent(provider, profile(tmp_path, 12_000)) as client:
        with pytest.raises(ContextOverflow) as caught:
            respond(client, "word " * 8_000)
        assert isinstance(caught.value.__cause__, openai.APIError)
        assert caught.value.__cause__.code == "context_length_exceeded"


def test_a_stream_without_a_word_is_an_overflow(tmp_path: Path) -> None:
    """A ``length`` stop with no output, near the window: sent again, smaller."""
    settings = Settings(window=11_500, silent_overflow="length", count=lambda text: len(text) * 10 // 19)
    with FakeProvider(settings=settings) as provider, agent(provider, profile(tmp_path, 11_500)) as client:
        assert text(chat(client, history(12))).startswith("You said")
        assert len(provider.served) == 2


def test_other_failures_come_where_they_came_from(tmp_path: Path) -> None:
    """An error event that is no overflow is raised by the iteration; a failed response stays an event."""
    down = Fail(500, "The server had an error.", "server_error", code="server_error")
    script = [Reply([Text(WORDS)], cut=Cut(0, down)), Reply([Text(WORDS)], cut=Cut(2))]
    with FakeProvider(script) as provider, agent(provider, profile(tmp_path, BIG)) as client:
        for error in (openai.APIError, openai.APIConnectionError):
            stream = client.chat.completions.create(model="gpt-5.6-sol", messages=history(2), stream=True)
            with pytest.raises(error) as caught:
                list(stream)
            assert type(caught.value) is error
        assert len(provider.served) == 2


def test_a_stream_may_be_left_early(tmp_path: Path) -> None:
    """Its connection is closed, nothing is observed, and the next request goes on."""
    with FakeProvider([WORDS * 50, "done"]) as provider, agent(provider, profile(tmp_path, BIG)) as client:
        with client.chat.completions.create(model="gpt-5.6-sol", messages=history(2), stream=True) as stream:
            assert next(iter(stream)).choices
        assert stream.response.is_closed
        assert text(chat(client, history(3))) == "done"
        assert session_of(client).saved().requests == 1


def test_the_helpers_of_the_sdk_stream_through_it(tmp_path: Path) -> None:
    """`chat.completions.stream` and `responses.stream` accumulate what one recovered answer says."""

    class City(BaseModel):
        name: str

    paris = json.dumps({"name": "Paris"})
    cut = Reply([Text(WORDS)], cut=Cut(0, REFUSED))
    provider = FakeProvider([cut, paris, [Think("hm"), Text(paris)]])
    with provider, agent(provider, profile(tmp_path, BIG)) as client:
        with client.chat.completions.stream(model="gpt-5.6-sol", messages=history(40), response_format=City) as chunks:
            assert chunks.get_final_completion().choices[0].message.parsed == City(name="Paris")
        with client.responses.stream(model="gpt-5.6-sol", input=items(2), text_format=City) as events:
            assert events.get_final_response().output_parsed == City(name="Paris")
        assert session_of(client).saved().requests == 1


def test_a_stream_of_deltas_without_words_waits_for_the_window(tmp_path: Path) -> None:
    """An answer that is empty and far from the window is an answer."""
    provider = FakeProvider([Reply([], stop="length")], Settings())
    with provider, agent(provider, profile(tmp_path, BIG)) as client:
        assert text(chat(client, history(1))) == ""
        assert len(provider.served) == 1
