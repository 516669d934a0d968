"""Raw responses, parsed answers, clients of other classes, and the tools of stages."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, ClassVar

import openai
import pytest
from openai_agent import Clear, agent, history, items, profile
from pydantic import BaseModel
from trimtab.clients.openai import compacting, session_of
from trimtab.dialect import Tool
from trimtab.errors import Unknown
from trimtab.testing.provider import Cut, Fail, FakeProvider, Reply, Settings, Text, Use

BIG = 40_000
SMALL = Settings(window=3_000)
REFUSED = Fail(400, "Your input exceeds the context window of this model.", code="context_length_exceeded")


class City(BaseModel):
    """What is asked for."""

    name: str


PARIS = json.dumps({"name": "Paris"})


def test_raw_responses_are_recovered_and_observed(tmp_path: Path) -> None:
    """The caller gets the HTTP response of the request that was answered, and can read it as he likes."""
    with FakeProvider(settings=SMALL) as provider, agent(provider, profile(tmp_path, BIG)) as client:
        create = client.chat.completions.with_raw_response.create
        raw = create(model="gpt-5.6-sol", messages=history(20))
        assert raw.status_code == 200
        assert json.loads(raw.text)["usage"] == raw.parse().usage.to_dict()  # type: ignore[union-attr]
        assert session_of(client).saved().requests == 1
        assert [served.status for served in provider.served][-2:] == [400, 200]


def test_streaming_responses_are_recovered_and_observed(tmp_path: Path) -> None:
    """Of an answer that is no stream the whole is there, for lines and for `parse`."""
    with FakeProvider(settings=SMALL) as provider, agent(provider, profile(tmp_path, BIG)) as client:
        create = client.responses.with_streaming_response.create
        with create(model="gpt-5.6-sol", input=items(20)) as raw:
            assert json.loads("".join(raw.iter_text()))["status"] == "completed"
            assert raw.parse().output_text.startswith("You said")
        assert session_of(client).saved().requests == 1
        assert provider.refused


@pytest.mark.parametrize("way", ["with_raw_response", "with_streaming_response"])
def test_raw_streams_have_what_was_asked_for(tmp_path: Path, way: str) -> None:
    """Nothing is added to the request; the usage of one that tells it is observed once it is parsed."""
    with FakeProvider() as provider, agent(provider, profile(tmp_path, BIG)) as client:
        options: Any = {"model": "gpt-5.6-sol", "messages": history(2), "stream": True}
        create = getattr(client.chat.completions, way).create
        for more, last in (({}, "choices"), ({"stream_options": {"include_usage": True}}, "usage")):
            raw = create(**options, **more)
            if way == "with_streaming_response":
                with raw as opened:
                    chunks = list(opened.parse())
            else:
                chunks = list(raw.parse())
            assert getattr(chunks[-1], last)
            assert provider.served[-1].body.get("stream_options") == more.get("stream_options")
        assert session_of(client).saved().requests == 1


def test_a_raw_stream_is_not_read_ahead(tmp_path: Path) -> None:
    """Its bytes are the caller's: a refusal in it reaches him, and the next request is smaller."""
    cut = Reply([Text("one two")], cut=Cut(0, REFUSED))
    with FakeProvider([cut, "done"]) as provider, agent(provider, profile(tmp_path, BIG)) as client:
        options: Any = {"model": "gpt-5.6-sol", "messages": history(40)}
        raw = client.chat.completions.with_raw_response.create(stream=True, **options)
        with pytest.raises(openai.APIError, match="exceeds the context window"):
            list(raw.parse())
        client.chat.completions.create(**options)
        first, second = (len(json.dumps(served.body["messages"])) for served in provider.served)
        assert second < first


