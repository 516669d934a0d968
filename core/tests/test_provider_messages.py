"""The fake provider's Messages API through the real SDK: answers, streams, failures, the log."""

import asyncio

import anthropic
import httpx2
import pytest
from anthropic.types import TextBlock
from provider_client import client
from trimtab.testing.provider import Call, Cut, Fail, Reply, Text, Think, Use

pytest_plugins = ["trimtab.testing.provider.fixture"]

BASH = {"name": "bash", "description": "Run a command.", "input_schema": {"type": "object"}}
ASK = {"model": "claude-opus-4-6", "max_tokens": 1000, "messages": [{"role": "user", "content": "list the files"}]}
PARTS = [Think("What is here?"), Text("Let me look: " + "x" * 100), Use("bash", {"cmd": "ls", "deep": [1, {"a": "ü"}]})]


def test_without_a_script_it_echoes(fake_provider):
    """The default answer repeats the user's last text."""
    provider = fake_provider()
    answer = client(provider).messages.create(**ASK)
    assert answer.content == [TextBlock(type="text", text="You said: list the files")]
    assert answer.stop_reason == "end_turn"
    assert answer.usage.input_tokens == 8
    assert answer.usage.output_tokens == provider.billed.output > 0


def test_a_list_is_given_in_order_and_then_echoed(fake_provider):
    """A str, a part, a list of parts and a Reply are all answers."""
    provider = fake_provider(["one", Text("two"), [Text("three")], Reply([Text("four")], stop="refusal")])
    answers = [client(provider).messages.create(**ASK) for _ in range(5)]
    texts = [answer.content[0].text for answer in answers]
    assert texts == ["one", "two", "three", "four", "You said: list the files"]
    assert [answer.stop_reason for answer in answers[2:4]] == ["end_turn", "refusal"]


def test_a_function_sees_the_call(fake_provider):
    """A callable gets number, texts and results; a refused request does not count."""
    calls: list[Call] = []

    def script(call: Call):
        calls.append(call)
        return Use("bash", {"cmd": "ls"}) if call.number == 1 else "done"

    provider = fake_provider(script)
    first = client(provider).messages.create(**ASK, tools=[BASH])
    with pytest.raises(anthropic.BadRequestError):
        client(provider).messages.create(**{**ASK, "messages": [{"role": "user", "content": ""}]})
    result = {"type": "tool_result", "tool_use_id": first.content[0].id, "content": "a.py"}
    messages = [
        *ASK["messages"],
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [result]},
    ]
    client(provider).messages.create(**{**ASK, "messages": messages}, tools=[BASH])
    assert [(call.number, call.text, call.results) for call in calls] == [
        (1, "list the files", ()),
        (2, "list the files", ("a.py",)),
    ]
    assert first.stop_reason == "tool_use"


@pytest.mark.parametrize("beta", [False, True])
def test_a_stream_gives_what_json_gives(fake_provider, beta):
    """The SDK accumulates the same message, with the same usage, from the stream."""
    provider = fake_provider(lambda call: PARTS)
    messages = client(provider).beta.messages if beta else client(provider).messages
    whole = messages.create(**ASK, tools=[BASH])
    with messages.stream(**ASK, tools=[BASH]) as stream:
        final = stream.get_final_message()
    expected, got = whole.to_dict(), final.to_dict()
    for message in (expected, got):
        message.pop("id")
        for block in message["content"]:
            for name in ("signature", "parsed_output", "id"):
                block.pop(name, None)
    assert got["content"] == expected["content"]
    assert {name: got[name] for name in expected} == expected
    assert provider.served[-1].response["content"][0]["signature"] == final.content[0].signature
    assert provider.served[-1].path == "/v1/messages"


def test_the_events_of_a_stream_are_in_order(fake_provider):
    """Start, ping, blocks each opened and closed, delta with the reason to stop, stop."""
    provider = fake_provider([[Text("a"), Use("bash", {})]])
    events = list(client(provider).messages.create(**ASK, tools=[BASH], stream=True))
    kinds = [event.type for event in events]
    block = ["content_block_start", "content_block_delta"]
    assert kinds == [
        "message_start", *block, "content_block_stop", *block, "content_block_delta", "content_block_stop",
        "message_delta", "message_stop",
    ]  # fmt: skip
    assert events[0].message.usage.input_tokens == events[-2].usage.input_tokens
    assert events[-2].delta.stop_reason == "tool_use"


def test_the_async_client_works(fake_provider):
    """Async JSON and streams, several at once."""
    provider = fake_provider()

    async def run():
        async with anthropic.AsyncAnthropic(base_url=provider.url, api_key="any") as asynchronous:
            answers = await asyncio.gather(*(asynchronous.messages.create(**ASK) for _ in range(5)))
            async with asynchronous.messages.stream(**ASK) as stream:
                return [*answers, await stream.get_final_message()]

    answers = asyncio.run(run())
    assert {answer.content[0].text for answer in answers} == {"You said: list the files"}
    assert len({answer.id for answer in answers}) == 6


