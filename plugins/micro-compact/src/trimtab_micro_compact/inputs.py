"""``inputs``: long old inputs of writes, whose content is on disk, are shortened."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from trimtab import Replace
from trimtab.texts import Known, clean, last, name_of, names, size, worth

from trimtab_micro_compact.options import MicroOptions

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.view import Result, View

__all__ = ["inputs"]

LONG = 1_500
"""Characters: shorter values stay (measured with 1,000 to 1,500)."""
HEAD, TAIL = 300, 150
"""Characters of a value's own start and end that are shown."""

_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n(?P<body>.*?)\n[ \t]*\2[ \t]*(?=\n|$)", re.DOTALL)


def inputs(view: View, options: MicroOptions, known: Known) -> Iterator[tuple[int, Replace]]:
    """Calls that were answered more than ``age`` requests ago, oldest first, with their position."""
    faces = view.projection.state.faces
    calls: dict[str, tuple[Message, Block]] = {}
    for item in view.messages:
        message = item.message
        if message is None:
            continue
        if view.answers - message.answers <= options.age:
            return
        if message.role == "assistant":
            long = (block for block in message.blocks if block.type == "tool_use" and len(block.text) > LONG)
            calls |= {block.call: (message, block) for block in long if block.id not in faces}
        for n in message.results if calls else ():
            said = calls.pop(message.blocks[n].call, None)
            if said and (edit := _shortened(view.result(message, message.blocks[n]), said[1], options, known)):
                yield said[0].depth, edit


def _shortened(result: Result, call: Block, options: MicroOptions, known: Known) -> Replace | None:
    if result.tool_class not in ("edit", "shell") or options.tools.get(result.tool) == "keep":
        return None
    if not _written(result):
        return None
    back = f"full input: {result.view.stored(call)}"

    def short(text: str) -> str:
        return _short(text, back, options, known)

    change = _heredocs if result.tool_class == "shell" else _whole
    made: dict[str, Any] = {
        key: change(value, short) if isinstance(value, str) else value for key, value in call.input.items()
    }
    text = json.dumps(made, ensure_ascii=False)
    if made == call.input or not worth(text, call.text):
        return None
    known.forget(call.text, text)
    return Replace(call, text, f"{name_of(result.tool)}: old input")


def _whole(text: str, short: Callable[[str], str]) -> str:
    return short(text) if len(text) > LONG else text


def _heredocs(command: str, short: Callable[[str], str]) -> str:
    """A command with its long heredocs shortened; all else in it stays."""

    def replaced(match: re.Match[str]) -> str:
        start, end = (place - match.start() for place in match.span("body"))
        return f"{match[0][:start]}{_whole(match['body'], short)}{match[0][end:]}"

    return _HEREDOC.sub(replaced, command)


def _short(text: str, back: str, options: MicroOptions, known: Known) -> str:
    """How big it was and the way back, its start, names that nothing else shows, its end; or the text itself."""
    text = clean(text)
    what = f"[{size(text)}, shortened long after it was written; {back}; start, names by line, end:]"
    end = last(text, TAIL)
    room = int(min(options.share * len(text), options.most - len(what) - TAIL))
    made = f"{what}\n{names(text, max(room, HEAD), options.most, known, head=HEAD)}\n…\n{end}"
    return made if worth(made, text) else text


def _written(result: Result) -> bool:
    """Whether the call succeeded, or a file that it names was read or edited later."""
    if not result.error:
        return True
    text = result.call.text if result.call else ""
    return any(
        path in text and found[-1].message.depth > result.message.depth for path, found in result.view.reads.items()
    )
