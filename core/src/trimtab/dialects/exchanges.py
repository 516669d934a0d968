"""The exchanges of a path: assistant messages in a row, and all messages up to the next one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trimtab.conversation import Message

__all__ = ["exchanges"]


def exchanges(path: Sequence[Message], start: int) -> Iterator[tuple[list[Message], list[Message]]]:
    """The answers and the replies of each exchange, from the one that holds ``path[start]`` on."""
    index = min(start, len(path))
    while index and not (path[index - 1].role != "assistant" and index < len(path) and path[index].role == "assistant"):
        index -= 1
    while index < len(path):
        answers, replies = [], []
        while index < len(path) and path[index].role == "assistant":
            answers.append(path[index])
            index += 1
        while index < len(path) and path[index].role != "assistant":
            replies.append(path[index])
            index += 1
        yield answers, replies
