"""What a command says by its exit status and its output, read as Claude Code reads it."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass, field
from typing import Any

from trimtab.texts import clean, first, flat

from trimtab_command_hooks.running import Ran

__all__ = ["Answer", "answer"]

BLOCK = 2
"""The exit status that refuses."""

LONGEST = 10_000
"""Characters of one text that reach a model: Claude Code's limit for what a hook adds to the context."""

PINS = 100
"""Pins of one answer. Chosen."""

SHOWN = 500
"""Characters of an output that a warning repeats. Chosen."""

FIELDS = {"continue", "decision", "hookSpecificOutput", "reason", "stopReason", "suppressOutput", "systemMessage"}
"""Of an object with one of these the fields count, of any other output the whole text."""


@dataclass(slots=True)
class Answer:
    """What one command wants."""

    text: str = ""
    """For the summariser, the model or the user, depending on the event."""
    pins: list[tuple[str, str]] = field(default_factory=list)
    """Words and reason."""
    warnings: list[str] = field(default_factory=list)
    blocked: str | None = None
    """Why it refuses; None: it does not."""


def answer(event: str, ran: Ran) -> Answer:
    """Read what a command wrote; raises nothing, whatever that is."""
    out, err = (clean(piece.decode("utf-8", "replace")).strip() for piece in (ran.out, ran.err))
    if ran.trouble:
        return Answer(warnings=[ran.trouble])
    if ran.status == BLOCK:
        return Answer(blocked=flat(err, SHOWN))
    if ran.status:
        return Answer(warnings=[": ".join(filter(None, (_status(ran.status), flat(err, SHOWN))))])
    if "\0" in out:
        return Answer(warnings=["wrote binary data, which is not used"])
    if not out.startswith("{"):
        return _bounded(Answer(out))
    try:
        said = json.loads(out)
    except (ValueError, RecursionError) as error:
        return Answer(warnings=[f"wrote what begins as JSON and is none ({type(error).__name__}): {flat(out, SHOWN)}"])
    return _bounded(_fields(event, said) if FIELDS & said.keys() else Answer(out))


def _fields(event: str, said: dict[str, Any]) -> Answer:
    made = Answer()
    if message := flat(_text(said.get("systemMessage")), SHOWN):
        made.warnings.append(message)
    if said.get("continue") is False:
        made.blocked = flat(_text(said.get("stopReason")), SHOWN)
    elif said.get("decision") == "block":
        made.blocked = flat(_text(said.get("reason")), SHOWN)
    own = said.get("hookSpecificOutput") or {}
    if not isinstance(own, dict):
        made.warnings.append("hookSpecificOutput is no object")
    elif own.get("hookEventName", event) != event:
        made.warnings.append(f"hookSpecificOutput is for {flat(_text(own['hookEventName']), SHOWN)}, not for {event}")
    else:
        if event != "PostCompact" or said.get("suppressOutput") is not True:
            made.text = _text(own.get("additionalContext")).strip()
        _pins(made, own.get("pins") or [], event)
    return made


def _pins(made: Answer, said: Any, event: str) -> None:
    if said and event != "PreCompact":
        made.warnings.append("pins are for PreCompact")
        return
    for n, pin in enumerate(said[:PINS] if isinstance(said, list) else [said], 1):
        words, reason = (pin.get("text"), pin.get("reason")) if isinstance(pin, dict) else (pin, "")
        if isinstance(words, str) and words.strip():
            made.pins.append((words, _text(reason)))
        else:
            made.warnings.append(f"pin {n} is neither words nor {{text, reason}}")
    if isinstance(said, list) and len(said) > PINS:
        made.warnings.append(f"{len(said):,} pins, of which the first {PINS} count")


def _bounded(made: Answer) -> Answer:
    if len(made.text) > LONGEST:
        made.warnings.append(f"wrote {len(made.text):,} characters, of which the first {LONGEST:,} are used")
        made.text = first(made.text, LONGEST)
    return made


def _text(said: Any) -> str:
    return clean(said) if isinstance(said, str) else ""


def _status(status: int) -> str:
    if status > 0:
        return f"exit status {status}"
    try:
        return f"ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"ended by signal {-status}"
