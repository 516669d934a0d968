"""What a run says that can be told without a model: words, calls with their outcomes, files, open tasks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trimtab.texts import answers, called, flat, speaker, spelled
from trimtab.toolclass import ToolClass, classify, path_of

if TYPE_CHECKING:
    from trimtab.conversation import Block, Message
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["Deed", "Facts", "facts"]

EDGE = 300
"""Characters at either end of a result in which its outcome is looked for."""
LINE = 160
"""Characters shown of a result's line."""

_CODE = re.compile(r"(?:exit(?:ed)?(?:[ _]with)?[ _](?:code|status)|return ?code)\W{1,4}(-?\d+)", re.IGNORECASE)
_BAD = re.compile(r"\W*(?:tool_use_error\W+)?(?:error|fatal|traceback|usage)\b", re.IGNORECASE)
_TROUBLE = re.compile(r"error|exception|fail|fatal|panic|not found|no such|denied|cannot", re.IGNORECASE)
_WRAPPING = re.compile(
    r"\s*(?:</?[\w-]+>|\w+:|.*?(?:exit(?:ed)? (?:with )?code|<returncode>).{0,20}|[\W_]*)\s*", re.IGNORECASE
)
_NEW = re.compile(r"\bcreate|new file", re.IGNORECASE)
_PATCHED = re.compile(r"^\*\*\* (Add|Delete|Update) File: (.+)$", re.MULTILINE)
_SENT = re.compile(r"(?:>>?|\btee(?: -a)?)\s*([\w./~-]*\w\.\w+)")
_SED = re.compile(r"\bsed\b[^|;&]*\s-i\b[^|;&]*\s([\w./~-]*\w\.\w+)\s*(?:$|[|;&])")
_OPEN = re.compile(r"^\s*(?:[-*]\s+\[ \]|(?:[-*]\s+)?TODO\b:?)\s+(\S.*)$", re.MULTILINE)
_WHOLE = {"content", "contents", "file_text"}
_COMMANDS = ("command", "cmd", "script", "code")
_TASKS = ("content", "step", "description", "title", "subject", "task", "text")
_DONE = ("cancelled", "canceled", "complete", "completed", "deleted", "done", "finished")


@dataclass(slots=True)
class Deed:
    """A call, and how it ended."""

    call: Block
    kind: ToolClass
    path: str | None
    command: str = ""
    """Of a shell call what it ran."""
    ended: bool = False
    failed: bool = False
    line: str = ""
    """The line of the result that tells the outcome: the first about an error, else the last."""

    @property
    def what(self) -> str:
        """The call on one line."""
        return flat(self.command, LINE) if self.command else called(self.call)

    @property
    def outcome(self) -> str:
        """How it ended, in words."""
        word = "failed" if self.failed else "ok" if self.ended else "no result"
        return f"{word}, {self.line}" if self.line else word


@dataclass(slots=True)
class Facts:
    """Everything in the order in which it was said."""

    said: list[str] = field(default_factory=list)
    """What the user said."""
    pinned: set[str] = field(default_factory=set)
    """What of that is pinned whole."""
    told: list[str] = field(default_factory=list)
    """What the assistant said."""
    deeds: list[Deed] = field(default_factory=list)
    files: dict[str, Counter[str]] = field(default_factory=dict)
    """Path to what was done to it, and how often; the path touched last stands last."""
    tasks: list[tuple[str, str]] = field(default_factory=list)
    """The open ones of the newest list: status and text."""


def facts(view: View, run: Sequence[Item]) -> Facts:
    """The facts of a run as it was said, also of what earlier summaries and placeholders hide."""
    found, calls = Facts(), dict[str, Deed]()
    pins = defaultdict[str, list[str]](list)
    view.context.advise()  # else hooks are asked what stays only when the fold is there already
    for pin in view.pins:
        pins[pin.block].append(pin.text)
    for message in view.projection.path[run[0].end - len(run[0].covers) : run[-1].end]:
        for block in message.blocks:
            if block.type == "tool_use":
                deed = _deed(block, view.context.tools)
                calls[block.call] = deed
                found.deeds.append(deed)
                listed = _listed(block.input)
                found.tasks = found.tasks if listed is None else listed
            elif answers(block):
                if block.call in calls:
                    _end(calls[block.call], block)
                    _touch(found.files, calls[block.call], block.text)
            elif block.type == "text" and block.text.strip():
                _say(found, message, block.text.strip())
                if _whole(block, pins[block.id]):
                    found.pinned.add(block.text.strip())
    return found


