"""Sessions whose summaries are written by an asker: with the real SDKs, from the first request to after the summary."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from summaries import GOOD
from trimtab import Session
from trimtab.clients.anthropic import Compaction
from trimtab.clients.anthropic.ask import AnthropicAsker
from trimtab.clients.asking import CallableAsker
from trimtab.clients.openai import compacting, session_of
from trimtab.clients.openai.ask import OpenAIAsker
from trimtab.summary import SECTIONS
from trimtab.testing.material import rounds
from trimtab.testing.provider import Call, FakeProvider, Reply, Settings, Text
from trimtab.testing.provider.served import Served

pytest.importorskip("trimtab_auto_compact")

WINDOW = 30_000
MODELS = {"anthropic": "claude-opus-4-6", "openai": "gpt-5.4"}
TOOLS = [{"name": "Read", "description": "Reads a file.", "input_schema": {"type": "object"}}]


def is_question(body: Any) -> bool:
    """Whether a request asks for a summary."""
    return SECTIONS[0] in str(body["messages"][-1])


def script(call: Call) -> Any:
    """A summary to whom asks for one."""
    return GOOD if is_question(call.body) else "go on"


def profile(folder: Path, dialect: str, **ask: Any) -> Path:
    """One whose one stage is `auto-compact`."""
    path = folder / "profile.yaml"
    path.write_text(
        f"extends: minimal\nprovider: {{kind: {dialect}, model: {MODELS[dialect]}, window: {WINDOW}}}\n"
        f"ask: {ask}\nstages: [{{auto-compact: {{when: {{over: auto}}, keep: {{messages: 6}}}}}}]\n"
        "storage: {ledger: 'memory:', blobs: 'memory:'}\ncounter: estimate\n"
    )
    return path


def talk(dialect: str, length: int = 23) -> list[list[Any]]:
    """The messages of the later requests of an agent that outgrows the window."""
    messages = rounds(dialect, length, "A line of the file. " * 220)
    return [messages[:end] for end in range(33, len(messages) + 1, 2)]


def summed(served: list[Served]) -> tuple[list[Served], list[Served]]:
    """The questions, and all other requests."""
    asked = [one for one in served if is_question(one.body)]
    return asked, [one for one in served if one not in asked]


def test_R22_a_middleware_leaves_its_askers_client_alone(tmp_path: Path) -> None:
    """A client whose middleware asks through it: the question follows the request as it stood, read from the cache."""
    with FakeProvider(script, Settings(window=WINDOW)) as provider:
        asker = AnthropicAsker(anthropic.Anthropic(base_url=provider.url, api_key="any"))
        compaction = Compaction(profile(tmp_path, "anthropic"), ask=asker)
        client = asker.client = anthropic.Anthropic(
            base_url=provider.url, api_key="any", max_retries=0, middleware=[compaction]
        )
        for messages in talk("anthropic"):
            client.messages.create(model=MODELS["anthropic"], max_tokens=500, messages=messages, tools=TOOLS)  # type: ignore[arg-type]
        (question, *_), others = summed(provider.served)
        assert provider.refused == []
        before = provider.served[provider.served.index(question) - 1]
        assert question.usage is not None
        assert before.usage is not None
        size = sum(value for name, value in before.usage.items() if name.endswith("input_tokens"))
        assert question.usage["cache_read_input_tokens"] > 0.9 * size
        assert question.usage["cache_creation_input_tokens"] == 0
        assert compaction.last is not None
        saved = compaction.last.saved()
        assert saved.requests == len(others)
        assert any("The parser was read." in str(one.body) for one in others)


def test_R22_a_wrapped_openai_client(tmp_path: Path) -> None:
    """The same with a wrapped OpenAI client."""
    with FakeProvider(script, Settings(window=WINDOW)) as provider:
        plain = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="any", max_retries=0)
        asker = OpenAIAsker(plain)
        client = asker.client = compacting(plain, profile(tmp_path, "openai"), ask=asker)
        for messages in talk("openai"):
            client.chat.completions.create(model=MODELS["openai"], messages=messages)
        asked, others = summed(provider.served)
        assert provider.refused == []
        assert asked
        assert session_of(client).saved().requests == len(others)
        assert any("The parser was read." in str(one.body) for one in others)


def run(session: Session, client: anthropic.Anthropic, model: str) -> None:
    """An agent that asks a session by hand."""
    for messages in talk("anthropic"):
        request = session.prepare(messages, None, TOOLS, {"model": model, "max_tokens": 500})
        session.observe(client.messages.create(model=model, max_tokens=500, messages=request.messages, tools=TOOLS))  # type: ignore[arg-type]


def opened(path: Path, asker: Any) -> Session:
    """A session that is asked by hand."""
    return Session.open("s", path, ask=asker)


def test_a_named_cheaper_model(tmp_path: Path) -> None:
    """The profile's model is asked about a text; what that took counts as spent."""
    path = profile(tmp_path, "anthropic", model="claude-haiku-4-5", timeout=20)
    with FakeProvider(script, Settings(window=WINDOW)) as provider:
        client = anthropic.Anthropic(base_url=provider.url, api_key="any", max_retries=0)
        session = opened(path, AnthropicAsker(client))
        run(session, client, MODELS["anthropic"])
        asked, _ = summed(provider.served)
        assert {one.body["model"] for one in asked} == {"claude-haiku-4-5"}
        assert {len(one.body["messages"]) for one in asked} == {1}
        assert provider.refused == []
        spent = sum(one.billed.read + one.billed.written + one.billed.fresh + one.billed.output for one in asked)
        assert session.saved().asked_tokens == spent > 0


