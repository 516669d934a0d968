"""Questions that follow the session's request: what they read from the provider's cache, and what they leave alone."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from trimtab.ask import Ask
from trimtab.clients.anthropic.ask import AnthropicAsker
from trimtab.clients.anthropic.breakpoints import with_breakpoints
from trimtab.clients.anthropic.fork import forked, native
from trimtab.errors import AskFailed
from trimtab.report import Report
from trimtab.request import Request
from trimtab.testing.provider import FakeProvider, Reply, Text

MODEL = "claude-opus-4-6"
TOOLS = [{"name": "look", "description": "Look.", "input_schema": {"type": "object"}}]
LONG = "All work and no play makes Jack a dull boy. " * 400
EPHEMERAL = {"type": "ephemeral"}


def conversation(rounds: int) -> list[Any]:
    """A user's words and some rounds with long results."""
    messages: list[Any] = [{"role": "user", "content": LONG}]
    for n in range(rounds):
        call = {"type": "tool_use", "id": f"t{n}", "name": "look", "input": {}}
        messages.append({"role": "assistant", "content": [call]})
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": LONG}
        messages.append({"role": "user", "content": [result]})
    return messages


def made(messages: list[Any], *, out: bool = False, **parameters: Any) -> Request:
    """A request of a session; ``out``: it was sent."""
    said = {"model": MODEL, "max_tokens": 1_000, **parameters}
    return Request(messages, "Be brief.", TOOLS, report=Report(keys=["x"] if out else ()), parameters=said)


@pytest.fixture
def script() -> list[Any]:
    """What the provider answers, in order."""
    return []


@pytest.fixture
def provider(script: list[Any]) -> Iterator[FakeProvider]:
    """A provider that answers from ``script``, then echoes."""
    with FakeProvider(lambda _: script.pop(0) if script else "go on") as one:
        yield one


@pytest.fixture
def client(provider: FakeProvider) -> Iterator[anthropic.Anthropic]:
    """A client of it."""
    with anthropic.Anthropic(base_url=provider.url, api_key="any", max_retries=0) as one:
        yield one


def send(client: anthropic.Anthropic, request: Request) -> None:
    """The session's own request, with the breakpoints that the middleware sets."""
    body = {**request.parameters, "messages": request.messages, "system": request.system, "tools": request.tools}
    if "cache_control" not in body:
        body = with_breakpoints(body, ttl=300.0, ends=[len(request.messages)])
    client.messages.create(**body)


def size(usage: Any) -> int:
    """Tokens of a request."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(int(usage[name]) for name in names)


@pytest.mark.parametrize("automatic", [False, True])
@pytest.mark.parametrize("out", [False, True])
def test_the_prefix_is_read(
    provider: FakeProvider, client: anthropic.Anthropic, script: list[Any], out: bool, automatic: bool
) -> None:
    """All that the last request stored is read, nothing is written, and the next request still reads its own."""
    given = {"cache_control": EPHEMERAL} if automatic else {}
    first = made(conversation(3), out=True, **given)
    grown = made(conversation(4), **given)
    send(client, first)
    script.append("a summary")
    asked = first if out else grown
    before = copy.deepcopy(asked.messages)
    answer = AnthropicAsker(client)(Ask("Summarise.", shared=True, request=asked))
    send(client, grown)
    main, fork, later = (served.usage for served in provider.served)
    assert answer == "a summary"
    assert fork["cache_read_input_tokens"] > 0.9 * size(main)
    assert fork["cache_creation_input_tokens"] == 0
    assert later["cache_read_input_tokens"] > 0.9 * size(main)
    assert asked.messages == before
    assert (answer.usage.read, answer.usage.written) == (fork["cache_read_input_tokens"], 0)


def test_only_the_question_is_added(provider: FakeProvider, client: anthropic.Anthropic) -> None:
    """Model, tools, system text, thinking, effort and tool choice are the request's, whatever the asker's model."""
    given = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}, "tool_choice": {"type": "auto"}}
    request = made(conversation(1), **given, stop_sequences=["x"], service_tier="auto")
    AnthropicAsker(client, "claude-haiku-4-5")(Ask("Summarise.", shared=True, request=request))
    body = provider.served[0].body
    assert body["messages"][-1] == {"role": "user", "content": "Summarise."}
    assert body["messages"][1:-1] == request.messages[1:]
    assert (body["model"], body["tools"], body["system"]) == (MODEL, TOOLS, "Be brief.")
    assert body | given == body
    assert body["service_tier"] == "auto"
    assert "stop_sequences" not in body


def test_H47_the_answer_has_room(provider: FakeProvider, client: anthropic.Anthropic) -> None:
    """A request with little room for its answer leaves a summary enough; one to an unknown model keeps its limit."""
    AnthropicAsker(client)(Ask("Summarise.", shared=True, request=made(conversation(1))))
    AnthropicAsker(client)(Ask("Summarise.", shared=True, request=made(conversation(1), model="unknown")))
    assert [served.body["max_tokens"] for served in provider.served] == [16_000, 1_000]


def test_breakpoints_of_the_callers_own() -> None:
    """They stay, and none is added; a caller who sets none and tells no parameters does not cache."""
    messages = conversation(1)
    messages[0] = {"role": "user", "content": [{"type": "text", "text": LONG, "cache_control": EPHEMERAL}]}
    assert forked(made(messages), "Why?")["messages"][:-1] == messages
    plain = Request(conversation(1), None, None)
    assert forked(plain, "Why?")["messages"][:-1] == plain.messages


def test_system_text_at_the_end() -> None:
    """No user message may follow system text within the messages: the question stands before it."""
    messages = [*conversation(1), {"role": "system", "content": "Hurry."}]
    body = forked(made(messages), "Why?")
    assert [message["role"] for message in body["messages"]][-3:] == ["user", "user", "system"]


def test_betas_and_what_the_sdk_does_not_know(provider: FakeProvider, client: anthropic.Anthropic) -> None:
    """Headers and parameters of the session's features and of the caller go along."""
    request = made(conversation(1), betas=["some-beta-2026-01-01"], metadata={"user_id": "u"})
    request.extra = {"betas": ["context-management-2025-06-27"], "context_management": {"edits": []}}
    AnthropicAsker(client)(Ask("Summarise.", shared=True, request=request))
    served = provider.served[0]
    assert served.headers["anthropic-beta"] == "some-beta-2026-01-01,context-management-2025-06-27"
    assert served.body["context_management"] == {"edits": []}
    assert served.body["metadata"] == {"user_id": "u"}


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "look"}])
def test_a_forced_call(choice: dict[str, str]) -> None:
    """A request that forces a call has no text to give, and lifting that would lose the cache: a stage asks anew."""
    with pytest.raises(AskFailed, match="forces a call") as caught:
        forked(made(conversation(1), tool_choice=choice), "Why?")
    assert caught.value.overflow is not None
    assert "tool_choice" not in native(made(conversation(1), tool_choice=choice), "")


