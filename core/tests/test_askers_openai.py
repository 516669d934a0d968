"""The asker with the real OpenAI SDK, against the fake provider: both APIs, sync and async."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from trimtab.ask import Ask
from trimtab.clients.asking import Progress
from trimtab.clients.openai import compacting, session_of
from trimtab.clients.openai.ask import OpenAIAsker, is_responses
from trimtab.dialects.refusals import refusal
from trimtab.errors import AskFailed
from trimtab.profile import load
from trimtab.report import Report
from trimtab.request import Request
from trimtab.testing.provider import Cut, Fail, FakeProvider, Reply, Settings, Text, Use

MODEL = "gpt-5.6-luna"
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}]
LONG = "All work and no play makes Jack a dull boy. " * 200


@pytest.fixture
def script() -> list[Any]:
    """What the provider answers, in order."""
    return []


@pytest.fixture
def provider(script: list[Any]) -> Iterator[FakeProvider]:
    """A provider that answers from ``script``."""
    with FakeProvider(lambda _: script.pop(0), Settings(window=20_000)) as made:
        yield made


@pytest.fixture
def client(provider: FakeProvider) -> Iterator[openai.OpenAI]:
    """A client of it that tries each request once."""
    with openai.OpenAI(base_url=f"{provider.url}/v1", api_key="any", max_retries=0) as made:
        yield made


def test_a_text_of_its_own(provider: FakeProvider, client: openai.OpenAI, script: list[Any]) -> None:
    """One user message to the model that the profile names, else the asker's; the answer tells its usage."""
    script += ["fine", "fine"]
    asker = OpenAIAsker(client, MODEL, parameters={"max_completion_tokens": 99})
    answer = asker(Ask("how?"))
    asker(Ask("how?", model="gpt-5.6-sol"))
    body = provider.served[0].body
    assert answer == "fine"
    assert answer.usage.output > 0
    assert answer.usage.model == MODEL
    assert body["messages"] == [{"role": "user", "content": "how?"}]
    assert (body["max_completion_tokens"], body["stream"]) == (99, True)
    assert [served.body["model"] for served in provider.served] == [MODEL, "gpt-5.6-sol"]


def test_no_model(client: openai.OpenAI) -> None:
    """Where nobody names a model, that is said."""
    with pytest.raises(AskFailed, match="no model to ask"):
        OpenAIAsker(client)(Ask("how?"))


def test_a_schema_only_where_the_server_takes_one(
    provider: FakeProvider, client: openai.OpenAI, script: list[Any]
) -> None:
    """A schema goes out where the caller says that the server takes it."""
    script += ["{}", "{}"]
    ask = Ask("how?", purpose="memories", schema={"type": "object"})
    OpenAIAsker(client, MODEL)(ask)
    OpenAIAsker(client, MODEL, schemas=True)(ask)
    assert "response_format" not in provider.served[0].body
    assert provider.served[1].body["response_format"]["json_schema"]["schema"] == {"type": "object"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Reply([Text("half of")], stop="length"), "cut off: no more tokens were allowed"),
        (Reply([Text("half of")], stop="content_filter"), "filter cut the answer off"),
        (Reply([Text("I"), Use("look", {})]), "called a tool instead of answering"),
        (Reply([Text("half of " * 20)], cut=Cut(after=3)), "client said"),
        (Reply([Text("half of " * 20)], cut=Cut(after=3, error=Fail(500, "lost", "server_error"))), "client said"),
        (Fail(401, "no such key", "authentication_error"), "no such key"),
    ],
)
def test_H75_no_answer_is_no_answer(
    provider: FakeProvider, client: openai.OpenAI, script: list[Any], answer: Any, said: str
) -> None:
    """What was cut off, filtered, refused or a call of a tool is never taken for an answer."""
    script.append(answer)
    with pytest.raises(AskFailed, match=said) as caught:
        OpenAIAsker(client, MODEL)(Ask("how?"))
    assert caught.value.overflow is None
    assert len(provider.served) == 1


def test_a_question_that_is_too_long(client: openai.OpenAI) -> None:
    """The provider's refusal is the cause, in which the kernel finds the sizes."""
    with pytest.raises(AskFailed) as caught:
        OpenAIAsker(client, MODEL)(Ask(LONG * 20))
    found = refusal(caught.value.__cause__)
    assert found is not None
    assert found.kind == "tokens"


