"""The fake provider refuses what the vendor refuses, in the vendor's words, and nothing else."""

import anthropic
import pytest
from provider_client import client
from trimtab.testing.provider import FakeProvider

pytest_plugins = ["trimtab.testing.provider.fixture"]

TOOLS = [{"name": "bash", "input_schema": {"type": "object"}}, {"type": "web_search_20250305", "name": "web_search"}]


@pytest.fixture(scope="module")
def provider():
    """One provider for all rules."""
    with FakeProvider() as provider:
        yield provider


def text(said: str = "hi", **more) -> dict:
    """A text block."""
    return {"type": "text", "text": said, **more}


def call(id: str = "c1", name: str = "bash", **more) -> dict:
    """A call of the client's tool."""
    return {"type": "tool_use", "id": id, "name": name, "input": {}, **more}


def result(id: str = "c1", **more) -> dict:
    """Its result."""
    return {"type": "tool_result", "tool_use_id": id, "content": "out", **more}


def searching(id: str = "s1") -> dict:
    """A call of a server tool."""
    return {"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "x"}}


def found(id: str = "s1") -> dict:
    """Its result."""
    return {"type": "web_search_tool_result", "tool_use_id": id, "content": []}


def user(*blocks) -> dict:
    """A message of the user."""
    return {"role": "user", "content": list(blocks) or "hi"}


def model(*blocks) -> dict:
    """An answer."""
    return {"role": "assistant", "content": list(blocks) or "hello"}


def system(said: str = "note") -> dict:
    """A system message."""
    return {"role": "system", "content": said}


def send(provider, messages, **more):
    """One request with both tools."""
    asked = {"model": "claude-opus-5", "max_tokens": 100, "tools": TOOLS, **more}
    return client(provider).messages.create(messages=messages, **asked)


FINE = {
    "two user messages": [user(), user()],
    "two answers": [user(), model(call()), model(), user(result())],
    "an answer first": [model(), user()],
    "a call": [user(), model(call()), user(result())],
    "calls in parallel": [user(), model(text(), call(), call("c2")), user(result("c2"), result(), text())],
    "results in two messages": [user(), model(call(), call("c2")), user(result()), user(result("c2")), user()],
    "a result without content": [user(), model(call()), user({"type": "tool_result", "tool_use_id": "c1"})],
    "an empty result": [user(), model(call()), user(result(content=[]))],
    "one id twice": [user(), model(call()), user(result()), model(call()), user(result())],
    "null citations of a text": [user(text(citations=None))],
    "a system message at the end": [user(), system()],
    "system messages before an answer": [user(), system(), system(), model(), user()],
    "a system message behind a server's result": [user(), model(searching(), found()), system(), model(), user()],
    "a server tool": [user(), model(searching(), found(), text()), user()],
    "a waiting server tool": [user(), model(searching())],
    "a waiting server tool and a call": [user(), model(searching(), call()), user(result())],
}


@pytest.mark.parametrize("messages", FINE.values(), ids=FINE)
def test_good_messages_are_answered(provider, messages):
    """What the vendor takes is taken, with and without beta."""
    send(provider, messages)
    client(provider).beta.messages.create(model="m", max_tokens=9, tools=TOOLS, messages=messages)


BAD = {
    "A1 no result": ([user(), model(call()), user()], "messages.1: `tool_use` ids were found without `tool_result`"),
    "A1 at the end": ([user(), model(call())], "`tool_use` ids were found without `tool_result` blocks immediately"),
    "A1 one of two": ([user(), model(call(), call("c2")), user(result())], "immediately after: c2"),
    "A2 no call": (
        [user(result())],
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: c1",
    ),
    "A2 an older call": (
        [user(), model(call()), user(result()), model(), user(result())],
        "unexpected `tool_use_id` found in `tool_result` blocks",
    ),
    "A2 twice": ([user(), model(call()), user(result(), result())], "must have a single result"),
    "A3 text first": ([user(), model(call()), user(text(), result())], "must come first"),
    "A3 text in the message before": ([user(), model(call()), user(), user(result())], "must come first"),
    "A7 empty": ([user(text(""))], "text content blocks must be non-empty"),
    "A7 blank": ([user(text(" \n"))], "must contain non-whitespace text"),
    "A7 a blank string": ([{"role": "user", "content": "  "}], "must contain non-whitespace text"),
    "A7 no content": ([{"role": "user", "content": []}], "must have non-empty content"),
    "A8 prefill": ([user(), model()], "does not support assistant message prefill"),
    "A9 a result alone": ([user(), model(found(), text()), user()], "found in `web_search_tool_result` blocks"),
    "A9 a call alone": ([user(), model(searching(), text()), user()], "without a corresponding result"),
    "A10 text while it waits": ([user(), model(searching(), call()), user(result(), text())], "only tool results"),
    "A11 an unknown tool": ([user(), model(call(name="gone")), user(result())], "`gone` was called but is not in"),
    "A11 a waiting server tool": ([user(), model({**searching(), "name": "gone"})], "`gone` was called but is not in"),
    "system first": ([system(), user()], "cannot be first"),
    "system behind an answer": ([user(), model(), system(), user()], "must follow a user message"),
    "system before the user": ([user(), system(), user()], "must precede an assistant message"),
    "system between call and result": ([user(), model(call()), system(), user(result())], None),
    "a role": ([{"role": "tool", "content": "x"}], "messages.0.role: Input should be"),
    "no messages": ([], "at least one message is required"),
    "a field of a message": ([{"role": "user", "content": "x", "id": "1"}], "messages.0.id: Extra inputs are not"),
    "a field of a block": ([user(text(id="1"))], "messages.0.content.0.text.id: Extra inputs are not permitted"),
    "a null field": ([user(), model(call(text=None)), user(result())], "tool_use.text: Extra inputs are not permitted"),
    "a field of a part": ([user(), model(call()), user(result(content=[text(x=1)]))], "Extra inputs are not permitted"),
    "a type": ([user({"type": "fold", "text": "x"})], "Input tag 'fold' found using 'type' does not match"),
    "a type of the other role": ([user(call())], "does not match any of the expected tags"),
    "no cache_edits": ([user({"type": "cache_edits", "edits": []}, text())], "Input tag 'cache_edits' found"),
    "no cache_reference": (
        [user(), model(call()), user(result(cache_reference="c1"))],
        "tool_result.cache_reference: Extra inputs are not permitted",
    ),
}


@pytest.mark.parametrize(("messages", "complaint"), BAD.values(), ids=BAD)
def test_bad_messages_are_refused_in_the_vendors_words(provider, messages, complaint):
    """Each rule has its 400; token counting refuses the same."""
    with pytest.raises(anthropic.BadRequestError) as caught:
        send(provider, messages)
    assert complaint is None or complaint in caught.value.body["error"]["message"]
    with pytest.raises(anthropic.BadRequestError):
        client(provider).messages.count_tokens(model="claude-opus-5", messages=messages, tools=TOOLS)


REQUESTS = {
    "unknown field": ({"trimtab": 1}, "trimtab: Extra inputs are not permitted"),
    "beta field": ({"context_management": {"edits": []}}, "context_management: Extra inputs are not permitted"),
    "empty system": ({"system": [text("")]}, "system: text content blocks must be non-empty"),
    "field of system": ({"system": [text(id=1)]}, "system.0.id: Extra inputs are not permitted"),
}


@pytest.mark.parametrize(("fields", "complaint"), REQUESTS.values(), ids=REQUESTS)
def test_fields_of_the_request_are_known(provider, fields, complaint):
    """Without a beta header beta fields are unknown."""
    with pytest.raises(anthropic.BadRequestError, match=complaint):
        send(provider, [user()], extra_body=fields)


def test_a_called_tool_needs_tools(provider):
    """History with calls and no tools at all."""
    with pytest.raises(anthropic.BadRequestError, match="must define tools"):
        send(provider, [user(), model(call()), user(result())], tools=[])


def test_unsettled_rules_are_switches(fake_provider):
    """Strict settings refuse what the lenient default takes; prefill can be allowed."""
    with pytest.raises(anthropic.BadRequestError, match='must use the "user" role'):
        send(fake_provider(strict_first=True), FINE["an answer first"])
    with pytest.raises(anthropic.BadRequestError, match="ids must be unique"):
        send(fake_provider(strict_ids=True), FINE["one id twice"])
    older = fake_provider(prefill=True)
    send(older, [user(), model(text("{"))])
    with pytest.raises(anthropic.BadRequestError, match="cannot end with trailing whitespace"):
        send(older, [user(), model(text("{ "))])


def test_a_thread_that_continues_has_only_new_messages(provider):
    """Results whose calls the server keeps are no orphans."""
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    client(provider).beta.messages.create(
        model="m", max_tokens=9, messages=[user(result())], thread=thread, betas=["message-threads-2026-08-12"]
    )
