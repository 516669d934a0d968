"""The closed vocabulary of changes. Stages and hooks yield the public ones; the kernel writes all as ledger rows.

Targets are ids. A stage may hand over the things it got from the view (a result, a round, a list of rounds): they
are reduced to ids here, so that a ledger row never holds more than ids, frozen text and data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal, get_args

from trimtab.errors import plain

__all__ = [
    "BOUNDARY",
    "KERNEL",
    "REFUSED",
    "RESTORED",
    "UNTAKEN",
    "Anchor",
    "Drop",
    "Edit",
    "Evict",
    "Fold",
    "Guide",
    "Insert",
    "Note",
    "Param",
    "Pin",
    "Repair",
    "Replace",
    "Restore",
    "Tag",
    "Warn",
    "block_id",
    "from_row",
    "hidden",
    "lasting",
    "message_ids",
    "targets",
    "to_row",
]

KERNEL = "kernel:"
"""How the keys of the kernel's own notes begin; no stage may write them."""

RESTORED = "restored"
"""The kernel's note that a decision (its number in the place of a plugin's name) was undone on request."""

REFUSED = "refused"
"""The kernel's note that the provider did not take a feature (its name in the place of a plugin's)."""

UNTAKEN = f"{KERNEL}compaction:{REFUSED}"
"""The kernel's note that the provider does not take back the summaries that it wrote."""

BOUNDARY = f"{KERNEL}pass:boundary"
"""The key of the kernel's note of what a boundary is: `trimtab.report.Boundary`."""

Anchor = Literal["after_boundary", "system", "tail"]


def block_id(target: Any) -> str:
    """The id of a block, given as an id, a block, or anything with a ``block``."""
    target = getattr(target, "block", target)
    return plain(getattr(target, "id", target))


def message_ids(target: Any) -> tuple[str, ...]:
    """The ids of messages: given as ids, messages, rounds, turns, or any nesting of these."""
    if isinstance(target, str):
        return (plain(target),)
    if hasattr(target, "messages"):
        return message_ids(target.messages)
    if isinstance(target, Iterable):
        return tuple(id for item in target for id in message_ids(item))
    covers = getattr(target, "covers", None)
    return tuple(covers) if covers is not None else (plain(target.id),)


@dataclass(frozen=True, slots=True)
class Replace:
    """Show ``text`` instead of a block: a text, a result, an image or a document. Must be shorter."""

    kind: ClassVar[str] = "replace"
    block: Any
    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Drop:
    """Leave whole rounds or turns out of the view, or (given block ids) thinking blocks."""

    kind: ClassVar[str] = "drop"
    what: Any
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Pin:
    """Keep a block, or the sentence ``text`` in it, verbatim. ``Pin("some words")`` finds the block by its words.

    A ``moving`` one (the last N, the newest file, what fits a budget) holds until its hook is asked again, and leaves
    no row.
    """

    kind: ClassVar[str] = "pin"
    block: Any
    reason: str = ""
    text: str = ""
    moving: bool = False
    quote: str = field(default="", compare=False)
    """How a block begins that is pinned whole; filled in by the kernel."""

    @property
    def key(self) -> tuple[str, str]:
        """What is pinned: a block, or words in it."""
        return str(self.block), self.text


@dataclass(frozen=True, slots=True)
class Fold:
    """Show one user-voice message with ``text`` instead of a run of whole rounds; pins inside are carried after it.

    A fold that starts where the view starts is a boundary.
    """

    kind: ClassVar[str] = "fold"
    run: Any
    text: str
    reason: str = ""
    carried: tuple[Any, ...] = ()
    """Pinned wire blocks that follow the text, frozen; filled in by the kernel."""
    pins: tuple[Pin, ...] = ()
    """The pins that these are; filled in by the kernel."""
    block: Any = None
    """What the provider made of the run and wants back in the place of ``text``; filled in by the kernel."""
    full: str = field(default="", compare=False, repr=False)
    """All that the run says, for a model to read: goes to where `View.stored_text` says, not into the ledger."""


@dataclass(frozen=True, slots=True)
class Insert:
    """Add a user-voice message: at the ``tail``, ``after_boundary``, or (first request only) to the ``system`` text."""

    kind: ClassVar[str] = "insert"
    anchor: Anchor
    text: str
    reason: str = ""
    at: str = ""
    """The message it follows; filled in by the kernel."""

    @property
    def key(self) -> str:
        """The place in the view: what is inserted there comes in the order of the ledger."""
        return "system" if self.anchor == "system" else f"{self.anchor}:{self.at}"


