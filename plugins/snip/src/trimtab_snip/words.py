"""Mode ``model``: all that the model reads of it: the tool, its results, and the reminder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from trimtab import Tool
from trimtab.texts import name_of

from trimtab_snip.options import SnipOptions

if TYPE_CHECKING:
    from trimtab.conversation import Message
    from trimtab.view import View

__all__ = ["TOOL", "accepted", "heavy", "refused", "reminder", "tags_of", "when"]

TOOL = Tool(
    "snip",
    "Take what you no longer need out of your context. What the user says, and the results of tools, end with a tag "
    "such as [id:1a2b3c]; give these tags. The tag of a result takes its whole round: your message with all its calls, "
    "parallel ones too, and all their results. The tag of a message of the user takes its whole turn: that message and "
    "all up to the next one. The newest round, and the message of the user that you work on, stay. The originals are "
    "stored, but you cannot bring them back: first write down what you still need of them. The answer says when they "
    "go.",
    {
        "type": "object",
        "properties": {
            "ids": {"type": "array", "items": {"type": "string"}, "description": "Tags, such as 1a2b3c."},
            "reason": {"type": "string", "description": "Why it is no longer needed, in a few words."},
        },
        "required": ["ids"],
    },
)

TOOLS = 3
"""Names of tools that are given for one round."""


def tags_of(said: object) -> list[str]:
    """The tags that a call names, each once: spelled ``1a2b3c`` or ``[id:1a2b3c]``, in a list or in one text."""
    words = said.replace(",", " ").split() if isinstance(said, str) else said
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return []
    tags = (word.strip().lower().strip("[]").removeprefix("id:").strip() for word in words)
    return list(dict.fromkeys(tag for tag in tags if tag))


def when(view: View, options: SnipOptions) -> str:
    """When a drop passes, as the stage's `when` says."""
    found = []
    for word, value in ((one.word, one.value) for one in options.when.words):
        match word:
            case "over" if value is not None and view.tokens < (limit := view.window.tokens(value)):
                found.append(f"when the context has grown to {limit:,.0f} tokens")
            case "over" | "always":
                return "with the next request"
            case "cold":
                found.append("when the provider's cache has expired")
            case "idle":
                found.append(f"after a pause of {float(value or 0) / 60:,.0f} minutes")
            case "pays":
                found.append("as soon as that saves more than it costs")
    return " or ".join(found)


def accepted(count: int, given: int, tokens: float, when: str) -> str:
    """How much goes, and when."""
    what = f"All {given}" if count == given > 1 else "It" if given == 1 else f"Of {given} ids {count} accepted. This"
    return f"{what} will leave the context {when}: about {tokens:,.0f} tokens, whole rounds; the originals are stored."


def refused(stays: Mapping[str, str], view: View, others: Sequence[tuple[Message, float]]) -> str:
    """Why the rest stays, and what would go."""
    by: dict[str, list[str]] = {}
    for tag, why in stays.items():
        by.setdefault(why, []).append(tag)
    lines = [f"{', '.join(tags)}: {why}." for why, tags in by.items()]
    lines.append(
        f"These would go: {heavy(view, others)}." if others else "Nothing else is worth it now: go on with the task."
    )
    return "\n".join(lines)


def heavy(view: View, rounds: Iterable[tuple[Message, float]]) -> str:
    """Rounds by the tag of their last result, with the tools they called and their size."""
    return ", ".join(
        f"{view.tag(message)} ({_tools(view, message)}about {tokens:,.0f} tokens)" for message, tokens in rounds
    )


def _tools(view: View, message: Message) -> str:
    """The tools of a round, the first few."""
    path, rounds = view.projection.path, view.projection.rounds
    calls = (block for at in range(rounds[message.depth], message.depth) for block in path[at].blocks)
    names = list(dict.fromkeys(name_of(block.name) for block in calls if block.type == "tool_use"))
    names[TOOLS:] = [f"{len(names) - TOOLS} more"] if len(names) > TOOLS else []
    return "".join(f"{name}, " for name in names)


def reminder(view: View, rounds: Sequence[tuple[Message, float]]) -> str:
    """How big the context is, and the heaviest rounds that could go."""
    return (
        f"[About your context, not from the user: it holds about {view.tokens:,.0f} of {view.window.effective:,} "
        f"tokens. What you no longer need can go by the tool {TOOL.name}, by tag. The heaviest rounds: "
        f"{heavy(view, rounds)}. Keep what the task still needs; there is no need to answer this.]"
    )
