"""Every error that trimtab raises: where it is, what is wrong, the nearest right thing, what is available."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "AskFailed",
    "ContextOverflow",
    "Lost",
    "Overflow",
    "PluginError",
    "ProfileError",
    "StorageError",
    "ToolError",
    "TranscriptError",
    "TrimtabError",
    "Unknown",
    "Veto",
    "told",
]


def told(error: BaseException) -> str:
    """An error as one line; one that cannot even be formatted is named by its type."""
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:  # a plugin's own __str__
        return type(error).__name__


def plain(text: Any) -> str:
    """A text of a plugin's making as a string of our own: not of a subclass that answers as it likes."""
    return str.__str__(text if isinstance(text, str) else str(text))


@dataclass(frozen=True, slots=True)
class Overflow:
    """A request that the provider refused as too large, or that we count as such; sizes in tokens."""

    tokens: float
    """What it weighed: as the provider said, else as we counted."""
    limit: float
    """The most that is taken."""
    target: float = 0.0
    """Where the view must end for the recovery to stop."""
    attempt: int = 0
    """How many recoveries of the same request came before this one, also in another process."""
    estimated: bool = False
    """Found by our own count, before anything was sent."""
    bytes: bool = False
    """The limit was one of bytes: fewer tokens may not help, less media will."""

    @property
    def gap(self) -> float:
        """By how much it was too large; 0 where that was not told."""
        return max(0.0, self.tokens - self.limit)


class TrimtabError(Exception):
    """The base of all errors; its text is complete and meant to be read by the person who can mend it.

    ``where`` is a place (``file:line: key``), ``what`` says what is wrong there, ``given`` is the word to find a
    neighbour for among ``available``, and ``label`` says what kind of list ``available`` is.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        given: str = "",
        available: Iterable[str] = (),
        label: str = "available",
    ) -> None:
        self.what = what
        self.where = where
        self.available = sorted(available)
        near = difflib.get_close_matches(given, self.available, n=1, cutoff=0.6) if given else []
        self.nearest = near[0] if near else None
        text = f"{where}: {what}" if where else what
        if self.nearest:
            text += f"; did you mean {self.nearest!r}?"
        if self.available:
            text += f" ({label}: {', '.join(self.available)})"
        super().__init__(text)


class ProfileError(TrimtabError):
    """A profile cannot be read, or says something that does not exist."""


class PluginError(TrimtabError):
    """A plugin cannot be loaded; names the plugin, its distribution and version."""


class Unknown(TrimtabError):  # noqa: N818 - reads as what it says: unknown session, part, decision
    """A name was looked up and nothing has it."""


class StorageError(TrimtabError):
    """The ledger or the blob store cannot be read or written."""


class Lost(StorageError):  # noqa: N818 - the field's word is "lost update"
    """Another process appended to this ledger first; carries nothing, the caller reloads."""


class TranscriptError(TrimtabError):
    """A file is not a recorded conversation that any reader knows."""


class ContextOverflow(TrimtabError):  # noqa: N818 - the term of the field
    """The request cannot be brought below the window; the text says what fills it and what to do."""

    report: Any = None
    """The `Report` of the pass that could not."""


class AskFailed(TrimtabError):  # noqa: N818 - thrown into stages as an outcome
    """A model's answer is unusable (empty, cut off, tool markup, too long) or did not come."""

    asked = True
    """False where the kernel did not even ask: it would have been in vain."""
    overflow: Overflow | None = None
    """Set where the question was too long for the model that was asked; its sizes are 0 where they were not told."""
    usage: Any = None
    """What the provider reported for an answer that cannot be used, as of an `Answer`."""


class ToolError(TrimtabError):
    """A stage's tool cannot do what the model asked; the text is for the model to act on."""


class Veto(Exception):  # noqa: N818 - not an error: a hook's decision
    """Raised by a hook to refuse edits: all breaking ones, or those of the ``stages`` it names."""

    def __init__(self, reason: str, stages: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.reason = str(reason)
        self.stages = tuple(str(stage) for stage in stages)