def test_ids_are_the_same_in_every_run(fake_provider):
    """Nothing is random: two providers with one script answer the same bytes."""
    answers = [client(fake_provider([PARTS])).messages.create(**ASK, tools=[BASH]).to_json() for _ in range(2)]
    assert answers[0] == answers[1]


def test_a_failure_comes_as_often_as_it_says(fake_provider):
    """Fail is an HTTP error of the vendor's shape; the SDK's retries get through once it is over."""
    provider = fake_provider([Fail(529, "Overloaded", "overloaded_error", times=2), "fine"])
    with pytest.raises(anthropic.OverloadedError, match="Overloaded") as caught:
        client(provider).messages.create(**ASK)
    assert caught.value.request_id == "req_000001"
    assert caught.value.body["request_id"] == "req_000001"
    hurried = Fail(500, "once more", "api_error", headers={"retry-after-ms": "1"}, times=2)
    provider = fake_provider([hurried, "fine"])
    assert client(provider, max_retries=2).messages.create(**ASK).content[0].text == "fine"
    assert [served.status for served in provider.served] == [500, 500, 200]
    assert provider.served[-1].headers["x-stainless-retry-count"] == "2"


def test_a_cut_stream_ends_with_an_error_event(fake_provider):
    """After N events an error event; the SDK raises what it says."""
    overflow = Fail(400, "prompt is too long: 11 tokens > 10 maximum")
    provider = fake_provider([Reply([Text("x" * 200)], cut=Cut(4, overflow))])
    events = []
    with pytest.raises(anthropic.APIStatusError, match="prompt is too long"):
        events.extend(client(provider).messages.create(**ASK, stream=True))
    assert provider.served[0].status == 200
    assert provider.served[0].error["error"]["type"] == "invalid_request_error"


def test_a_cut_stream_or_answer_loses_its_connection(fake_provider):
    """Without an error the connection is closed in the middle."""
    provider = fake_provider([Reply([Text("x" * 200)], cut=Cut(3))] * 2)
    with pytest.raises(httpx2.RemoteProtocolError):
        list(client(provider).messages.create(**ASK, stream=True))
    with pytest.raises((anthropic.APIConnectionError, httpx2.RemoteProtocolError)):
        client(provider).messages.create(**ASK)
    assert client(provider).messages.create(**ASK).content[0].text == "You said: list the files"


def test_what_a_script_says_of_usage_and_delay_holds(fake_provider):
    """Usage is merged over the computed one; a delay is waited for."""
    provider = fake_provider([Reply([Text("x")], usage={"input_tokens": 12_345}, delay=0.05)])
    usage = client(provider).messages.create(**ASK).usage
    assert (usage.input_tokens, usage.cache_read_input_tokens) == (12_345, 0)
    with pytest.raises(anthropic.APITimeoutError):
        client(fake_provider([Reply([Text("x")], delay=5)]), timeout=0.05).messages.create(**ASK)


def test_a_script_that_fails_says_so_and_is_not_retried(fake_provider):
    """A bug in a test's script is a 500 with its message, sent once."""
    provider = fake_provider(lambda call: {}["missing"])
    with pytest.raises(
        anthropic.InternalServerError,
        match=r"the script or the provider failed: KeyError: 'missing' \(.*test_provider_messages.py:\d+\)",
    ):
        client(provider, max_retries=2).messages.create(**ASK)
    assert len(provider.served) == 1
    with pytest.raises(anthropic.InternalServerError, match="not 7"):
        client(fake_provider([7])).messages.create(**ASK)


def test_tokens_are_counted_and_models_are_listed(fake_provider):
    """count_tokens agrees with usage; the Models API tells the window."""
    provider = fake_provider(window=30_000, models=("claude-opus-4-6",))
    asked = {name: ASK[name] for name in ("model", "messages")} | {"system": "Be brief.", "tools": [BASH]}
    counted = client(provider).messages.count_tokens(**asked).input_tokens
    assert counted == client(provider).messages.create(**asked, max_tokens=9).usage.input_tokens > 20
    assert [model.max_input_tokens for model in client(provider).models.list()] == [30_000]
    assert client(provider).beta.models.retrieve("claude-opus-4-6").capabilities.context_management.supported
    with pytest.raises(anthropic.NotFoundError):
        client(provider).models.retrieve("claude-opus-3")
    assert [served.api for served in provider.served] == ["count_tokens", "messages", "models", "models", "models"]
