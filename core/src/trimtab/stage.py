"""What plugin authors subclass: a stage or a hook, and its options."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict
from pydantic_core import CoreSchema, core_schema

from trimtab.errors import ProfileError
from trimtab.values import Amount, Size, amount, duration

if TYPE_CHECKING:
    from trimtab.dialect import Tool
    from trimtab.errors import Overflow
    from trimtab.view import View

__all__ = ["Condition", "Hook", "HookOptions", "Stage", "StageOptions", "When"]
WORDS = {"always": None, "cold": None, "idle": "60m", "over": "auto", "pays": None}
LEVELS = ("auto", "block", "warn")


@dataclass(frozen=True, slots=True)
class Condition:
    """One word of a ``when``: ``always``, ``cold``, ``idle`` (value in seconds), ``over`` or ``pays``.

    The value of ``over``: tokens (int), a share of the effective window (float, above 0 up to 1), or a level.
    """

    word: str
    value: float | str | None = None

    @classmethod
    def of(cls, word: Any, value: Any = None) -> Condition:
        """Check and convert what a profile says; raises ValueError."""
        if word not in WORDS:
            raise ValueError(str(ProfileError(f"no condition named {word!r}", given=str(word), available=WORDS)))
        example = WORDS[word]
        if (example is None) != (value is None):
            raise ValueError(f"{word} needs a value, as {{{word}: {example}}}" if example else f"{word} takes no value")
        if word == "idle":
            return cls(word, duration(value))
        return cls(word, value if value is None or value in LEVELS else amount(value, LEVELS))


@dataclass(frozen=True, slots=True)
class When:
    """Conditions, open when one of them is; without any, only free edits pass."""

    words: tuple[Condition, ...] = ()

    @classmethod
    def of(cls, *said: Any) -> When:
        """Read words (``cold``), mappings (``{"over": 0.9}``), lists of these, or a When; raises ValueError."""
        words: list[Condition] = []
        for item in said:
            if isinstance(item, When | list | tuple):
                words += item.words if isinstance(item, When) else cls.of(*item).words
            elif isinstance(item, Mapping):
                words += [Condition.of(word, value) for word, value in item.items()]
            else:
                words.append(Condition.of(item))
        return cls(tuple(words))

    def plain(self) -> list[Any]:
        """Give back what `of` reads."""
        return [item.word if item.value is None else {item.word: item.value} for item in self.words]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        said, plain = core_schema.any_schema(), core_schema.plain_serializer_function_ser_schema(cls.plain)
        return core_schema.no_info_plain_validator_function(cls.of, json_schema_input_schema=said, serialization=plain)


class HookOptions(BaseModel):
    """A hook's keys in a profile; a hook subclasses it with its own, each documented by a docstring."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class StageOptions(HookOptions):
    """The keys of every stage; a stage subclasses it with its own, each documented by a docstring."""

    when: When = When()
    """When edits of sent content may pass; free edits pass at once."""
    at_least: Size = 0
    """Tokens; smaller batches of edits of sent content wait, and ``pays`` weighs again after that much growth."""
    unless: str | None = None
    """A stage's name: closed while that one is listed and working."""
    target: Amount | None = None
    """Where a pass opened by ``over`` ends: tokens, or a share of the effective window."""
    warm: Literal["allow", "refuse"] = "refuse"
    """Whether ``always`` may edit what a warm cache holds."""


class Hook:
    """A class with methods of `trimtab.hookspecs`, each marked ``@hookimpl``."""

    name: ClassVar[str]
    Options: ClassVar[type[BaseModel]] = HookOptions
    folder: Path = Path()
    """Where programs and files of its own are seen from: the folder of the file that lists it (of a packaged one the
    project's), else the working directory. Set before anything is called, after ``__init__``."""
    project: Path = Path()
    """The folder of the project's ``trimtab.yaml``, else the working directory: where the agent's files are."""
    guard: Callable[[Sequence[str]], None] | None = None
    """Set by the kernel where what it runs needs the user's trust; `check` calls it."""

    def __init__(self, options: Any = None) -> None:
        self.options: Any = self.Options() if options is None else options

    def runs(self) -> Sequence[Sequence[str]]:
        """Tell the command lines (argv) that it may start; relative names in them are seen from `folder`."""
        return ()

    def check(self, argv: Sequence[str]) -> None:
        """Call this right before a command is started.

        Raises `PluginError` where a project's profile listed this hook and the user does not trust this command line
        (yet, or any more), or a file that it names changed since; and where its program or script is not there.
        """
        from trimtab.trust import missing  # reading a profile imports this module

        if self.guard is not None:
            self.guard(argv)
        if error := missing(argv, self.folder):
            raise error


class Stage:
    """A strategy: looks at the view and yields edits, best first; the kernel decides which pass, and when."""

    name: ClassVar[str]
    Options: ClassVar[type[StageOptions]] = StageOptions
    folder: Path = Path()
    """As with `Hook.folder`."""
    project: Path = Path()
    """As with `Hook.project`."""

    def __init__(self, options: Any = None) -> None:
        self.options: Any = self.Options() if options is None else options

    def propose(self, view: View) -> Generator[Any, Any, None]:
        """Yield edits of what the view gave; ``answer = yield Ask(…)`` is the only I/O."""
        raise NotImplementedError(f"stage {self.name!r} has no propose()")

    def free(self, view: View) -> Iterable[Any]:
        """Yield free edits (inserts at the tail, evictions, parameters) in every pass, also where no `when` is open."""
        return ()

    def observe(self, view: View) -> Iterable[Any]:
        """Yield `Note` and `Ask` for later: runs after an answer, from its first Ask on in the background.

        ``view`` is that of the request that was answered, and stays as it is.
        """
        return ()

    def recover(self, view: View, overflow: Overflow) -> Iterable[Any]:
        """Yield edits like `propose` where the request is too large: all pass that are safe, until the target."""
        return ()

    def tags(self) -> bool:
        """Whether it wants user-role messages to end with a tag by which the model can name them."""
        return False

    def tools(self, view: View) -> Sequence[Tool]:
        """Tools for the model, where the session offers stage tools: asked once, before the first request."""
        return ()

    def call_tool(self, view: View, name: str, input: Mapping[str, Any]) -> Generator[Any, Any, str]:
        """The model called one of its tools: yield `Note`, return the result's text; raises `ToolError` to refuse."""
        raise NotImplementedError(f"stage {self.name!r} has no call_tool()")
