"""The stage: for each message of the user picks memory files, and inserts them at the tail."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from trimtab import Ask, Insert, Note, Stage, StageOptions
from trimtab.errors import AskFailed
from trimtab.texts import flat

from trimtab_relevant_memories.files import TAG, Memory, read, safe, scan
from trimtab_relevant_memories.options import MemoriesOptions
from trimtab_relevant_memories.question import NAME, chosen, question
from trimtab_relevant_memories.words import brief, by_words

if TYPE_CHECKING:
    from trimtab.conversation import Message
    from trimtab.view import View

__all__ = ["RelevantMemories"]

PICKED = "relevant-memories"
"""The note of what a model picked, and for which message."""
DONE = "relevant-memories:inserted"
"""The note of the message for which files were inserted last."""
ENOUGH = 60_000
"""Bytes of memories in the view from which on no more are picked (the reference system's 60 KB)."""
DAY = 86_400.0
_HEAD = "[From a memory file, not from the user."


class RelevantMemories(Stage):
    """Shows the model the few memory files that bear on what the user just said, often none."""

    name: ClassVar[str] = "relevant-memories"
    Options: ClassVar[type[StageOptions]] = MemoriesOptions
    options: MemoriesOptions

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        self._headers: dict[tuple[str, int, int], tuple[str, str]] = {}
        """What the files' headers say, by path, time and size."""
        self._asked = ""
        """The message for which a model was asked last."""
        self._words: tuple[str, list[str]] = ("", [])
        """The message for which files were picked by words last, and these."""

    def propose(self, view: View) -> Generator[Any, Any, None]:
        """Nothing: what was sent stays."""
        yield from ()

    def free(self, view: View) -> Iterator[Insert | Note]:
        """What was picked and is not inserted yet, at the tail as soon as that can take it."""
        message, files = self._waiting(view)
        path = view.projection.path
        if not files or path[-1].role != "user" or view.tokens >= view.window.auto:
            return
        found = {memory.place: memory for memory in self._scan()}
        texts = [self._text(view, found[file]) for file in files if file in found]
        for text in filter(None, texts):
            yield Insert("tail", text, "picked for what the user said")
        tail = view.projection.state.inserts.get(f"tail:{path[-1].id}", ())
        if not any(texts) or any(text in texts for text, _ in tail):
            yield Note(DONE, message, message)

    def observe(self, view: View) -> Generator[Ask | Note, Any, None]:
        """Once for each message of the user: a model picks, or where it fails the words in common do."""
        said = _said(view)
        if said is None or not self._asks(view) or said.id in (self._asked, _noted(view)[0]):
            return
        self._asked, text = said.id, _text(said)
        memories = self._new(view, text)
        if not memories:
            return
        ask, told = question(view, text, memories, self.options.count)
        try:
            picked = chosen((yield ask), told)
        except AskFailed:
            picked = by_words(text, memories)
        files = [memory.place for memory in picked[: self.options.count]]
        yield Note(PICKED, {"message": said.id, "files": files}, said.id)

    # ------------------------------------------------------------------

    def _asks(self, view: View) -> bool:
        return self.options.pick == "model" and view.asks

    def _waiting(self, view: View) -> tuple[str, list[str]]:
        """The message that files were picked for, and these, where they are not inserted yet.

        What a model picks comes one request late, after the user's next message at the latest. Words in common are
        found at once, so only where that message is the newest.
        """
        if self._asks(view):
            message, files = _noted(view)
            return ("", []) if view.notes(DONE) == message else (message, files)
        said = _said(view)
        if said is None or said is not view.projection.path[-1] or view.notes(DONE) == said.id:
            return "", []
        if self._words[0] != said.id:
            picked = by_words(_text(said), self._new(view, _text(said)))
            self._words = said.id, [memory.place for memory in picked[: self.options.count]]
        return self._words

    def _scan(self) -> list[Memory]:
        return scan(self.folder, self.options.folder, self._headers)

    def _new(self, view: View, said: str) -> list[Memory]:
        """The memories to pick from: none for one word or where enough is shown, else all that are not shown as is."""
        shown = [item.text for item in view if item.message is None and item.text.startswith(_HEAD)]
        if brief(said) or sum(len(text.encode()) for text in shown) >= ENOUGH:
            return []
        return [memory for memory in self._scan() if not self._shown(memory, shown)]

    def _shown(self, memory: Memory, shown: list[str]) -> bool:
        """Whether one of the texts is what the memory says."""
        mine = [text.partition("\n")[2] for text in shown if memory.spelled in text]
        return bool(mine) and self._framed(memory) in mine

    def _text(self, view: View, memory: Memory) -> str:
        """What is shown of a memory; empty where it says nothing."""
        framed = self._framed(memory)
        days = int((view.now - memory.time) // DAY)
        age = f" Written {days} day{'s' * (days > 1)} ago; check before relying on it." if days > 0 else ""
        return f"{_HEAD}{age}]\n{framed}" if framed else ""

    def _framed(self, memory: Memory) -> str:
        """All that a file gives, in a frame that nothing in it can close; empty where it says nothing."""
        body = read(memory, self.options.lines, self.options.bytes)
        title = f"{memory.spelled} ({safe(flat(memory.name, NAME))}):"
        return f"<{TAG}>\n{title}\n{safe(body)}\n</{TAG}>" if body else ""


def _noted(view: View) -> tuple[str, list[str]]:
    """What a model picked: for which message, and which files."""
    note = view.notes(PICKED)
    note = note if isinstance(note, dict) else {}
    files = note.get("files")
    return str(note.get("message", "")), [str(file) for file in files] if isinstance(files, list) else []


def _said(view: View) -> Message | None:
    """The message that opened the turn, the user's newest."""
    path, turns = view.projection.path, view.projection.turns
    return path[turns[-1]] if turns and turns[-1] >= 0 else None


def _text(message: Message) -> str:
    return "\n".join(block.text for block in message.blocks if block.type == "text")
