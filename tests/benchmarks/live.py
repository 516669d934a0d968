"""An agent of 300 turns with each client, on a real socket: in a window of 30k tokens with trimtab, and without.

    python tests/benchmarks/live.py [TURNS]

The provider is trimtab's own, which keeps the vendors' rules and caches and bills as they do; it counts tokens by a
rule of its own. The agents (tests/helpers/agents.py) read and search the files of this repository. Without trimtab they
run in the same window, where they end with the provider's refusal, and in one of a million tokens. The Anthropic
provider checks what thinking is bound to; its agent asks for automatic caching where trimtab is not there, and runs
once with ``drop_block`` and once without, where trimtab strips. Dollars are input and output at the prices of the table
of models, which for the OpenAI model double above 272k tokens.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

import anthropic
import openai
from agents import AGENTS, Coder
from machine import heading
from trimtab import Saved, load
from trimtab.clients.anthropic import Compaction
from trimtab.clients.openai import compacting, session_of
from trimtab.provider import price_of
from trimtab.testing.provider import FakeProvider, Settings

TURNS = 300
WINDOW = 30_000
LARGE = 1_000_000
KINDS = {"Anthropic Messages": "anthropic", "OpenAI Chat Completions": "openai", "OpenAI Responses": "responses"}
MODELS = {"anthropic": "claude-opus-5-5", "openai": "gpt-6.1-sol", "responses": "gpt-6.1-sol"}


@dataclass(frozen=True)
class Row:
    """What one agent did and cost."""

    name: str
    turns: int
    requests: int
    refused: int
    hit_rate: float
    million: float
    """Million tokens of input."""
    dollars: float
    seconds: float
    saved: Saved | None


def played(name: str, turns: int, window: int, *, trimmed: bool, **facts: Any) -> Row:
    """One agent from its first turn to its last, or to its end."""
    kind, coder = KINDS[name], Coder(thinks=KINDS[name] != "openai")
    said = [f"Turn {n}: look at what I told you, and at the tests." for n in range(1, turns + 1)]
    model = MODELS[kind]
    price = price_of(model)
    assert price is not None
    settings = Settings(window=window, minimum=512 if kind == "anthropic" else 1_024, prefix_check=kind == "anthropic")
    with FakeProvider(coder, settings) as provider, tempfile.TemporaryDirectory() as folder:
        agent, saved, begun = AGENTS[name], None, time.perf_counter()
        client, session, more = _client(
            provider.url, {"kind": kind, "model": model, "window": window, **facts}, folder if trimmed else ""
        )
        try:
            agent(client, said, model=model, **more)
        except (anthropic.BadRequestError, openai.BadRequestError):
            coder.turn -= 1
        seconds = time.perf_counter() - begun
        saved = session().saved() if trimmed else None
        billed = provider.billed
        refused = sum(one.status in (400, 413) for one in provider.served)
        tokens = billed.read + billed.written + billed.fresh
        return Row(
            f"{name}, {'trimtab' if trimmed else 'alone'}{' (strips)' if facts else ''}, {window // 1000}k",
            coder.turn,
            len(provider.served),
            refused,
            billed.hit_rate,
            tokens / 1e6,
            sum(
                price.cost(read=one.billed.read, write=one.billed.written, fresh=one.billed.fresh)
                + price.output * one.billed.output / 1e6
                for one in provider.served
            ),
            seconds,
            saved,
        )


def _client(url: str, facts: dict[str, Any], folder: str) -> tuple[Any, Callable[[], Any], dict[str, Any]]:
    """A client with or without trimtab, what gives its session, and further arguments of its requests."""
    profile: Any = None
    if folder:
        stores = {"ledger": f"sqlite:///{folder}/ledger.db", "blobs": f"file://{folder}/blobs"}
        profile = load("default", overrides={"provider": facts, "storage": stores}, env={}, cwd=folder)
    if facts["kind"] == "anthropic":
        middleware = Compaction(profile, background=None) if folder else None
        client: Any = anthropic.Anthropic(base_url=url, api_key="any", middleware=[middleware] if middleware else [])
        more = {"thinking": {"type": "adaptive"}}
        return client, lambda: middleware.last, more if folder else {**more, "cache_control": {"type": "ephemeral"}}
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="any")
    if folder:
        client = compacting(client, profile, background=None)
    return client, lambda: session_of(client), {}


def rows(turns: int) -> Iterator[Row]:
    """Each client three times."""
    for name in AGENTS:
        yield played(name, turns, WINDOW, trimmed=True)
        if KINDS[name] == "anthropic":
            yield played(name, turns, WINDOW, trimmed=True, drop_block=False)
        yield played(name, turns, WINDOW, trimmed=False)
        yield played(name, turns, LARGE, trimmed=False)


def main() -> None:
    """Print the table."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    print(heading("anthropic", "openai", "starlette", "uvicorn"))
    print("\n| agent | turns done | requests | 400 or 413 | hit rate | input, M tokens | dollars | s | saved() |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|---|")
    for row in rows(turns):
        saved = f"{row.saved.tokens / 1e6:.1f} M, ${row.saved.dollars:.2f}" if row.saved else ""
        figures = f"{row.hit_rate:.1%} | {row.million:.2f} | {row.dollars:.2f} | {row.seconds:.0f} | {saved}"
        print(f"| {row.name} | {row.turns} | {row.requests} | {row.refused} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
