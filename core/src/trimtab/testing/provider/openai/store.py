"""What the provider remembers of responses: items, conversations, and which item came with which reasoning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from trimtab.testing.provider.openai.errors import invalid_type, missing, refused
from trimtab.testing.provider.openai.items_rules import check_items, check_pairs

__all__ = ["Store"]

Item = Mapping[str, Any]


class Store:
    """Stored items and conversations by id. Pairs of reasoning are known of all items, stored or not."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}
        self._conversations: dict[str, list[Item]] = {}
        self._followers: dict[str, str] = {}
        self._required: dict[str, str] = {}

    def read(self, body: Mapping[str, Any]) -> list[Item]:
        """All items of a request, those of the stored conversation that it continues first; raises `Refused`."""
        given = body.get("input")
        if isinstance(given, str):
            given = [{"type": "message", "role": "user", "content": given}]
        before = self._before(body.get("previous_response_id"))
        if given is None and not before:
            raise missing("input")
        if not isinstance(given or [], list):
            raise invalid_type("input", "one of a string or array of objects")
        check_items(given or [])
        items = [*before, *map(self._resolved, given or [])]
        check_pairs(items, self._followers, self._required)
        return items

    def _before(self, id: str | None) -> Sequence[Item]:
        if id is None:
            return ()
        if id not in self._conversations:
            message = f"Previous response with id '{id}' not found."
            raise refused(message, "previous_response_id", "previous_response_not_found")
        return self._conversations[id]

    def _resolved(self, item: Item) -> Item:
        """The item that a reference names; reasoning with what is sealed in it, also where the client left that out."""
        bare = item.get("type") == "reasoning" and not item.get("encrypted_content")
        if not bare and item.get("type") != "item_reference":
            return item
        if (id := item.get("id")) in self._items:
            return self._items[str(id)]
        raise refused(
            f"Item with id '{id}' not found. Items are not persisted when `store` is set to false. "
            "Try again with `store` set to true, or remove this item from your input.",
            "input",
            status=404,
        )

    def add(self, id: str, items: Iterable[Item], output: Sequence[Item], stored: bool) -> None:
        """Remember a response to ``items``; its conversation only if it is ``stored``."""
        reasoning = ""
        for item, behind in zip_longest(output, output[1:]):
            if item["type"] == "reasoning":
                reasoning = item["id"]
                if behind is not None:
                    self._followers[reasoning] = behind["id"]
            elif reasoning:
                self._required[item["id"]] = reasoning
        if stored:
            self._items |= {item["id"]: item for item in output}
            self._conversations[id] = [*items, *output]
