"""Questions to a model: the only I/O a stage can cause, checked before a stage sees the answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from trimtab.errors import AskFailed, told

__all__ = ["Answer", "Ask", "Asker", "Scripted", "adrive", "asking", "checked", "drive"]

T = TypeVar("T")
_TROUBLE = re.compile(
    r"\W*(?:api\s+)?error\b\W*(?:\d{3}|:)|\s*\{\s*\"(?:error\"|type\"\s*:\s*\"error)|\W*prompt is too long"
    r"|\W*(?:i\W?m sorry\W*(?:but )?)?i (?:can\W?t|cannot|am unable to|won\W?t) "
    r"(?:assist|comply|continue|do|help|provide|summari)",
    re.IGNORECASE,
)
"""How a text begins that is an error or a refusal in the place of an answer."""
_MARKUP = re.compile(r"<\s*/?\s*(?:antml:)?(?:function_calls?|invoke|tool_call|tool_use|tool_result)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ask:
    """A stage yields it and gets the answer's text back, or `AskFailed` thrown in.

    ``covers``: the items that the answer will stand for; it must be shorter. ``sections``: headings it must hold.
    ``purpose`` is a word that may be logged, so nothing of the conversation stands in it.
    ``check`` raises `AskFailed` where it knows better. ``shared``: the prompt follows the request as it stands, which
    the provider has in its cache. ``most``: tokens of the answer that are wanted at most. ``schema``: the JSON schema
    that the answer should follow, for askers that can see to it. ``native``: the provider is to summarise ``covers`` by
    itself, at the start of the view, as its own API offers it; the prompt says what to mind.
    """

    prompt: str
    covers: Any = ()
    sections: tuple[str, ...] = ()
    purpose: str = "summary"
    shared: bool = False
    most: int = 0
    schema: Mapping[str, Any] | None = None
    native: bool = False
    model: str = ""
    """Who should answer, filled in from the profile; empty: the session's own model."""
    timeout: float | None = None
    """Seconds that an answer may take, filled in from the profile; None: as the asker likes."""
    check: Callable[[str], object] | None = field(default=None, compare=False, repr=False)
    request: Any = field(default=None, compare=False, repr=False)
    """The session's `Request`: what the prompt of a ``shared`` one follows; of a ``native`` one what is to be
    summarised. Filled in by the kernel."""


class Answer(str):
    """An answer's text with what came beside it.

    ``usage``: what the provider reported for it, a mapping or a `Usage`. ``block``: the wire block that the provider
    wants to get back in the place of what it summarised; of a ``native`` question only.
    """

    usage: Any
    block: Any

    def __new__(cls, text: str, usage: Any = None, block: Any = None) -> Answer:
        """An answer is a str."""
        made = super().__new__(cls, text)
        made.usage, made.block = usage, block
        return made


Asker = Callable[[Ask], Any]
"""Answers with a string (or an `Answer`), or (asynchronously) with an awaitable of one."""

asking: ContextVar[Ask | None] = ContextVar("trimtab_asking", default=None)
"""The question that is being answered: a client that runs requests through a session leaves this one's alone (R22)."""


class Scripted:
    """An asker that gives prepared answers in order; an exception among them is raised. Keeps what it was asked."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Ask] = []

    def __call__(self, ask: Ask) -> str:
        """The next answer; raises `AskFailed` when none is left."""
        self.asked.append(ask)
        answer = self.answers.pop(0) if self.answers else AskFailed("no scripted answer left")
        if isinstance(answer, Exception):
            raise answer
        return answer


def checked(ask: Ask, answer: Any, room: float, count: Callable[[str], float]) -> str:
    """The answer if it can be used; raises `AskFailed`. ``room``: tokens of what it covers (0: any length)."""
    if not isinstance(answer, str) or not answer.strip():
        raise AskFailed("the answer is empty")
    if _MARKUP.search(answer):
        raise AskFailed("the answer holds tool markup")
    if _TROUBLE.match(answer):
        raise AskFailed(f"the answer is an error or a refusal: {answer.strip()[:100]!r}")
    missing = [section for section in ask.sections if section not in answer]
    if missing:
        raise AskFailed(f"the answer lacks {missing[0]!r}", available=ask.sections, label="sections")
    if not answer.isascii() and any("\ud800" <= char <= "\udfff" for char in answer):
        raise AskFailed("the answer holds half of a character")
    if room and count(answer) >= room:
        raise AskFailed(f"the answer ({count(answer):.0f} tokens) is not shorter than what it covers ({room:.0f})")
    if ask.check is not None:
        ask.check(answer)
    return answer


def drive(steps: Generator[Ask, Any, T], asker: Asker | None) -> T:
    """Run a pass to its end, answering each `Ask`; an asker that raises is an `AskFailed` for the stage."""
    answer: Any = None
    with closing(steps):  # also where an asker is interrupted: what the pass holds is let go now
        while True:
            try:
                ask = steps.throw(answer) if isinstance(answer, AskFailed) else steps.send(answer)
            except StopIteration as stop:
                result: T = stop.value
                return result
            token = asking.set(ask)
            try:
                answer = _asker(asker)(ask)
                if hasattr(answer, "close") and hasattr(answer, "__await__"):
                    answer.close()
                    raise AskFailed("the asker is asynchronous: here it takes a synchronous one")
            except Exception as error:
                answer = _failed(error)
            finally:
                asking.reset(token)


async def adrive(steps: Generator[Ask, Any, T], asker: Asker | None) -> T:
    """`drive` for event loops: the asker may return an awaitable."""
    answer: Any = None
    with closing(steps):
        while True:
            try:
                ask = steps.throw(answer) if isinstance(answer, AskFailed) else steps.send(answer)
            except StopIteration as stop:
                result: T = stop.value
                return result
            token = asking.set(ask)
            try:
                answer = _asker(asker)(ask)
                answer = await answer if hasattr(answer, "__await__") else answer
            except Exception as error:
                answer = _failed(error)
            finally:
                asking.reset(token)


def _asker(asker: Asker | None) -> Asker:
    if asker is None:
        raise AskFailed("nobody can be asked: open the session with ask=")
    return asker


def _failed(error: Exception) -> AskFailed:
    if isinstance(error, AskFailed):
        return error
    failed = AskFailed(told(error))
    failed.__cause__ = error
    return failed
