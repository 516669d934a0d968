"""The provider's own summaries in live sessions, with a server that checks what thinking is bound to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic_client import TOOL
from trimtab import Ask, AskFailed, Fold, Hook, Insert, Stage, hookimpl
from trimtab.clients.anthropic import AnthropicAsker, Compaction
from trimtab.testing.provider import Call, FakeProvider, Settings, Text, Think, Use

MODEL = "claude-opus-5-5"
PROFILE = """
extends: minimal
provider: {{kind: anthropic, model: {model}, window: 8000, compaction: true, drop_block: {drop}}}
counter: estimate
stages: [{{theirs: {{when: {{over: 0.5}}}}}}]
hooks: [files]
storage: {{ledger: "memory:", blobs: "memory:"}}
"""


class Theirs(Stage):
    """Has the provider summarise all but the last round."""

    name = "theirs"

    def propose(self, view: Any) -> Any:
        """The fold of it."""
        run = [item for item in view.messages if item.covers][:-2]
        try:
            answer = yield Ask("", run, native=True)
        except AskFailed:
            return
        yield Fold(run, str(answer), "summarised", block=answer.block)


class Files(Hook):
    """Puts something behind a summary."""

    name = "files"

    @hookimpl
    def session_start(self, session: Any, source: str, view: Any) -> Any:
        """A file."""
        if source == "compact":
            yield Insert("after_boundary", f"The file as it was at {view.answers}.")


def script(call: Call) -> Any:
    """A thought, and a call or, each third time, none."""
    if call.api == "compact":
        return Text("We read files.")
    thought = Think(f"What next after {call.number}?")
    return [thought, Use("read", {"path": str(call.number)}) if call.number % 3 else Text("Done so far.")]


@pytest.mark.parametrize("drop", ["true", "false"])
def test_inserts_behind_the_providers_summary(tmp_path: Path, drop: str) -> None:
    """What hooks put behind the provider's summary parts it from the thinking that follows: none is refused (R23)."""
    profile = tmp_path / "trimtab.yaml"
    profile.write_text(PROFILE.format(model=MODEL, drop=drop), encoding="utf-8")
    with (
        FakeProvider(script, Settings(window=8_000, prefix_check=True)) as provider,
        anthropic.Anthropic(base_url=provider.url, api_key="any") as plain,
    ):
        middle = Compaction(profile, ask=AnthropicAsker(plain), plugins=[Theirs, Files], background=None)
        client = plain.with_options(middleware=[middle])
        messages: list[Any] = [{"role": "user", "content": "Read them all."}]
        for n in range(40):
            answer: Any = client.messages.create(
                model=MODEL,
                max_tokens=500,
                messages=messages,
                tools=[TOOL],  # type: ignore[list-item]
                thinking={"type": "adaptive"},
            )
            messages += [{"role": "assistant", "content": answer.content}]
            call, said = answer.content[-1], f"line{n} of it " * 60
            result = (
                {"type": "tool_result", "tool_use_id": call.id, "content": said} if call.type == "tool_use" else None
            )
            messages += [{"role": "user", "content": [result] if result else said}]
        assert not provider.refused
        sent = str([one.body["messages"] for one in provider.served])
        assert "'compaction'" in sent
        assert "The file as it was" in sent
