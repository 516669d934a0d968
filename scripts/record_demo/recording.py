"""A session file in the layout of Claude Code: one JSON line per content block, on a seeded clock.

Nothing here is measured at a provider. Token figures are the estimate counter's times 1.2 (the factor that the
meter starts from), and what the prompt cache would have held is simulated with a time to live of five minutes.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trimtab.parts import part

__all__ = ["Recording"]

FACTOR = 1.2
"""Tokens of the pretended model for one token of the estimate counter."""

HEAD = 14_000
"""Tokens of system prompt and tool definitions, which such files do not hold; a usual size."""

FRESH = 4
"""Tokens of each request behind its last cache marker; recorded sessions show 3 to 15."""

TTL = 300.0
"""Seconds that the simulated cache keeps a prefix after its last use."""

SESSION = "demo"

MODEL = "scripted"
"""No model is called; every assistant text is written in `story`."""


class Recording:
    """The lines of one session. ``start``: epoch seconds of the first; ``root``: the folder they tell."""

    def __init__(self, seed: int, start: float, root: str) -> None:
        self.random = random.Random(seed)
        self.now = start
        self.lines: list[dict[str, Any]] = []
        self._count = part("counter", "estimate")()
        self._root = root
        self._tokens = 0.0
        self._sent = 0.0
        self._kept = 0.0

    def wait(self, least: float, most: float) -> None:
        """Let between ``least`` and ``most`` seconds pass."""
        self.now += self.random.uniform(least, most)

    def user(self, text: str) -> None:
        """Write what the person types."""
        self._line("user", {"role": "user", "content": text})
        self._tokens += self._weigh(text)

    def assistant(self, text: str, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
        """Write one response, a line per block, with the computed usage; returns the calls' ids."""
        ids = [self._id("toolu_") for _ in calls]
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        blocks += [
            {"type": "tool_use", "id": id, "name": name, "input": dict(input)}
            for id, (name, input) in zip(ids, calls, strict=True)
        ]
        message, usage = self._id("msg_"), self._request()
        output = sum(self._weigh(json.dumps(block, ensure_ascii=False)) for block in blocks)
        for block in blocks:
            self.wait(1, 3)
            self.now += self._weigh(json.dumps(block)) / 60  # a usual speed: 60 tokens a second
            last = block is blocks[-1]
            self._line(
                "assistant",
                {
                    "id": message,
                    "type": "message",
                    "role": "assistant",
                    "model": MODEL,
                    "content": [block],
                    "stop_reason": ("tool_use" if calls else "end_turn") if last else None,
                    "usage": {**usage, "output_tokens": round(output) if last else 1},
                },
            )
        self._tokens += output
        return ids

    def result(self, id: str, text: str, error: bool) -> None:
        """Write the result of the call ``id``."""
        block = {"type": "tool_result", "tool_use_id": id, "content": text}
        self._line("user", {"role": "user", "content": [{**block, "is_error": True} if error else block]})
        self._tokens += self._weigh(text)

    def write(self, path: Path) -> None:
        """Write the file."""
        lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in self.lines]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _request(self) -> dict[str, int]:
        total = HEAD + self._tokens
        read = self._kept if self.now - self._sent < TTL else 0.0
        self._sent, self._kept = self.now, total - FRESH
        return {
            "input_tokens": FRESH,
            "cache_creation_input_tokens": round(total - FRESH) - round(read),
            "cache_read_input_tokens": round(read),
        }

    def _line(self, kind: str, message: dict[str, Any]) -> None:
        at = datetime.fromtimestamp(self.now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.lines.append(
            {
                "type": kind,
                "uuid": self._uuid(),
                "parentUuid": self.lines[-1]["uuid"] if self.lines else None,
                "sessionId": SESSION,
                "timestamp": at,
                "version": "2.1.37",  # the build whose layout this is
                "cwd": self._root,
                "isSidechain": False,
                "message": message,
            }
        )

    def _weigh(self, text: str) -> float:
        return float(FACTOR * self._count(text))

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def _id(self, prefix: str) -> str:
        return prefix + f"{self.random.getrandbits(64):016x}"
