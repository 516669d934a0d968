"""Sessions with only this stage, and conversations to clear."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from play import LONG, Play, says, user
from trimtab_micro_compact import MicroCompact

OPEN = {"when": "always", "warm": "allow"}


class BadRequestError(Exception):
    """A refusal as a client raises it."""

    status_code = 400

    def __init__(self, what: str) -> None:
        super().__init__(f"Error code: 400 - {what}")
        self.body = {"type": "error", "error": {"type": "invalid_request_error", "message": what}}


class Talk:
    """A conversation that grows by rounds of calls and their results."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = [user("Mend the build.")]

    def round(self, *calls: tuple[str, Mapping[str, Any], Any], **more: Any) -> list[dict[str, Any]]:
        """One answer with these calls (tool, input, result's content), and the message with their results."""
        ids = [f"c{len(self.messages)}.{n}" for n in range(len(calls))]
        pairs = list(zip(ids, calls, strict=True))
        uses = [{"type": "tool_use", "id": id, "name": tool, "input": dict(given)} for id, (tool, given, _) in pairs]
        said = [{"type": "tool_result", "tool_use_id": id, "content": content, **more} for id, (*_, content) in pairs]
        self.messages += [says(*uses), user(*said)]
        return self.messages

    def rounds(self, count: int) -> list[dict[str, Any]]:
        """Short rounds of an unknown tool, which no option speaks of."""
        for _ in range(count):
            self.round(("mcp__x", {}, "ok"))
        return self.messages


def _lines(count: int, name: str = "value") -> str:
    filler = "some words that nobody would ask for again, and there are many of them here"
    return "\n".join(f"{filler} {name}_{n} and so on" for n in range(count))


def _contents(request: Any) -> list[Any]:
    blocks = (block for message in request.messages for block in message["content"] if isinstance(block, dict))
    return [block["content"] for block in blocks if block["type"] == "tool_result" and block["content"] != "ok"]


@pytest.fixture
def talk() -> Talk:
    """A new conversation."""
    return Talk()


@pytest.fixture
def grow(talk: Talk) -> Callable[[], list[dict[str, Any]]]:
    """One more round with a long result; all messages."""
    return lambda: talk.round(("Read", {"file_path": f"/{len(talk.messages)}.py"}, LONG))


@pytest.fixture(scope="session")
def refused() -> type[Exception]:
    """The error of a client whose request was answered 400, with the provider's words."""
    return BadRequestError


@pytest.fixture(scope="session")
def lines() -> Callable[..., str]:
    """A text of about 100 characters a line, each with one new name: ``lines(count, name="value")``."""
    return _lines


@pytest.fixture(scope="session")
def contents() -> Callable[[Any], list[Any]]:
    """The contents of all results of a request but those that only say ``ok``."""
    return _contents


@pytest.fixture(scope="session")
def opened() -> Callable[..., Play]:
    """A session with this stage, open at all times unless told: ``opened(form, plugins, more, first, **options)``.

    ``first`` are stages before it, of ``plugins``; ``more`` goes into the profile.
    """

    def open(
        form: str,
        plugins: tuple[Any, ...] = (),
        more: Mapping[str, Any] | None = None,
        first: Sequence[Any] = (),
        **options: Any,
    ) -> Play:
        stage = {"form": form, **({} if "when" in options else OPEN), **options}
        return Play(MicroCompact, *plugins, stages=[*first, {"micro-compact": stage}], **(more or {}))

    return open


@pytest.fixture(scope="session")
def stored() -> Callable[[Play, str], str]:
    """The full text that a placeholder points to."""

    def read(play: Play, text: str) -> str:
        found = re.search(r"[Ff]ull (?:text|input): (blob:\S+?)(?:;|$)", text, re.MULTILINE)
        assert found, text
        key = play.blobs.owns(found[1])
        return str(play.blobs.get(key).decode())

    return read