def test_parsed_answers_are_recovered_and_observed(tmp_path: Path) -> None:
    """`chat.completions.parse` and `responses.parse` give the caller's own classes."""
    with FakeProvider([PARIS, PARIS], SMALL) as provider, agent(provider, profile(tmp_path, BIG)) as client:
        one = client.chat.completions.parse(model="gpt-5.6-sol", messages=history(20), response_format=City)
        assert one.choices[0].message.parsed == City(name="Paris")
        assert session_of(client).saved().requests == 1
        other = client.responses.parse(model="gpt-5.6-sol", input=items(20), text_format=City)
        assert other.output_parsed == City(name="Paris")
        assert session_of(client).saved().requests == 1
        assert {served.api for served in provider.refused} == {"chat", "responses"}


def test_an_answer_that_was_cut_off_before_its_first_word_is_no_parse_error(tmp_path: Path) -> None:
    """The SDK raises while it parses; near the window that was an overflow, far from it the error is the caller's."""
    settings = Settings(window=11_500, silent_overflow="length", count=lambda text: len(text) * 10 // 19)
    script = [PARIS, PARIS, Reply([Text("{")], stop="length")]
    with FakeProvider(script, settings) as provider, agent(provider, profile(tmp_path, 11_500)) as client:
        parse = client.chat.completions.parse
        said = parse(model="gpt-5.6-sol", messages=history(12), response_format=City)
        assert said.choices[0].message.parsed == City(name="Paris")
        assert len(provider.served) == 2
        with pytest.raises(openai.LengthFinishReasonError):
            parse(model="gpt-5.6-sol", messages=history(2), response_format=City)
        assert len(provider.served) == 3
        assert session_of(client).saved().requests == 2


def test_clients_of_other_classes_stay_of_their_class(tmp_path: Path) -> None:
    """Azure's client finds its deployment still; one that is wrapped twice has the newer sessions."""
    with FakeProvider() as provider:
        azure = openai.AzureOpenAI(azure_endpoint=provider.url, api_key="any", api_version="1", max_retries=0)
        with compacting(azure, profile(tmp_path, BIG), plugins=[Clear]) as client:
            assert isinstance(client, openai.AzureOpenAI)
            with pytest.raises(openai.NotFoundError) as caught:  # the provider has no such path
                client.chat.completions.create(model="gpt-5.6-sol", messages=history(2))
            assert caught.value.request.url.path == "/openai/deployments/gpt-5.6-sol/chat/completions"
            assert session_of(client).request is not None
            again = compacting(client, profile(tmp_path, BIG), plugins=[Clear])
            with pytest.raises(Unknown, match="no request went through a session"):
                session_of(again)
        with pytest.raises(Unknown, match="compacting"):
            session_of(azure)


class Clock(Clear):
    """Has a tool."""

    name = "clear"
    offered: ClassVar[Tool] = Tool("clock", "The time.", {"type": "object", "properties": {}})

    def tools(self, view: Any) -> Iterator[Tool]:
        """One."""
        yield self.offered

    def call_tool(self, view: Any, name: str, input: Any) -> Generator[Any, Any, str]:
        """What it says."""
        yield from ()
        return "noon"


def test_tools_of_stages_are_offered_and_answered_by_the_caller(tmp_path: Path) -> None:
    """The model sees them beside the caller's; a call goes to the session, its result back with the others."""
    with FakeProvider([Use("clock"), "It is noon."]) as provider, agent(provider, None) as plain:
        client = compacting(plain, profile(tmp_path, BIG), plugins=[Clock], stage_tools=True)
        messages = history(1)
        answer = client.chat.completions.create(model="gpt-5.6-sol", messages=messages).choices[0].message
        assert [tool["function"]["name"] for tool in provider.served[0].body["tools"]] == ["clock"]
        assert answer.tool_calls
        result = session_of(client).call_tool(answer.tool_calls[0])
        assert (result["role"], result["content"]) == ("tool", "noon")
        messages += [answer, result]
        client.chat.completions.create(model="gpt-5.6-sol", messages=messages)
        assert provider.served[1].body["tools"] == provider.served[0].body["tools"]
        assert provider.served[1].body["messages"][-1]["content"] == "noon"
