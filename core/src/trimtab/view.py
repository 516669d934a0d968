"""What a stage or a hook looks at: the view, its rounds, turns and results, and the figures around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from trimtab.conversation import Block, Message
from trimtab.edits import KERNEL, REFUSED, RESTORED, hidden
from trimtab.hookspecs import Trigger
from trimtab.names import Names
from trimtab.projection import Item, Pinned, Projection
from trimtab.savings import Savings
from trimtab.tokens import Meter
from trimtab.toolclass import ToolClass, classify, path_of
from trimtab.window import Window

__all__ = ["Context", "Result", "Results", "Round", "Turn", "View"]


@dataclass(slots=True)
class Context:
    """What a session knows beside the projection; the same for all views of one pass."""

    window: Window
    meter: Meter
    names: Names
    tools: Mapping[str, str]
    """Tool-name pattern to tool class."""
    stored: Callable[[str], str]
    owns: Callable[[str], str | None]
    original: Callable[[str], str | None]
    unsent: bool = False
    """`history: unsent`: nothing counts as sent."""
    now: float = 0.0
    head: int = 0
    """Uncalibrated tokens of system and tools."""
    guides: list[str] = field(default_factory=list)
    """What pre_compact hooks advise whoever summarises in this pass."""
    advise: Callable[[], None] = lambda: None
    """Calls these hooks, if they were not in this pass."""
    held: int = 0
    """Leading messages of the path that the provider's cache still holds."""
    trigger: Trigger = "auto"
    compacted: bool = False
    """Whether a boundary was made in this pass."""
    instructions: str = ""
    """What the caller of a manual pass wants of a summary."""
    keep: Any = None
    """What the caller of a manual pass wants to be kept: as in the options of stages that make boundaries."""
    asks: bool = False
    ask_window: Window = field(kw_only=True)
    asks_same: bool = True
    ask_model: str = ""
    ask_timeout: float | None = None
    native: dict[tuple[str, ...], Any] = field(default_factory=dict)
    """By run, the blocks of the provider's own summaries that came in this pass."""
    savings: Savings = field(kw_only=True)
    features: frozenset[str] = frozenset()
    """Server features that the profile switches on and the dialect knows."""
    cleared: float = 0.0
    stage_tools: bool = False
    tool_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """One tool result that the view holds, with the call it answers."""

    view: View
    message: Message
    block: Block
    call: Block | None

    @property
    def id(self) -> str:
        """The block's id."""
        return self.block.id

    @property
    def tool(self) -> str:
        """The tool's name; empty where the call is not part of the conversation."""
        return self.call.name if self.call else ""

    @property
    def input(self) -> Mapping[str, Any]:
        """The call's arguments."""
        return self.call.input if self.call else {}

    @property
    def tool_class(self) -> ToolClass:
        """read, ranged_read, search, shell, edit (an echo of what the call said), web or other."""
        return classify(self.tool, self.input, self.view.context.tools)

    @property
    def path(self) -> str | None:
        """The file that the call names."""
        return path_of(self.input)

    @property
    def text(self) -> str:
        """All text, as said."""
        return self.block.text

    @property
    def shown_text(self) -> str:
        """The text as the view shows it."""
        face = self.view.projection.state.faces.get(self.id)
        return self.block.text if face is None else face.text or ""

    @property
    def replaced(self) -> bool:
        """Whether the view shows another text than was said."""
        return self.id in self.view.projection.state.faces

    @property
    def evicted(self) -> bool:
        """Whether the provider deletes it from its cache."""
        return self.id in self.view.projection.state.evicts

    @property
    def media(self) -> bool:
        """Whether it holds an image or anything else that is not text."""
        return self.block.media

    @property
    def error(self) -> bool:
        """Whether the tool failed."""
        return self.block.error

    @property
    def tokens_said(self) -> float:
        """Calibrated tokens as said."""
        return self.view.context.meter.factor * self.message.sizes[int(self.id.rpartition(".")[2])]

    @property
    def tokens(self) -> float:
        """Calibrated tokens as shown."""
        face = self.view.projection.state.faces.get(self.id)
        if self.evicted:
            return 0.0
        return self.tokens_said if face is None else self.view.context.meter.factor * face.tokens

    @property
    def sent(self) -> bool:
        """Whether an answer follows."""
        return self.view.sent(self.message.depth)

    @property
    def age(self) -> int:
        """Requests since it was first sent; 0 while unsent."""
        return self.view.answers - self.message.answers


class Results(Sequence[Result]):
    """The results in order, made when looked at: walking back from the newest costs only what is walked."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._places = view.projection.results

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[n] for n in range(*index.indices(len(self)))]
        message, n = self._places[index]
        return self._view.result(message, message.blocks[n])


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """One assistant message (or several in a row) with the tool results that answer it."""

    messages: tuple[Item, ...]
    open: bool
    """Whether a call still waits for its result."""


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A user message and all rounds until the next."""

    messages: tuple[Item, ...]


