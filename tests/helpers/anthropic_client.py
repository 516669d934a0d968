"""The Anthropic SDK with trimtab in it, on a provider of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stages import ClearOld, Do
from trimtab import Overflow, Replace, View
from trimtab.clients.anthropic import Compaction

__all__ = ["MODEL", "TOOL", "Cut", "compaction", "long_talk", "marked"]

MODEL = "claude-haiku-4-5"
TOOL = {"name": "read", "description": "Reads a file.", "input_schema": {"type": "object", "properties": {}}}

PROFILE = """
extends: minimal
provider: {{kind: anthropic, model: {model}, window: {window}, factor: 1.2, {provider}}}
counter: estimate
stages: [{stages}]
storage: {{ledger: "memory:", blobs: "memory:"}}
strict: {strict}
"""


class Cut(ClearOld):
    """Clears old results where the provider says that a request is too large, one after the other."""

    name = "cut"
    most = 5

    def propose(self, view: View) -> Any:
        """Nothing."""
        yield from ()

    def recover(self, view: View, overflow: Overflow) -> Iterator[Any]:
        """The oldest of the results that are shown."""
        left = [result for result in view.results[:-1] if not result.replaced]
        for result in left[: self.most]:
            yield Replace(result, "[cut]", "too large")


def compaction(
    folder: Path,
    *stages: str,
    window: int = 30_000,
    provider: str = "",
    strict: bool = False,
    **arguments: Any,
) -> Compaction:
    """A middleware with these stages (of `stages` and here), on stores of its own."""
    path = folder / "trimtab.yaml"
    said = {"model": MODEL, "window": window, "provider": provider, "stages": ", ".join(stages), "strict": strict}
    path.write_text(PROFILE.format(**said), encoding="utf-8")
    plugins = arguments.pop("plugins", (ClearOld, Cut, Do))
    return Compaction(path, plugins=plugins, background=None, **arguments)


def long_talk(results: int, words: int = 600, about: str = "Read them.") -> list[dict[str, Any]]:
    """A conversation in which so many files of so many words were read."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": about}]
    for n in range(results):
        call = {"type": "tool_use", "id": f"toolu_{n}", "name": "read", "input": {"path": f"file_{n}"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": f"word{n} " * words}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return messages


def marked(body: Any) -> bool:
    """Whether a part of a request carries a breakpoint."""
    if isinstance(body, dict):
        return "cache_control" in body or any(map(marked, body.values()))
    return isinstance(body, list) and any(map(marked, body))
