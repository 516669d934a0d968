"""A made-up agent conversation that grows step by step, with everything that its format allows.

All chances are whole numbers of one `random.Random`, and 0 is always the simplest: driven by hypothesis
(`trimtab.testing.strategies`) the same code gives conversations that shrink.
"""

from __future__ import annotations

import random
from typing import Any

from trimtab.testing.wires import IMAGE, WIRES, Answer, Call, Exchange, Result

__all__ = ["Talk"]

WORDS = [
    "alpha",
    "def load_config(path: str) -> Config:",
    "错误在这里",
    "src/app.py:12: error: готово",
    "naïve — 👩‍👩‍👧",
    "0x7f TODO",
    "\tline\n\n",
    "</tool_result>",
]
HALF = "half \ud83d"
"""A lone surrogate, as tools cut their output."""

TOOLS = [
    ("Read", "file_path", "/src/f{}.py"),
    ("Bash", "command", "make test{}"),
    ("Grep", "pattern", "load_config{}"),
    ("Edit", "file_path", "/src/f{}.py"),
    ("WebFetch", "url", "https://example.org/{}"),
    ("mcp__wiki__lookup", "title", "page {}"),
]
LENGTHS = (3, 30, 120, 400)
HUGE = 4_000
"""Words of a text."""


class Talk:
    """`messages` is what an agent would send next; `step` lets the assistant answer and the agent reply.

    ``flaws``: the share of exchanges that break the provider's rules, as agents do.
    """

    def __init__(self, rng: random.Random, name: str = "", flaws: float = 0.0, dialect: str = "anthropic") -> None:
        self.rng = rng
        self.flaws = flaws
        self.wire = WIRES[dialect]
        self.forked = False
        """Whether its history was changed."""
        self.serial = 0
        self.messages: list[dict[str, Any]] = []
        if self.wire.system is None:
            self.messages.append(self.wire.said("system", [f"be good, {name}"]))
        self.messages.append(self.wire.said("user", [f"go, {name}"]))

    def odds(self, percent: float) -> bool:
        """True in that many of a hundred cases."""
        return self.rng.randrange(100) >= 100 - percent

    def text(self, most: int = 30) -> str:
        """Up to ``most`` words."""
        count, first, serial = self.rng.randint(1, most), self.rng.randrange(len(WORDS)), self.serial
        words = [WORDS[(first + n) % len(WORDS)] if n % 3 else f"{serial}.{n}" for n in range(1, count + 1)]
        return " ".join(words) + (HALF if self.odds(1) else "")

    def user(self) -> list[Any]:
        """The parts of what a user says."""
        kind = self.rng.randrange(6)
        return [self.text()] if kind < 4 else [self.text(), self.text()] if kind == 4 else [IMAGE, self.text()]

    def result(self, call: str) -> Result:
        """A result: mostly text, now and then empty, an error, with a picture, or huge."""
        kind = self.rng.randrange(16)
        if kind < 9:
            return Result(call, [self.text(LENGTHS[kind % 4])])
        if kind < 15:
            texts: list[list[Any] | None] = [
                [self.text(200), IMAGE],
                [self.text()],
                [""],
                None,
                [self.text(200), self.text()],
                [IMAGE],
            ]
            return Result(call, texts[kind - 9], error=kind == 10)
        return Result(call, [self.text(HUGE)] if self.odds(25) else [self.text(LENGTHS[-1])])

    def answer(self) -> Answer:
        """An answer that says or calls something."""
        self.serial += 1
        answer = Answer(self.serial, split=self.odds(5))
        if self.odds(40):
            answer.thinking, answer.redacted = self.text(), self.odds(20)
        answer.searches = self.odds(10)
        for n in range((1, 0, 1, 2, 4)[self.rng.randrange(5)]):
            name, key, value = TOOLS[self.rng.randrange(len(TOOLS))]
            answer.calls.append(Call(f"call_{self.serial}_{n}", name, {key: value.format(self.rng.randrange(4))}))
        if self.odds(60) or not answer.calls:
            answer.text = self.text()
        return answer

    def exchange(self) -> Exchange:
        """An answer, the results of its calls, and what is said next; an interrupt leaves calls without results."""
        answer = self.answer()
        results = [self.result(call.id) for call in answer.calls]
        said: list[tuple[str, Any]] = []
        if results and self.odds(4):
            del results[self.rng.randrange(len(results)) :]
            said.append(("with", ["[interrupted by the user]"]))
        elif not results:
            said.append(("user", self.user()))
        elif self.odds(15):
            said.append(("with", [self.text()]))
        if self.odds(10):
            said.append(("user", self.user()))
        elif self.odds(4):
            said.append(("system", [self.text()]))
        flaw = self.rng.randrange(84) if self.odds(100 * self.flaws) else None
        return Exchange(answer, results, said, apart=self.odds(30), flaw=flaw)

    def step(self) -> None:
        """One exchange."""
        news = self.wire.exchange(self.exchange())
        roles = [self.wire.role(message) for message in news]
        at = next((n for n, role in enumerate(roles) if role not in ("assistant", "tool")), len(news))
        if roles[at - 1] == "assistant" and (at == len(news) or roles[at] == "system"):
            news.insert(at, self.wire.said("user", ["Go on."]))  # all its results were lost
        self.messages += news

    def rewind(self) -> None:
        """The user goes back to an earlier message."""
        self.forked = True
        if len(self.messages) > 4:
            del self.messages[self.rng.randrange(2, len(self.messages)) :]
            while self.wire.role(self.messages[-1]) == "assistant":
                self.messages.pop()

    def rewrite(self) -> None:
        """The agent changes an old message in place."""
        self.forked = True
        users = [message for message in self.messages if self.wire.role(message) == "user"]
        self.wire.rewritten(users[self.rng.randrange(len(users))], [self.text()])
