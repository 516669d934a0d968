"""Long agents with the real SDKs on a small window: nothing is refused, and no thinking goes that could stay."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from agents import Coder, anthropic_agent, chat_agent, responses_agent
from trimtab import Profile, load
from trimtab.clients.anthropic import Compaction
from trimtab.clients.openai import compacting, session_of
from trimtab.testing.provider import FakeProvider, Served, Settings

WINDOW = 30_000
TURNS = 25
SAID = [f"Turn {n}: look at what I told you, and at the tests." for n in range(1, TURNS + 1)]
WAYS = {"drop_block": True, "strip": False}


def profile(folder: Path, **provider: Any) -> Profile:
    """The default one, with stores and a window of its own."""
    stores = {"ledger": f"sqlite:///{folder}/ledger.db", "blobs": f"file://{folder}/blobs"}
    facts = {"window": WINDOW, **provider}
    return load("default", overrides={"provider": facts, "storage": stores}, env={}, cwd=folder)


@contextlib.contextmanager
def claude(provider: FakeProvider, compaction: Compaction) -> Iterator[anthropic.Anthropic]:
    """A client with trimtab in it."""
    with anthropic.Anthropic(base_url=provider.url, api_key="any", middleware=[compaction]) as client:
        yield client


def played(folder: Path, *, check: bool = True, **facts: Any) -> tuple[list[Served], Any]:
    """What the provider saw of an agent that thinks, and its session."""
    compaction = Compaction(profile(folder, model="claude-opus-5-5", **facts), background=None)
    settings = Settings(window=WINDOW, prefix_check=check)
    with FakeProvider(Coder(thinks=True), settings) as provider, claude(provider, compaction) as client:
        anthropic_agent(client, SAID, thinking={"type": "adaptive"})
        return provider.served, compaction.last


@pytest.mark.parametrize("way", ["drop_block", pytest.param("strip", marks=pytest.mark.slow)])
def test_a_model_that_checks_the_prefix_refuses_nothing(way: str, tmp_path: Path) -> None:
    """Twenty-five turns of thinking and tools: all answered, and the window is what made trimtab edit."""
    served, session = played(tmp_path, drop_block=WAYS[way])
    assert [one.error for one in served if one.status != 200] == []
    assert session.saved().too_large > 20
    assert any(not row["free"] for row in session.explain())


def test_thinking_goes_only_with_what_it_is_bound_to(tmp_path: Path) -> None:
    """Removed by us, it stood behind something that changed in that very request; all before that is still there."""
    served, _ = played(tmp_path, drop_block=False)
    lost = 0
    for before, after in pairwise(served):
        said, now = before.body["messages"], after.body["messages"]
        same = 0
        while same < min(len(said), len(now)) and _plain(said[same]) == _plain(now[same]):
            assert _thoughts(said[same]) == _thoughts(now[same]), "thinking went before the first change"
            same += 1
        lost += sum(map(len, map(_thoughts, said))) > sum(map(len, map(_thoughts, now)))
    assert lost > 0, "nothing was put to the test"


@pytest.mark.slow
def test_the_provider_leaves_out_no_more_than_it_must(tmp_path: Path) -> None:
    """With ``drop_block`` we remove no thinking; what no longer fits the provider leaves out, and tells."""
    served, session = played(tmp_path, drop_block=True)
    removed = [row for row in session.explain() if row["kind"] == "drop" and "bound to" in row["why"]]
    assert removed == []
    transformed = [one for one in served if one.response and one.response.get("input_transformations")]
    assert transformed, "nothing was put to the test"
    assert all("thinking-binding-controls-2026-08-01" in one.headers["anthropic-beta"] for one in transformed)


@pytest.mark.slow
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_an_agent_with_openai(api: str, tmp_path: Path) -> None:
    """Twenty-five turns, all answered; what is left is read from the cache."""
    model = "gpt-6.1-sol"
    with FakeProvider(Coder(thinks=api == "responses"), Settings(window=WINDOW)) as provider:
        plain = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="any")
        with compacting(plain, profile(tmp_path, model=model), background=None) as client:
            (chat_agent if api == "chat" else responses_agent)(client, SAID, model=model)
            assert provider.refused == []
            assert provider.billed.hit_rate > 0.7
            assert session_of(client).saved().too_large > 10


@pytest.mark.slow
def test_saved_is_what_the_bills_say(tmp_path: Path) -> None:
    """What it says was sent is the provider's own bill; what it says of the unshortened run comes near that one's."""
    served, session = played(tmp_path, check=False)
    saved = session.saved()
    billed = sum(one.billed.read + one.billed.written + one.billed.fresh for one in served)
    assert saved.sent_tokens == billed
    with FakeProvider(Coder(thinks=True), Settings(window=1_000_000)) as provider:
        with anthropic.Anthropic(base_url=provider.url, api_key="any") as client:
            anthropic_agent(client, SAID, thinking={"type": "adaptive"}, cache_control={"type": "ephemeral"})
        whole = provider.billed.read + provider.billed.written + provider.billed.fresh
    assert saved.unshortened_tokens == pytest.approx(whole, rel=0.3)


def _plain(message: Mapping[str, Any]) -> list[Any]:
    """A message without thinking and cache markers."""
    return [{key: value for key, value in block.items() if key != "cache_control"} for block in _blocks(message)]


def _blocks(message: Mapping[str, Any]) -> list[Any]:
    content = message["content"]
    blocks: Sequence[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [block for block in blocks if block["type"] != "thinking"]


def _thoughts(message: Mapping[str, Any]) -> list[str]:
    content = message["content"]
    return [block["signature"] for block in content if block["type"] == "thinking"] if isinstance(content, list) else []
