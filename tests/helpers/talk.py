"""A made-up agent conversation in Anthropic format that grows step by step, with everything the format allows."""

from __future__ import annotations

import random
from typing import Any

WORDS = ["alpha", "src/app.py", "load_config", "错误在这里", "готово", "naïve", "👩‍👩‍👧", "line\nbreak", "0x7f", "TODO"]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Talk:
    """`messages` is what an agent would send next; `step` lets the assistant answer and the agent reply."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.serial = 0
        self.messages: list[dict[str, Any]] = [self.user()]

    def text(self, most: int = 30) -> str:
        return " ".join(self.rng.choice(WORDS) for _ in range(self.rng.randint(1, most)))

    def block(self) -> dict[str, Any]:
        return {"type": "text", "text": self.text()}

    def image(self) -> dict[str, Any]:
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}

    def user(self) -> dict[str, Any]:
        kind = self.rng.randrange(6)
        if kind == 0:
            return {"role": "user", "content": self.text()}
        if kind == 1:
            return {"role": "user", "content": [self.image(), self.block()]}
        return {"role": "user", "content": [self.block() for _ in range(self.rng.randint(1, 2))]}

    def result(self, call: str) -> dict[str, Any]:
        kind = self.rng.randrange(8)
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call}
        if kind == 0:
            return block
        if kind == 1:
            return {**block, "content": ""}
        if kind == 2:
            return {**block, "content": [{"type": "text", "text": self.text(200)}, self.image()]}
        if kind == 3:
            return {**block, "content": self.text(), "is_error": True}
        if kind == 4:
            return {**block, "content": [{"type": "text", "text": self.text(200)}]}
        return {**block, "content": self.text(400)}

    def answer(self) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        self.serial += 1
        if self.rng.random() < 0.4:
            content.append({"type": "thinking", "thinking": self.text(), "signature": f"sig{self.serial}"})
            if self.rng.random() < 0.2:
                content.append({"type": "redacted_thinking", "data": f"data{self.serial}"})
        if self.rng.random() < 0.6:
            content.append(self.block())
        if self.rng.random() < 0.1:
            id = f"srvtoolu_{self.serial}"
            content.append({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "x"}})
            content.append({"type": "web_search_tool_result", "tool_use_id": id, "content": []})
        calls = self.rng.choice([0, 1, 1, 1, 2, 4])
        for n in range(calls):
            arguments = {"file_path": f"/f{self.rng.randrange(5)}"}
            content.append({"type": "tool_use", "id": f"toolu_{self.serial}_{n}", "name": "Read", "input": arguments})
        if not calls and not any(block["type"] == "text" for block in content):
            content.append(self.block())
        return {"role": "assistant", "content": content}

    def step(self) -> None:
        answer = self.answer()
        self.messages.append(answer)
        calls = [block["id"] for block in answer["content"] if block["type"] == "tool_use"]
        results = [self.result(call) for call in calls]
        if not calls:
            self.messages.append(self.user())
        elif self.rng.random() < 0.15:
            self.messages.append({"role": "user", "content": [*results, self.block()]})
        elif len(results) > 1 and self.rng.random() < 0.3:
            self.messages.append({"role": "user", "content": results[:1]})
            self.messages.append({"role": "user", "content": results[1:]})
        else:
            self.messages.append({"role": "user", "content": results})
        if self.rng.random() < 0.1:
            self.messages.append(self.user())
