"""Which calls only read, and which of them ask for the same thing."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from trimtab.toolclass import PATHS, classify

from trimtab_snip.shell import readable, readonly

if TYPE_CHECKING:
    from trimtab.view import Result, View

__all__ = ["places", "question"]

_SHELL = {"cmd", "command", "cwd", "max_output_tokens", "workdir", "yield_time_ms"}
"""Arguments of a shell call that belong to what it asks for."""

_ASIDE = {"description", "timeout"}
"""Arguments of a shell call that do not: what it says to a reader, and how long it may take."""

_WEB = {"allowed_domains", "blocked_domains", "count", "format", "limit", "max_length", "prompt", "query", "raw"}
_WEB |= {"start_index", "timeout", "url"}
"""Arguments of calls that fetch or search; one with others may click, post, or run a script."""

_NAMING = {*PATHS, "include", "paths", "uri"}
"""Arguments that name what is read; a read without one moves on in what is open (scroll_down, goto)."""

_MOVES = re.compile(
    r"(?<![\w./-])(?:cd|chdir|eval|exec|popd|pushd|Set-Location|source)(?![\w./-])"
    r"|(?:^|[\n;&|(!]|\b(?:builtin|command|do|else|then)\b)[ \t]*(?:\w+=\S*[ \t]+)*\.[ \t]+\S"
)
"""Words of a command that go to another folder, or run in this shell what may."""


def question(result: Result, place: str) -> str | None:
    """What the call of ``result`` asks for, in one spelling; None unless it surely only reads.

    The same text means the same tool, arguments (in any order, null or left out, ``./a`` or ``a``, a command with more
    or fewer spaces) and, where these do not name an absolute path, ``place``.
    """
    asked = {key: value for key, value in result.input.items() if value is not None}
    match result.tool_class:
        case "shell":
            found = _command(asked)
            if found is None:
                return None
            asked, absolute = found
        case "read" | "ranged_read" | "search" | "web" as kind:
            if kind in ("read", "ranged_read") and asked.keys().isdisjoint(_NAMING):
                return None
            if kind == "web" and (asked.keys().isdisjoint(("query", "url")) or not _WEB.issuperset(asked)):
                return None
            asked = {key: _path(value) if key in PATHS else value for key, value in asked.items()}
            absolute = kind == "web" or any(str(asked.get(key, "")).startswith("/") for key in PATHS)
        case _:
            return None
    return json.dumps([result.tool, "" if absolute else place, asked], sort_keys=True)


def places(view: View) -> dict[str, str]:
    """For each call on the path, as its block's id, the last call before it that may have changed the folder.

    May have: a shell command that goes, that does what stands elsewhere, or that `readable` does not read; and any
    call of a tool that nothing is known of.

    Looks at the whole path, for what an edit hides has changed the folder all the same.
    """
    found: dict[str, str] = {}
    place = ""
    for message in view.projection.path:
        for block in message.blocks:
            if block.type == "tool_use":
                found[block.id] = place
                kind = classify(block.name, block.input, view.context.tools)
                if kind == "other" or (kind == "shell" and _moves(block.input)):
                    place = block.id
    return found


def _moves(given: Mapping[str, Any]) -> bool:
    said = {key: value for key, value in given.items() if key not in _ASIDE}
    if "restart" in said:
        return True
    return any(map(_goes, _texts(said)))


def _goes(command: str) -> bool:
    plain = readonly(command)
    if plain is not None:
        return plain.startswith("cd ")
    return bool(_MOVES.search(command)) or not readable(command)


def _command(asked: Mapping[str, Any]) -> tuple[dict[str, Any], bool] | None:
    """A shell call's arguments with its command in one spelling, and whether it goes to an absolute folder first."""
    asked = {key: value for key, value in asked.items() if key not in _ASIDE and value not in (False, "false")}
    key = next((key for key in ("command", "cmd") if key in asked), "")
    text = asked.get(key)
    if isinstance(text, list) and all(isinstance(word, str) for word in text):
        inner = len(text) == 3 and text[0] in ("bash", "sh", "zsh") and text[1] in ("-c", "-lc")
        text = text[2] if inner else shlex.join(text)
    plain = readonly(text) if isinstance(text, str) and _SHELL.issuperset(asked) else None
    return None if plain is None else ({**asked, key: plain}, plain.startswith("cd "))


def _path(value: Any) -> Any:
    """A path without ``.`` parts and doubled slashes; ``..`` stays, for it may lead out of a link."""
    return str(PurePosixPath(value)) if isinstance(value, str) and value else value


def _texts(value: Any) -> Iterator[str]:
    """All strings in a call's arguments."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)
