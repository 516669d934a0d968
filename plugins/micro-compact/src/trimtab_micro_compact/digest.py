"""``form: digest``: old results become a line and the names that nothing else in the view shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from trimtab import Replace
from trimtab.texts import Known, clean, name_of, names, tokens, word, worth

from trimtab_micro_compact import texts
from trimtab_micro_compact.media import large, marks
from trimtab_micro_compact.old import goes, waiting
from trimtab_micro_compact.options import MicroOptions

if TYPE_CHECKING:
    from trimtab.conversation import Message
    from trimtab.view import Result, View

__all__ = ["digest"]

NAMES = "\nNames by line:\n"


def digest(view: View, options: MicroOptions, known: Known) -> Iterator[tuple[int, Replace]]:
    """What is older than ``age``, or than ``cold_age`` where nothing is cached, oldest first, with its position."""
    held, answers = view.held, view.answers
    for message, n, shown in waiting(view, texts.OLD):
        age = answers - message.answers
        if age <= min(options.age, options.cold_age):
            return
        if age <= (options.cold_age if message.depth >= held else options.age):
            continue
        for edit in _made(view, message, n, shown, options, known, cold=held == 0):
            yield message.depth, edit


def _made(
    view: View, message: Message, n: int, shown: str, options: MicroOptions, known: Known, *, cold: bool
) -> Iterator[Replace]:
    """Media go only where nothing at all is cached: some providers then read all messages anew."""
    block = message.blocks[n]
    heavy = cold and large(view, message, n, options.media)
    if block.type != "tool_result":
        if heavy:
            yield Replace(block, texts.attached(*marks(block)), "large and old")
        return
    result = view.result(message, block)
    reason = f"{name_of(result.tool)}: old"
    if (result.media and not result.replaced and not heavy) or options.tools.get(result.tool) == "keep":
        return
    if goes(result, options):
        text = _text(result, shown, marks(block) if heavy else [], options, known)
        if heavy or worth(text, shown):
            known.forget(shown, text)
            yield Replace(result, text, reason)
    elif heavy:
        yield Replace(result, texts.stripped(result, marks(block)), f"{reason}, large")


def _text(result: Result, shown: str, media: list[str], options: MicroOptions, known: Known) -> str:
    """The line, and names as far as there is room for them; an edit only repeats what its call says."""
    line = texts.line(result, media)
    said = clean(result.text)
    room = int(min(options.share * len(said), min(options.most, 0.9 * len(shown)) - len(line) - len(NAMES)))
    if room > 0 and result.tool_class != "edit":
        found = names(said, room, options.most, _beside(result, shown, known), head=0)
        if found:
            return f"{line}{NAMES}{found}"
    return line


def _beside(result: Result, shown: str, known: Known) -> Callable[[str], int]:
    """How many blocks show a name, this one counted as if it were shown in full."""
    if not result.replaced:
        return known
    own = set(map(word, tokens(shown)))
    return lambda name: known(name) + (name not in own)
