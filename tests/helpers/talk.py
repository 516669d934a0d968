"""A made-up agent conversation in Anthropic format that grows step by step, with everything the format allows."""

from __future__ import annotations

import random
from typing import Any

__all__ = ["Talk"]

WORDS = ["alpha", "src/app.py", "load_config", "错误在这里", "готово", "naïve", "👩‍👩‍👧", "line\nbreak", "0x7f", "TODO"]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Talk:
    """`messages` is what an agent would send next; `step` lets the assistant answer and the agent reply.

    ``flaws``: the share of replies that break the provider's rules, as agents do.
    """

    def __init__(self, rng: random.Random, name: str = "", flaws: float = 0.0) -> None:
        self.rng = rng
        self.flaws = flaws
        self.forked = False
        """Whether its history was changed."""
        self.serial = 0
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": f"go, {name}"}]}]

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
            return {**block, "content": [{"type": "text", "text": self.text(200)}, self.block()]}
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
        calls = [block["id"] for block in answer["content"] if block["type"] == "tool_use"]
        results = [self.result(call) for call in calls]
        if self.rng.random() < self.flaws:
            self.spoil(answer, results)
        if len(answer["content"]) > 1 and self.rng.random() < 0.05:  # as some agents keep it: one message per block
            self.messages.append({"role": "assistant", "content": answer["content"][:1]})
            answer = {"role": "assistant", "content": answer["content"][1:]}
        self.messages.append(answer)
        if not results:
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
        elif self.rng.random() < 0.03:
            self.messages.append({"role": "system", "content": self.text()})

    def spoil(self, answer: dict[str, Any], results: list[dict[str, Any]]) -> None:
        """Break a rule: lost, doubled, foreign or late results, blank text, half characters, half server calls."""
        match self.rng.randrange(7):
            case 0 if results:
                del results[self.rng.randrange(len(results)) :]
            case 1 if results:
                results.append({**results[0]})
            case 2:
                results.append(self.result("toolu_nowhere"))
            case 3:
                results.insert(0, self.block())
            case 4:
                results.append({"type": "text", "text": self.rng.choice(["", " \n", "half \ud83d"])})
            case 5:
                answer["content"].insert(0, {"type": "text", "text": self.rng.choice(["", "\n", "half \udc00"])})
            case _:
                call = {"type": "server_tool_use", "id": f"srv_{self.serial}", "name": "web_search", "input": {}}
                result = {"type": "web_search_tool_result", "tool_use_id": f"srv_{self.serial}", "content": []}
                # beside client calls a server call may wait for its result, so there its lack is no flaw yet
                answer["content"].append(result if results else self.rng.choice([call, result]))

    def rewind(self) -> None:
        """The user goes back to an earlier message."""
        self.forked = True
        if len(self.messages) > 4:
            del self.messages[self.rng.randrange(2, len(self.messages)) :]
            while self.messages[-1]["role"] == "assistant":
                self.messages.pop()

    def rewrite(self) -> None:
        """The agent changes an old message in place."""
        self.forked = True
        message = self.rng.choice([message for message in self.messages if message["role"] == "user"])
        message["content"] = [*(b for b in _list(message["content"]) if b["type"] == "tool_result"), self.block()]


def _list(content: Any) -> list[Any]:
    return [] if isinstance(content, str) else list(content)