def chat(said: str = LONG, **parameters: Any) -> Request:
    """A request of Chat Completions in mid-course."""
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": said},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": said},
    ]
    return Request(messages, None, TOOLS, report=Report(), parameters={"model": MODEL, **parameters})


def test_a_shared_question_reads_the_cache(provider: FakeProvider, client: openai.OpenAI, script: list[Any]) -> None:
    """Behind the same request, to its model, what that stored is read; and the next one still reads its own."""
    script += ["go on", "a summary", "go on"]
    request = chat(stop=["x"], reasoning_effort="low", n=1)
    main = {**request.parameters, "messages": request.messages, "tools": request.tools}
    client.chat.completions.create(**main)
    answer = OpenAIAsker(client, "another")(Ask("Summarise.", shared=True, request=request))
    client.chat.completions.create(**main)
    first, fork, again = (served.usage for served in provider.served)
    body = provider.served[1].body
    assert answer == "a summary"
    assert (body["model"], body["reasoning_effort"]) == (MODEL, "low")
    assert "stop" not in body
    assert body["messages"][:-1] == request.messages
    assert fork["prompt_tokens_details"]["cached_tokens"] > 0.9 * first["prompt_tokens"]
    assert again["prompt_tokens_details"]["cached_tokens"] > 0.9 * first["prompt_tokens"]


def test_a_forced_call_is_lifted(provider: FakeProvider, client: openai.OpenAI, script: list[Any]) -> None:
    """A request that forces a call would never be answered with a text."""
    script += ["a summary"]
    OpenAIAsker(client)(Ask("Summarise.", shared=True, request=chat(tool_choice="required")))
    assert provider.served[0].body["tool_choice"] == "none"


@pytest.mark.parametrize(
    ("choice", "lifted"),
    [
        ({"type": "web_search"}, True),
        ({"type": "mcp", "server_label": "x"}, True),
        ({"type": "allowed_tools", "mode": "required", "tools": []}, True),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, False),
        ("auto", False),
    ],
)
def test_whatever_forces_a_call_is_lifted(
    provider: FakeProvider, client: openai.OpenAI, script: list[Any], choice: Any, lifted: bool
) -> None:
    """Also a tool of the provider's own; a choice that leaves the model one stays."""
    script += ["a summary"]
    OpenAIAsker(client)(Ask("Summarise.", shared=True, request=chat(tool_choice=choice)))
    assert provider.served[0].body["tool_choice"] == ("none" if lifted else choice)


@pytest.mark.parametrize(
    "form", [{"response_format": {"type": "json_object"}}, {"text": {"format": {"type": "json_schema", "name": "x"}}}]
)
def test_a_forced_form(provider: FakeProvider, client: openai.OpenAI, form: Any) -> None:
    """No text can be had behind such a request, so nobody is asked, and the stage asks about it as a text."""
    with pytest.raises(AskFailed, match="form of its answer") as caught:
        OpenAIAsker(client)(Ask("Summarise.", shared=True, request=chat(**form)))
    assert caught.value.overflow is not None
    assert provider.served == []


def test_H47_a_shared_answer_has_room(provider: FakeProvider, client: openai.OpenAI, script: list[Any]) -> None:
    """However short the agent's own answers are; of a model that nobody knows the bound stays."""
    script += ["a summary", "a summary"]
    for model in (MODEL, "another"):
        given = {"model": model, "max_completion_tokens": 50, "logprobs": True, "modalities": ["text", "audio"]}
        OpenAIAsker(client)(Ask("Summarise.", shared=True, request=chat(**given)))
    assert [served.body["max_completion_tokens"] for served in provider.served] == [16_000, 50]
    assert {"logprobs", "modalities"}.isdisjoint(provider.served[0].body)