@pytest.mark.parametrize("how", ["cut off", "too long"])
def test_a_summariser_that_fails(tmp_path: Path, how: str) -> None:
    """One that is cut off, or whose own window is too small, replaces nothing: a rule writes the summary."""
    half = Reply([Text(GOOD[:-20])], stop="max_tokens")
    with (
        FakeProvider(lambda call: half if is_question(call.body) else "go on", Settings(window=WINDOW)) as provider,
        FakeProvider(script, Settings(window=300)) as small,
    ):
        client = anthropic.Anthropic(base_url=provider.url, api_key="any", max_retries=0)
        other = anthropic.Anthropic(base_url=small.url, api_key="any", max_retries=0)
        model = {"model": "claude-haiku-4-5"} if how == "too long" else {}
        session = opened(profile(tmp_path, "anthropic", **model), AnthropicAsker(other if model else client))
        run(session, client, MODELS["anthropic"])
        _, others = summed(provider.served)
        assert provider.refused == []
        assert not any("The parser was read." in str(one.body) for one in others)
        assert session.explain()
        if how == "too long":
            assert small.refused


def test_asynchronous(tmp_path: Path) -> None:
    """The same in an event loop, with an asynchronous client in the middle."""

    async def main(provider: FakeProvider) -> None:
        async with anthropic.AsyncAnthropic(base_url=provider.url, api_key="any", max_retries=0) as asked:
            compaction = Compaction(profile(tmp_path, "anthropic"), ask=AnthropicAsker(asked))
            async with anthropic.AsyncAnthropic(
                base_url=provider.url, api_key="any", max_retries=0, middleware=[compaction]
            ) as client:
                for messages in talk("anthropic"):
                    body: Any = {"model": MODELS["anthropic"], "max_tokens": 500, "messages": messages}
                    await client.messages.create(**body, tools=TOOLS)

    with FakeProvider(script, Settings(window=WINDOW)) as provider:
        asyncio.run(main(provider))
        asked, others = summed(provider.served)
        assert asked
        assert provider.refused == []
        assert any("The parser was read." in str(one.body) for one in others)


def test_any_callable(tmp_path: Path) -> None:
    """A callable that takes the prompt alone is asked about a text."""
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return GOOD

    session = opened(profile(tmp_path, "anthropic", model="mine"), CallableAsker(answer))
    requests = [session.prepare(messages) for messages in talk("anthropic", 45)]
    assert prompts
    assert all("<transcript>" in prompt for prompt in prompts)
    assert "The parser was read." in str(requests[-1].messages)
