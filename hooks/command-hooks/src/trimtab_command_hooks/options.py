"""The keys in a profile: Claude Code's nesting, or just a list of commands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator
from trimtab import Duration, HookOptions, ProfileError

from trimtab_command_hooks.words import split

__all__ = ["Command", "Group", "Options"]

TRIGGERS = ("auto", "manual")
SOURCES = ("clear", "compact", "resume", "startup")
"""``clear`` exists in Claude Code only; a matcher may name it."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, said: Any) -> Any:
        for key in said if isinstance(said, Mapping) else ():
            if key not in cls.model_fields:
                error = ProfileError(
                    f"no such key {key!r}", given=str(key), available=cls.model_fields, label=f"of a {cls.__name__}"
                )
                raise ValueError(str(error).replace(cls.__name__, cls.__name__.lower()))
        return said


class Command(_Section):
    """One executable."""

    type: Literal["command"] = "command"
    """There are only commands here."""
    shell: bool = False
    """Run a ``command`` that is a text by ``/bin/sh -c``."""
    timeout: Annotated[Duration, Field(gt=0)] = 60.0
    """Seconds, or ``30s``, ``2m``; then it is ended with all processes that it started."""
    command: tuple[str, ...]
    """A list of words, or a text that is split as a shell would, without one; with ``shell`` its line."""

    @field_validator("command", mode="plain", json_schema_input_type=str | list[str])
    @classmethod
    def _words(cls, said: Any, info: Any) -> tuple[str, ...]:
        shell = info.data.get("shell", False)
        if isinstance(said, str) and said.strip():
            words = [said] if shell else split(said)
        elif isinstance(said, list | tuple) and said and all(isinstance(word, str) for word in said) and said[0]:
            words = list(said)
            if shell:
                raise ValueError("a shell takes a text, not a list of words; leave out `shell`, or write one text")
        else:
            raise ValueError(
                f"a command is a text or a list of texts, as ./keep.sh or [python3, keep.py], not {said!r}"
            )
        if any("\0" in word for word in words):
            raise ValueError("a command cannot hold a NUL")
        return tuple(words)


class Group(_Section):
    """Commands, and when they run."""

    matcher: str = ""
    """What the whole trigger or source must match, a regular expression; ``*`` or nothing: all."""
    hooks: tuple[Command, ...]
    """The commands; they run at the same time."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, said: Any) -> Any:
        if isinstance(said, str | list | tuple):
            return {"hooks": [{"command": said}]}
        if isinstance(said, Mapping) and "command" in said:
            command = {key: value for key, value in said.items() if key != "matcher"}
            return {"matcher": said.get("matcher", ""), "hooks": [command]}
        return said

    @field_validator("matcher", mode="before")
    @classmethod
    def _pattern(cls, said: Any) -> Any:
        said = "" if said in (None, "*") else said
        try:
            re.compile(said)
        except (re.error, TypeError) as error:
            raise ValueError(f"{said!r} is no regular expression: {error}") from None
        return said

    def matches(self, word: str) -> bool:
        """Whether its commands run for this trigger or source."""
        return not self.matcher or re.fullmatch(self.matcher, word) is not None


def _listed(said: Any) -> Any:
    if not isinstance(said, list | tuple):
        raise ValueError(
            f"a list is needed: - ./keep.sh, or - {{matcher: auto, hooks: [{{command: …}}]}}, not {said!r}"
        )
    return said


Groups = Annotated[tuple[Group, ...], BeforeValidator(_listed)]


def _either(short: str, pasted: str) -> Any:
    return Field((), validation_alias=AliasChoices(short, pasted))


class Options(HookOptions):
    """The commands of each event: a list of them, or the section of that event from Claude Code's settings."""

    pre_compact: Groups = _either("pre_compact", "PreCompact")
    """Before sent content is shortened; the matcher sees ``auto`` or ``manual``."""
    post_compact: Groups = _either("post_compact", "PostCompact")
    """After it was shortened, before that is recorded; the matcher sees ``auto`` or ``manual``."""
    session_start: Groups = _either("session_start", "SessionStart")
    """At a session's start and behind a boundary; the matcher sees ``startup``, ``resume`` or ``compact``."""
    first_send: bool = False
    """Also call the commands of the two compact events where only what was never sent is shortened."""

    @field_validator("pre_compact", "post_compact", "session_start")
    @classmethod
    def _possible(cls, groups: Sequence[Group], info: Any) -> Sequence[Group]:
        words = SOURCES if info.field_name == "session_start" else TRIGGERS
        for group in groups:
            if not any(map(group.matches, words)):
                what = f"the matcher {group.matcher!r} never matches"
                raise ValueError(str(ProfileError(what, given=group.matcher, available=words, label="it may see")))
        return groups
