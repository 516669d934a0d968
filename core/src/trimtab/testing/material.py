"""What the contracts feed to stages and hooks: conversations for one purpose each, pins, and answers of a model."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator
from typing import Any, ClassVar

from hypothesis import strategies as st

from trimtab.ask import Ask
from trimtab.edits import Fold, Pin, Replace
from trimtab.hookspecs import hookimpl
from trimtab.stage import Hook, Stage
from trimtab.testing.wires import WIRES, Answer, Call, Exchange, Result
from trimtab.texts import clean
from trimtab.view import View

__all__ = [
    "BAD_ANSWERS",
    "STAGES",
    "Asker",
    "Pinner",
    "Short",
    "Summary",
    "halves",
    "moody",
    "pinner",
    "rounds",
    "seeds",
    "small",
]

BAD_ANSWERS: list[Any] = ["", " \n", None, 7, "<tool_use>", "too long " * 50_000, TimeoutError("down")]
"""What a model may answer that no stage can use."""
LINE = "src/parser.py:{n}: def load_{n}(path): reads line {n} of the file\n"


def seeds() -> st.SearchStrategy[int]:
    """Seeds of two walks that must be the same."""
    return st.integers(min_value=0, max_value=2**32)


def rounds(dialect: str, count: int, text: str = "") -> list[Any]:
    """A question and ``count`` rounds of one call and its result, most of 400 characters, one in 20 of 20,000."""
    wire = WIRES[dialect]
    messages = [wire.said("user", ["Mend the parser, and never push to the main branch."])]
    for n in range(count):
        said = text or "".join(LINE.format(n=n + line) for line in range(300 if n % 20 == 3 else 6))
        answer = Answer(n, text=f"Step {n}.", calls=[Call(f"call_{n}", "Read", {"file_path": f"/src/f{n % 40}.py"})])
        messages += wire.exchange(Exchange(answer, [Result(f"call_{n}", [said])], []))
    return messages


def small(dialect: str) -> list[list[Any]]:
    """Conversations with nothing in them to shorten."""
    wire = WIRES[dialect]
    return [[], [wire.said("user", ["Hello."])], [wire.said("system", ["Be good."])]]


def halves(dialect: str) -> Iterator[list[Any]]:
    """Growing conversations whose results are full of lone surrogates, at every place where a text may be cut."""
    text = "".join(f"{n}: \ud83d half of it\n" for n in range(3_000))
    for count in range(1, 5):
        yield rounds(dialect, count, text[count:])


class Asker:
    """A model that gives one answer, or (None said) a short summary with all sections that are asked for."""

    def __init__(self, *answer: Any) -> None:
        self.answer = answer

    def __call__(self, ask: Ask) -> Any:
        """The answer; an exception is raised."""
        answer = self.answer[0] if self.answer else "\n".join([*ask.sections, "The parser was read."])
        if isinstance(answer, Exception):
            raise answer
        return answer


def moody(rng: random.Random) -> Callable[[Ask], Any]:
    """A model that answers well in two of three cases."""

    def answer(ask: Ask) -> Any:
        well = rng.randrange(3) < 2
        return (Asker() if well else Asker(BAD_ANSWERS[rng.randrange(len(BAD_ANSWERS))]))(ask)

    return answer


class Pinner(Hook):
    """Pins what the user said and every second result."""

    name: ClassVar[str] = "pin-all"

    @hookimpl
    def pre_compact(self, view: View) -> Iterator[Pin]:
        """All of them, each time."""
        for result in view.results[::2]:
            yield Pin(result.block, "every second result")
        for item in view.messages:
            if item.message and item.message.kind == "user":
                yield from (Pin(block, "the user's words") for block in item.message.blocks if block.type == "text")


def pinner(rng: random.Random) -> type[Hook]:
    """A hook that pins a block or a part of one now and then."""

    class Pins(Hook):
        name: ClassVar[str] = "pins-at-random"

        @hookimpl
        def pre_compact(self, view: View) -> Iterator[Pin]:
            blocks = [block for message in view.projection.path for block in message.blocks]
            if rng.randrange(4) == 3:
                block = blocks[rng.randrange(len(blocks))]
                start = rng.randrange(len(block.text) or 1)
                yield Pin(block, "at random", text=block.text[start : start + 9] if rng.randrange(2) else "")

    return Pins


class Short(Stage):
    """Shows the first 200 characters of every new result: free."""

    name: ClassVar[str] = "short"

    def propose(self, view: View) -> Generator[Any, Any, None]:
        """Newest first."""
        for result in reversed(view.results):
            if result.sent:
                return
            if not result.replaced:
                yield Replace(result, f"{clean(result.text)[:200]} [{view.stored(result.block)}]", "long")


class Summary(Stage):
    """Folds all but the last four messages: a boundary."""

    name: ClassVar[str] = "summary"

    def propose(self, view: View) -> Generator[Any, Any, None]:
        """One of these ends between two rounds."""
        for end in range(4, 7):
            yield Fold(view.messages[:-end], "Summary: the parser was read.", "old")


STAGES = [Short, Summary]