@dataclass(frozen=True, slots=True)
class Evict:
    """Have the provider delete a sent result from its cache; what is sent stays as it is.

    ``text`` stands for the result once that works no more: then the kernel makes a `Replace` of it.
    """

    kind: ClassVar[str] = "evict"
    block: Any
    text: str
    reason: str = ""
    at: str = ""
    """The message that the deletion is sent with; filled in by the kernel."""


@dataclass(frozen=True, slots=True)
class Param:
    """Set a request parameter: a ``feature`` by name, its ``settings`` (JSON) in the words of `Dialect.extra`."""

    kind: ClassVar[str] = "param"
    feature: str
    settings: Any
    reason: str = ""
    at: str = ""
    """The first message of the conversation that it is for; filled in by the kernel."""


@dataclass(frozen=True, slots=True)
class Restore:
    """Undo earlier decisions, by sequence number."""

    kind: ClassVar[str] = "restore"
    decisions: tuple[int, ...]
    reason: str = ""
    at: str = ""
    """The first message that it brings back: where that is not, the others are not; filled in by the kernel."""


@dataclass(frozen=True, slots=True)
class Note:
    """A stage's memory: ``data`` (JSON) under ``key``, valid on paths that contain the message ``upto``."""

    kind: ClassVar[str] = "note"
    key: str
    data: Any
    upto: Any = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """The kernel's own mending of a broken message: its blocks as they will be sent (none: it is left out)."""

    kind: ClassVar[str] = "repair"
    message: str
    blocks: tuple[Any, ...] = field(default_factory=tuple)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Tag:
    """The kernel's own: from this message on, each user-role message ends with a tag that names it."""

    kind: ClassVar[str] = "tag"
    at: str


@dataclass(frozen=True, slots=True)
class Guide:
    """A hook's advice to whoever summarises in this pass; never recorded."""

    text: str


@dataclass(frozen=True, slots=True)
class Warn:
    """What a hook has to say to the user: it stands in the report's warnings, and is never recorded."""

    text: str


Edit = Replace | Drop | Fold | Insert | Evict | Param | Restore | Note | Pin | Repair | Tag
_KINDS: dict[str, type[Any]] = {kind.kind: kind for kind in get_args(Edit)}


def targets(edit: Edit) -> tuple[str, ...]:
    """The ids that must lie on a path for a recorded edit to apply there."""
    match edit:
        case Replace(block=id) | Pin(block=id) | Repair(message=id) | Insert(at=id) | Restore(at=id):
            return (id,)
        case Evict(block=id, at=at):
            return (id, at)
        case Param(at=id) | Tag(at=id):
            return (id,)
        case Drop(what=ids) | Fold(run=ids):
            return tuple(ids)
        case Note(upto=id):
            return (id,) if id else ()


def hidden(edit: Edit) -> tuple[str, ...]:
    """The ids of the messages and blocks that an edit keeps from the model."""
    if isinstance(edit, Evict):
        return (edit.block,)
    return targets(edit) if isinstance(edit, (Drop, Fold, Replace)) else ()


def lasting(edit: Edit) -> bool:
    """What `Restore` does not undo: pins, notes, repairs, tags, and thinking that was removed or is left out (R23)."""
    thinking = isinstance(edit, Drop) and "." in edit.what[0]
    unbinds = isinstance(edit, Param) and edit.feature == "drop_block"  # what is restored changes the prefix once more
    return thinking or unbinds or isinstance(edit, (Note, Pin, Repair, Restore, Tag))


def to_row(edit: Edit) -> dict[str, Any]:
    """An edit as JSON-able data."""
    fields = {
        key: value for key, value in asdict(edit).items() if key in ("data", "settings") or value not in ("", (), None)
    }
    fields.pop("full", None)
    for pin in (fields, *fields.get("pins", ())):
        pin.pop("moving", None)
    return {"kind": edit.kind, **fields}


def from_row(row: Mapping[str, Any]) -> Edit:
    """The edit that `to_row` wrote, lists as tuples; raises `KeyError`, `TypeError`, `ValueError` for what is none."""
    lists = {
        key: tuple(value) for key, value in row.items() if isinstance(value, list) and key not in ("data", "settings")
    }
    values = {key: value for key, value in row.items() if key != "kind"} | lists
    if "pins" in values:
        values["pins"] = tuple(Pin(**pin) for pin in values["pins"])
    edit: Edit = _KINDS[row["kind"]](**values)
    many = [value for key, value in values.items() if key in ("decisions", "run", "what")]
    if not all(value and isinstance(value, tuple) for value in many):
        raise ValueError("no targets")
    return edit