def test_a_forced_form() -> None:
    """The same where it forces the form of its answer; an effort beside it forces none."""
    form = {"format": {"type": "json_schema", "schema": {}}, "effort": "low"}
    with pytest.raises(AskFailed, match="forces the form") as caught:
        forked(made(conversation(1), output_config=form), "Why?")
    assert caught.value.overflow is not None
    del form["format"]
    assert forked(made(conversation(1), output_config=form), "Why?")["output_config"] == {"effort": "low"}


def test_the_providers_own_summary(provider: FakeProvider, client: anthropic.Anthropic, script: list[Any]) -> None:
    """The block comes back as it can be sent again, and all that was billed is told."""
    given = {
        "stop_sequences": ["x"],
        "context_management": {"edits": []},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {}}},
        "betas": ["context-management-2025-06-27"],
    }
    script.append("a summary")
    request = made(conversation(2), **given)
    answer = AnthropicAsker(client)(Ask("Mind the names.", native=True, request=request))
    served = provider.served[0]
    assert served.body["compaction"] == {"type": "summarize", "instructions": "Mind the names."}
    assert served.body["output_config"] == {"effort": "low"}
    assert not {"stop_sequences", "context_management"} & served.body.keys()
    assert "compact-2026-09-04" in served.headers["anthropic-beta"]
    assert answer.block["type"] == "compaction"
    assert answer.block["content"] == answer
    assert None not in answer.block.values()
    assert answer.usage.total > 0
    back = [{"role": "assistant", "content": [answer.block]}, {"role": "user", "content": "Go on."}]
    client.beta.messages.create(model=MODEL, max_tokens=10, messages=back, betas=["compact-2026-09-04"])  # type: ignore[arg-type]
    assert not provider.refused


@pytest.mark.parametrize("stop", ["end_turn", "max_tokens", "refusal"])
def test_H75_no_summary_of_the_providers_own(client: anthropic.Anthropic, script: list[Any], stop: str) -> None:
    """An answer without a summary is a failure, whatever its words."""
    script.append(Reply([Text("half of")], stop=stop))
    with pytest.raises(AskFailed, match=f"stop_reason {stop}"):
        AnthropicAsker(client)(Ask("", native=True, request=made(conversation(2))))


def test_instructions_that_are_too_long() -> None:
    """The provider takes so many characters and no more."""
    with pytest.raises(AskFailed, match="the provider takes 16,384"):
        native(made(conversation(1)), "x" * 16_385)