def test_what_a_request_said_beside_the_sdk(provider: FakeProvider, client: openai.OpenAI, script: list[Any]) -> None:
    """Its ``extra_body`` follows it too, but not its conversation: that is as it was sent, with the question behind."""
    script += ["go on", "a summary"]
    wrapped = compacting(client, load("minimal", overrides={"storage": {"ledger": "memory:", "blobs": "memory:"}}))
    items = [{"type": "message", "role": "user", "content": "Hello."}]
    body = {"input": items, "top_k": 4, "stop": ["x"]}
    wrapped.responses.create(model=MODEL, input=[], truncation="auto", extra_body=body)
    request = session_of(wrapped).request
    assert OpenAIAsker(client)(Ask("Summarise.", shared=True, request=request)) == "a summary"
    served = provider.served[1].body
    assert served["input"] == [*items, {"role": "user", "content": "Summarise."}]
    assert (served["top_k"], served["model"]) == (4, MODEL)
    assert {"stop", "truncation"}.isdisjoint(served)


def test_items_are_known_by_their_parts() -> None:
    """Messages of Responses need no type, their parts have one that only Responses knows."""
    for kind, known in (("input_text", True), ("text", False)):
        messages = [{"role": "user", "content": [{"type": kind, "text": "Hello."}]}]
        assert is_responses(Request(messages, None, None, parameters={"model": MODEL})) is known


def test_responses(provider: FakeProvider, client: openai.OpenAI, script: list[Any]) -> None:
    """A request of Responses is followed in that API."""
    script += [Reply([Text("a summary")])]
    items = [{"role": "user", "content": "Hello."}]
    request = Request(items, "Be brief.", None, parameters={"model": MODEL, "reasoning": {"effort": "low"}})
    answer = OpenAIAsker(client)(Ask("Summarise.", shared=True, request=request))
    served = provider.served[0]
    assert (answer, served.api, served.body["instructions"]) == ("a summary", "responses", "Be brief.")
    assert served.body["input"] == [*items, {"role": "user", "content": "Summarise."}]
    assert answer.usage.output > 0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Reply([Text("half of " * 200)]), "cut off: no more tokens"),
        (Reply([Text("I"), Use("look", {})]), "called a tool"),
        (Reply([Text("half of " * 20)], cut=Cut(after=5)), "client said|ended early"),
        (Reply([Text("half of " * 20)], cut=Cut(after=5, error=Fail(500, "lost", "server_error"))), "lost"),
    ],
)
def test_H75_responses_that_are_none(client: openai.OpenAI, script: list[Any], answer: Any, said: str) -> None:
    """The same failures in Responses."""
    script.append(answer)
    given = {"model": "another", "max_output_tokens": 50}
    request = Request([{"role": "user", "content": "Hello."}], "Be brief.", None, parameters=given)
    with pytest.raises(AskFailed, match=said):
        OpenAIAsker(client)(Ask("Summarise.", shared=True, request=request))


def test_a_summary_of_the_providers_own(client: openai.OpenAI) -> None:
    """There is none."""
    with pytest.raises(AskFailed, match="no summary of the provider's own"):
        OpenAIAsker(client, MODEL)(Ask("how?", native=True, request=chat()))


def test_a_late_server(client: openai.OpenAI, script: list[Any]) -> None:
    """A server that does not answer in time is left."""
    script.append(Reply([Text("late")], delay=0.3))
    with pytest.raises(AskFailed, match=r"no answer within 0\.1 s|timed out"):
        OpenAIAsker(client, MODEL, timeout=0.1)(Ask("how?"))


def test_asynchronous(provider: FakeProvider, script: list[Any]) -> None:
    """The same with an asynchronous client, in both APIs, with progress."""
    script += ["one two three", "a summary", Reply([Text("late")], delay=0.3)]
    seen: list[Progress] = []
    request = Request([{"role": "user", "content": "Hello."}], "Be brief.", None, parameters={"model": MODEL})

    async def main() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="any", max_retries=0) as client:
            asker = OpenAIAsker(client, MODEL, progress=seen.append)
            answers = [await asker(Ask("how?")), await asker(Ask("how?", shared=True, request=request))]
            with pytest.raises(AskFailed, match=r"no answer within 0\.1 s"):
                await asker(Ask("how?", timeout=0.1))
            return answers

    assert asyncio.run(main()) == ["one two three", "a summary"]
    first = seen[: [one.state for one in seen].index("done") + 1]
    assert first[-1].characters == len("one two three")
    assert "answering" in {one.state for one in first}