BETWEEN = " \t\n\r.,;:!?…。，；：！？、-*•"
"""What may stand between pinned sentences and says nothing by itself."""


def _whole(block: Block, pinned: Sequence[str]) -> bool:
    """Whether the pins leave nothing of a text to quote: it is pinned, or its sentences are."""
    rest = block.text
    for words in sorted(pinned, key=len, reverse=True):
        rest = rest.replace(words or block.text, "")
    return bool(pinned) and not rest.strip(BETWEEN)


def _say(found: Facts, message: Message, text: str) -> None:
    role = speaker(message)
    if role == "user":
        found.said.append(text)
    elif role == "assistant":
        found.told.append(text)
        if listed := [("open", task) for task in _OPEN.findall(text)]:
            found.tasks = listed


def _deed(call: Block, tools: Mapping[str, str]) -> Deed:
    kind = classify(call.name, call.input, tools)
    command = ""
    if kind == "shell":
        given = (call.input.get(key) for key in _COMMANDS)
        command = next((spelled(one) for one in given if one), "")
    return Deed(call, kind, path_of(call.input), command)


def _end(deed: Deed, result: Block) -> None:
    deed.ended, deed.failed = True, result.error
    text = result.text
    code = _CODE.search(f"{text[:EDGE]}\n{text[-EDGE:]}") if deed.kind in ("other", "shell") else None
    if code is not None:
        deed.failed |= int(code[1]) != 0
    elif deed.kind not in ("ranged_read", "read"):
        deed.failed |= _BAD.match(text) is not None
    if deed.failed or deed.kind == "shell":
        deed.line = flat(_telling(text, bad=deed.failed), LINE)


def _telling(text: str, *, bad: bool) -> str:
    lines = [line for line in text.splitlines() if not _WRAPPING.fullmatch(line[:LINE])]
    found = next((line for line in lines if _TROUBLE.search(line)), None) if bad else None
    return found or (lines[-1] if lines else "")


# ------------------------------------------------------------------ files and tasks


def _touch(files: dict[str, Counter[str]], deed: Deed, result: str) -> None:
    if deed.failed:
        return
    for path, verb in _touched(deed, result):
        done = files.pop(path, Counter())
        done[verb] += 1
        files[path] = done


def _touched(deed: Deed, result: str) -> Iterator[tuple[str, str]]:
    """The files that a call that succeeded read or changed, as far as its arguments tell."""
    if deed.path and deed.kind in ("ranged_read", "read"):
        yield deed.path, "read"
    elif deed.path and deed.kind == "edit":
        whole = not _WHOLE.isdisjoint(deed.call.input)
        new = (
            re.search(r"\bcreate|new file", result[:EDGE], re.IGNORECASE) or deed.call.input.get("command") == "create"
        )
        yield deed.path, "created" if new else "written" if whole else "edited"
    elif deed.command:
        line = deed.command.partition("\n")[0]
        yield from ((path, "written by a command") for path in _SENT.findall(line))
        yield from ((path, "edited by a command") for path in _SED.findall(line))
    verbs = {"Add": "created", "Delete": "deleted", "Update": "edited"}
    for text in deed.call.input.values():
        if isinstance(text, str):
            yield from ((path.strip(), verbs[verb]) for verb, path in _PATCHED.findall(text))


def _listed(input: Mapping[str, Any]) -> list[tuple[str, str]] | None:
    """The open tasks of a call that hands over a list of tasks, each with a status; None for any other call."""
    for given in input.values():
        if isinstance(given, list) and given and all(isinstance(one, Mapping) and "status" in one for one in given):
            words = [next((spelled(one[key]) for key in _TASKS if key in one), "") for one in given]
            tasks = [(str(one["status"]), text) for one, text in zip(given, words, strict=True) if text]
            return [(status, text) for status, text in tasks if status.lower() not in _DONE]
    return None
