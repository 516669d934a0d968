"""The shipped profiles: each holds a growing conversation in its own format, and seven-stage runs in its very order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from play import LONG, call, result, rounds, says, user
from sweep import PROFILES
from trimtab import Ask, Session, load
from trimtab.cli import app
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from typer.testing import CliRunner

WINDOW = 20_000
"""Tokens; effective 18,000, warn 16,000, auto 16,700, block 17,700."""


def answer(ask: Ask) -> str:
    """Every section that is asked for, filled."""
    return "\n".join(f"{section}\nThe parser was read." for section in ask.sections) or "The parser was read."


class Played:
    """A session of a shipped profile in a small window, its clock moved by hand."""

    def __init__(self, name: str, ask: Any = None, **provider: Any) -> None:
        self.now = 1_000_000.0
        overrides = {"counter": "estimate", "provider": {"window": WINDOW, "factor": 1.0, **provider}}
        profile = load(name, overrides=overrides, env={}, cwd="/")
        stores: Any = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        how: Any = {"clock": lambda: self.now, "background": None, "stage_tools": True}
        self.session = Session.open("s", profile, ask=ask, **stores, **how)

    def send(self, messages: Any) -> Any:
        """The next request, five seconds later: it is valid, nothing failed, and it fits."""
        self.now += 5.0
        request = self.session.prepare(messages)
        assert [found for found in self.session.dialect.validate(request.messages) if found.certain] == []
        assert request.report.failures == []
        assert request.report.tokens_after < self.session.window.block
        return request


def chat(n: int) -> list[dict[str, Any]]:
    """A round in OpenAI's format: a call, and its long result."""
    function = {"name": "read_file", "arguments": json.dumps({"path": f"/src/{n}.py"})}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{n}", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": f"c{n}", "content": f"c{n}: {LONG}"},
    ]


def growing(dialect: str, count: int) -> Iterator[tuple[list[dict[str, Any]], str]]:
    """The requests of an agent that reads on and on, and how the last message begins; now and then the user speaks."""
    newest = "Mend the parser, please."
    messages: list[dict[str, Any]] = [{"role": "user", "content": newest}]
    for n in range(count):
        yield list(messages), newest
        messages += chat(n) if dialect == "openai" else rounds(1, n)
        newest = f"c{n}: {LONG[:60]}"
        if n % 7 == 6:
            newest = f"Now file {n}."
            messages += [{"role": "assistant", "content": "Read."}, {"role": "user", "content": newest}]


@pytest.mark.parametrize("name", PROFILES)
def test_check_finds_nothing_wrong(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`trimtab profile check` finds it by name anywhere; of what it warns of, only a model of one's own is left."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["profile", "check", "--profile", name, "--json"], env={"HOME": str(tmp_path)})
    told = json.loads(done.stdout)
    assert (done.exit_code, told["profile"]) == (0, name)
    assert [warning for warning in told["warnings"] if "model 'local' is not known" not in warning] == []


@pytest.mark.parametrize("ask", [None, answer], ids=["nobody", "somebody"])
@pytest.mark.parametrize("name", [name for name in PROFILES if name != "minimal"])
def test_holds_a_growing_conversation(name: str, ask: Any) -> None:
    """More is said than fits, in the profile's format: every request is valid, fits, and ends with what is newest."""
    played = Played(name, ask)
    for messages, newest in growing(played.session.profile.provider.kind, 40):
        request = played.send(messages)
        assert newest in json.dumps(request.messages[-2:])  # a reminder may stand behind it
        played.session.observe({})
    assert played.session.ledger.decisions


def test_minimal_changes_nothing() -> None:
    """It hands out what it was given."""
    played = Played("minimal", window=200_000)
    for messages, _ in growing("anthropic", 40):
        request = played.send(messages)
        assert all(sent is said for sent, said in zip(request.messages, messages, strict=True))


# ------------------------------------------------------------------ the order of a pass


METHODS = ("free", "propose", "recover", "observe")


def watched(session: Session) -> list[str]:
    """The list to which every call of a stage's method is added from now on, in the words of the profile."""
    calls: list[str] = []

    def watch(stage: Any, method: str) -> None:
        plain = getattr(stage, method)

        def call(*arguments: Any) -> Any:
            calls.append(f"{stage.name}.{method}")
            return plain(*arguments)

        setattr(stage, method, call)

    for stage in session.plan.stages:
        for method in METHODS:
            watch(stage, method)
    return calls


def words(count: int) -> list[dict[str, Any]]:
    """An exchange of words only: no stage but those that fold makes it smaller."""
    return [says(LONG), user(LONG)] * count


def reading() -> list[dict[str, Any]]:
    """An agent's first request: talk, the same file eight times, eight others, talk."""
    same = [(says(call(f"r{n}", file_path="/src/a.py")), user(result(f"r{n}"))) for n in range(8)]
    again = [message for pair in same for message in pair]
    return [user("Mend the parser, please."), *words(3), *again, *rounds(8), *words(3)]


@pytest.mark.parametrize(
    ("ask", "stands_in"),
    [(None, ["session-memory.propose", "auto-compact.propose"]), (answer, ["session-memory.propose"])],
    ids=["summary", "memory"],
)
def test_order_of_seven_stage(ask: Any, stands_in: list[str]) -> None:
    """One pass in which every stage is open and decides something, cheapest first, with its second look.

    Snip breaks the warm prefix, so micro-compact may work behind that break; whatever stands in for the history breaks
    it at its start, so micro-compact looks again. With a memory the window is not full any more when auto-compact's
    turn comes.
    """
    played = Played("seven-stage", ask, prefix_bound=False)
    early = reading()
    played.send(early)
    played.session.observe({})
    calls = watched(played.session)
    request = played.send([*early, *words(7)])
    assert calls == [
        "tool-result-budget.propose",
        "snip.free",
        "snip.propose",
        "micro-compact.free",
        "micro-compact.propose",
        "context-collapse.propose",
        *stands_in,
        "reactive-compact.propose",
        "micro-compact.propose",
    ]
    decided = [outcome.stage for outcome in request.report.decisions]
    assert decided == ["snip", "micro-compact", stands_in[-1].removesuffix(".propose"), "restore"]


def test_order_after_an_answer_and_a_refusal() -> None:
    """What is done in the background, and what recovers, in the profile's order."""
    played = Played("seven-stage", prefix_bound=False)
    played.send(reading())
    calls = watched(played.session)
    played.session.observe({})
    assert calls == ["context-collapse.observe", "session-memory.observe"]
    calls.clear()
    played.session.recover(Refused("prompt is too long: 25000 tokens > 20000 maximum"))
    assert calls == ["context-collapse.recover", "session-memory.recover", "reactive-compact.recover"]


class Refused(Exception):  # noqa: N818 - as the provider's client raises it
    """The provider's word that a request is too large."""

    status_code = 400