class View:
    """The projection of a running pass: what a stage's accepted edits change shows at once."""

    def __init__(self, projection: Projection, context: Context) -> None:
        self.projection = projection
        self.context = context
        path = projection.path
        self.answers = path[-1].answers + (path[-1].role == "assistant") if path else 0
        """Assistant messages on the path: requests made so far."""
        self._results: tuple[int, Results] | None = None

    @property
    def messages(self) -> Sequence[Item]:
        """What will be sent, in order: messages, folds, inserts."""
        return tuple(self.projection.items)

    @property
    def results(self) -> Sequence[Result]:
        """The tool results that the view holds."""
        version = self.projection.version
        if self._results is None or self._results[0] != version:
            self._results = (version, Results(self))
        return self._results[1]

    def result(self, message: Message, block: Block) -> Result:
        """The result with the call that it answers: the nearest one before it with its id."""
        path = self.projection.path
        for index in range(message.depth - 1, -1, -1):
            for candidate in path[index].blocks:
                if candidate.type == "tool_use" and candidate.call == block.call:
                    return Result(self, message, block, candidate)
            if path[index].role == "assistant" and (not index or path[index - 1].role != "assistant"):
                break
        return Result(self, message, block, None)

    @property
    def rounds(self) -> list[Round]:
        """The rounds that the view shows."""
        groups = self._groups(self.projection.rounds)
        return [Round(items, self._open(items)) for items in groups]

    @property
    def turns(self) -> list[Turn]:
        """The turns that the view shows, the open one last."""
        return [Turn(items) for items in self._groups(self.projection.turns)]

    def _groups(self, starts: Sequence[int]) -> list[tuple[Item, ...]]:
        groups: dict[int, list[Item]] = {}
        for item in self.projection.items:
            if item.message is not None and starts[item.message.depth] >= 0:
                groups.setdefault(starts[item.message.depth], []).append(item)
        return [tuple(items) for items in groups.values()]

    @staticmethod
    def _open(items: Sequence[Item]) -> bool:
        blocks = [block for item in items if item.message for block in item.message.blocks if not block.server]
        answered = {block.call for block in blocks if block.type == "tool_result"}
        return any(block.type == "tool_use" and block.call not in answered for block in blocks)

    def sent(self, depth: int) -> bool:
        """Whether an assistant message follows the path message at ``depth`` (R8)."""
        message = self.projection.path[depth]
        return not self.context.unsent and message.answers + (message.role == "assistant") < self.answers

    # ---------------------------------------------------------------- figures

    @property
    def raw(self) -> int:
        """Uncalibrated tokens of the request, system and tools included."""
        return self.context.head + self.projection.raw

    @property
    def tokens(self) -> float:
        """Calibrated tokens of the request."""
        return self.context.meter.weigh(self.raw, self.on)

    def tokens_after(self, depth: int) -> float:
        """Calibrated tokens of what lies at or behind a path position."""
        total = 0
        for item in reversed(self.projection.items):
            if item.end <= depth:
                break
            total += item.tokens
        return self.context.meter.factor * total

    def on(self, id: str) -> bool:
        """Whether a message lies on this path."""
        return self.projection.conversation.on(self.projection.path, (id,))

    @property
    def held(self) -> int:
        """How many leading messages of the path the provider's cache still holds; editing what lies behind is free."""
        return self.context.held

    @property
    def reads(self) -> dict[str, list[Result]]:
        """The results in the view that read or edit a file, by the path that their call names, in order."""
        found: dict[str, list[Result]] = {}
        for result in self.results:
            if result.path is not None and result.tool_class in ("edit", "ranged_read", "read"):
                found.setdefault(result.path, []).append(result)
        return found

    @property
    def window(self) -> Window:
        """The window and its thresholds, in tokens."""
        return self.context.window

    @property
    def now(self) -> float:
        """Epoch seconds of this pass."""
        return self.context.now

    @property
    def pins(self) -> Sequence[Pinned]:
        """What must stay."""
        return self.projection.state.pinned

    @property
    def inserts(self) -> Sequence[str]:
        """The texts that were inserted on this path so far, also those that a fold hides since."""
        return [text for rows in self.projection.state.inserts.values() for text, _ in rows]

    @property
    def summary(self) -> str:
        """The text of the boundary that the view starts with; empty where there is none."""
        boundary = self.projection.boundary
        return boundary.text if boundary is not None else ""

    @property
    def guides(self) -> Sequence[str]:
        """Advice of pre_compact hooks for a summary made in this pass."""
        self.context.advise()
        return self.context.guides

    def holds(self, block: Block, text: str = "") -> Literal["", "carried", "shown"]:
        """Whether the view holds a block, or just ``text`` in it, as said: ``shown``, or ``carried`` behind a fold.

        Only of what it holds there can be a pin, and of what a fold carries only a moving one. Raises `KeyError` for a
        block of another conversation.
        """
        projection, state = self.projection, self.projection.state
        item = projection.covering(block.id.partition(".")[0])
        if item is None or block.id in state.evicts:
            return ""
        if item.fold is not None:
            carried = (pin.text for pin in item.fold.pins if pin.block == block.id)
            return "carried" if any(not words or (text and text in words) for words in carried) else ""
        face = state.faces.get(block.id)
        if projection.repaired(block):  # of what was mended, words may still stand there
            _, blocks = projection.dialect.parse(item.wire or {}, "")
            whole = bool(text) and any(text in one.text for one in blocks)
        else:
            whole = face is None or (not (block.media and not text) and (text or block.text) in (face.text or ""))
        return "shown" if whole else ""

    def notes(self, key: str) -> Any:
        """The newest note under ``key`` on this path; None where there is none."""
        return self.projection.state.notes.get(key)

    @property
    def restored(self) -> frozenset[str]:
        """Ids of the messages that came back when a decision was undone: what would hide them again is refused."""
        notes = self.projection.state.notes
        rows = self.projection.rows if any(key.endswith(RESTORED) for key in notes) else ()
        undone = (one for seq, one in rows if notes.get(f"{KERNEL}{seq}:{RESTORED}"))
        return frozenset(id.partition(".")[0] for one in undone for id in hidden(one))

    # ---------------------------------------------------------------- what a summary is made for, and by whom

    @property
    def trigger(self) -> Trigger:
        """What this pass is for: ``auto``, ``manual`` or ``overflow``."""
        return self.context.trigger

    @property
    def compacted(self) -> bool:
        """Whether a boundary was made in this pass."""
        return self.context.compacted

    @property
    def instructions(self) -> str:
        """What the caller of `Session.compact` wants of a summary."""
        return self.context.instructions

    @property
    def keep(self) -> Any:
        """What the caller of `Session.compact` wants to be kept, in the words of the option ``keep``; None: unsaid."""
        return self.context.keep

    @property
    def asks(self) -> bool:
        """Whether there is a model to ask."""
        return self.context.asks

    @property
    def ask_window(self) -> Window:
        """The window of the model that answers an `Ask`."""
        return self.context.ask_window

    @property
    def asks_same(self) -> bool:
        """Whether that is the model of the session, so that ``Ask(shared=True)`` finds its cache."""
        return self.context.asks_same

    def weight(self, items: Iterable[Item]) -> float:
        """Calibrated tokens of some messages of the view."""
        return self.context.meter.factor * sum(item.tokens for item in items)

    def count(self, text: str) -> float:
        """Calibrated tokens of a text."""
        return self.context.meter.factor * self.projection.conversation.count(text)

    # ---------------------------------------------------------------- what the provider does, and what the model may

    def offers(self, feature: str) -> bool:
        """Whether the provider has a feature (as the profile's ``provider`` names them) and did not refuse it."""
        return feature in self.context.features and not self.notes(f"{KERNEL}{feature}:{REFUSED}")

    @property
    def cleared(self) -> float:
        """Tokens that the provider says it cleared by itself from the last request."""
        return self.context.cleared

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The tools that the request offers."""
        return self.context.tool_names

    @property
    def stage_tools(self) -> bool:
        """Whether stages may offer tools of their own."""
        return self.context.stage_tools

    def tag(self, message: Item | Message) -> str:
        """The tag that a message ends with; empty where it has none."""
        said = message.message if isinstance(message, Item) else message
        return self.projection.tag(said) if said is not None else ""

    def tagged(self, tag: str) -> list[Item]:
        """The messages in the view that end with this tag."""
        return [item for item in self.projection.items if tag and self.tag(item) == tag]

    def shown(self, name: str) -> int:
        """How many blocks of the view show this name (an identifier or a path) verbatim."""
        return self.context.names.shown(self.projection, name)

    def stored(self, block: Block) -> str:
        """Where the original text of a block will lie once an edit hides it: a path for a placeholder."""
        return self.context.stored(block.text)

    def stored_text(self, text: str) -> str:
        """Where the ``full`` text of a fold will lie."""
        return self.context.stored(text)

    def original(self, path: str) -> str | None:
        """The text that a placeholder of this session points to, by its path or its last part; None where none does.

        Raises `StorageError`.
        """
        return self.context.original(path)

    def is_stored(self, path: str) -> bool:
        """Whether a path leads to an original that we stored."""
        return self.context.owns(path) is not None

    def __iter__(self) -> Iterator[Item]:
        return iter(self.projection.items)
