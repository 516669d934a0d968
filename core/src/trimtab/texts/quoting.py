"""How a summary quotes what was said: on one line, of a bounded length, in whole characters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trimtab.texts.cutting import clean, first

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message

__all__ = ["ARGUMENT", "NAME", "answers", "called", "flat", "name_of", "speaker", "spelled"]

ARGUMENT = 110
"""Characters shown of each argument of a call (measured form)."""
NAME = 64
"""Characters of a tool's name that are repeated: as many as OpenAI lets it have."""


def flat(text: str, most: int) -> str:
    """The first ``most`` characters of ``text`` on one line, so that no line of it can pass for another speaker's."""
    line = " ".join(clean(first(text, 20 * most)).split())
    short = first(line, most)
    return short if short == line and len(text) <= 20 * most else f"{short.rstrip()}…"


def name_of(tool: str) -> str:
    """A tool's name, safe to be repeated: a model may call what no tool is named."""
    return flat(tool, NAME) or "The tool"


def spelled(value: Any) -> str:
    """An argument's value as a reader would write it: text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def answers(block: Block) -> bool:
    """Whether a block that is no call came from a tool, even where it does not say which call it answers."""
    return block.type == "tool_result" or bool(block.call) or block.server


def speaker(message: Message) -> str:
    """Whose words a message holds: its role as sent, for a dialect takes those that it does not know for the user's."""
    return flat(str(message.wire.get("role") or message.role), 40)


def called(call: Block) -> str:
    """A call on one line: its tool, and the start of each argument."""
    given = [f"{flat(key, 40)}: {flat(spelled(value), ARGUMENT)}" for key, value in call.input.items()]
    return f"{name_of(call.name)}({', '.join(given) or flat(call.text, ARGUMENT)})"
