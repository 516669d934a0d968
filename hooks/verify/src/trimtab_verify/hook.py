"""The hook: after each pass that decided something it looks whether what must stay is still there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from trimtab import Hook, Insert, Veto, Warn, hookimpl
from trimtab.edits import Anchor, hidden

from trimtab_verify.checks import Check, Found, checks
from trimtab_verify.options import VerifyOptions
from trimtab_verify.words import put_back

if TYPE_CHECKING:
    from trimtab.conversation import Message
    from trimtab.projection import Item
    from trimtab.report import Report
    from trimtab.stage import HookOptions
    from trimtab.view import View

__all__ = ["Verify"]


class Verify(Hook):
    """Restores, vetoes or warns where a pass hid what must stay in sight.

    It keeps what it saw in each message and at each place of the view, so a later look costs two dictionaries.
    """

    name: ClassVar[str] = "verify"
    Options: ClassVar[type[HookOptions]] = VerifyOptions
    options: VerifyOptions

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        self._checks = checks(self.options)
        self._said: dict[str, Mapping[int, Found]] = {}
        self._shown: dict[Any, Mapping[int, set[str]]] = {}

    @hookimpl
    def post_compact(self, before: View, after: View, report: Report) -> Iterator[Insert | Warn]:
        """Look for what was said on the path and is not shown any more."""
        last, shown = self._last(after), self._all(after)
        missing = [
            (check, last[n])
            for n, check in enumerate(self._checks)
            if n in last and not check.fine(last[n], shown[n], self.project)
        ]
        if not missing:
            return
        seen = self._all(before)
        lost = [
            (check, found)
            for check, found in missing
            if check.fine(found, seen[self._checks.index(check)], self.project)
        ]
        if self.options.on_missing == "restore":
            yield from self._restore(after, missing, lost)
            return
        if self.options.on_missing == "veto" and (sent := [one for one in lost if before.sent(one[1].message.depth)]):
            reason = "no longer visible: " + ", ".join(f"'{check.what}'" for check, _ in sent)
            raise Veto(reason, stages=culprits(before, after, report, [found for _, found in sent]))
        yield from (warning(check) for check, _ in lost)

    def _restore(
        self, view: View, missing: list[tuple[Check, Found]], lost: list[tuple[Check, Found]]
    ) -> Iterator[Insert | Warn]:
        """Put back what is missing where that can be done, also what an earlier pass could not put back."""
        for check, found in missing:
            text = put_back(view, check, found)
            anchor = place(view, text)
            if anchor is not None:
                yield Insert(anchor, text)
            elif (check, found) in lost:
                yield warning(check)

    def _last(self, view: View) -> Mapping[int, Found]:
        """For each check, by its number, where it was said last on the path."""
        last: dict[int, Found] = {}
        for message in reversed(view.projection.path):
            said = self._said.get(message.id)
            if said is None:
                said = self._said[message.id] = dict(self._look(view, message))
            if said:
                last = {**said, **last}
                if len(last) == len(self._checks):
                    break
        return last

    def _look(self, view: View, message: Message) -> Iterator[tuple[int, Found]]:
        for n, check in enumerate(self._checks):
            if found := check.found(view, message):
                yield n, found

    def _all(self, view: View) -> list[set[str]]:
        """For each check all that the view shows of it."""
        every: list[set[str]] = [set() for _ in self._checks]
        evicts = view.projection.state.evicts
        for item in view.messages:
            key: Any = (item.key, item.id)
            if evicts and item.message:
                key = (*key, *(block.id for block in item.message.blocks if block.id in evicts))
            shown = self._shown.get(key)
            if shown is None:
                shown = self._shown[key] = dict(self._show(view, item))
            for n, keys in shown.items():
                every[n] |= keys
        return every

    def _show(self, view: View, item: Item) -> Iterator[tuple[int, set[str]]]:
        for n, check in enumerate(self._checks):
            if keys := check.shows(view, item):
                yield n, keys


def warning(check: Check) -> Warn:
    """Tell the user what is gone."""
    return Warn(f"'{check.what}' is no longer visible")


def place(view: View, text: str) -> Anchor | None:
    """Where a text can be put back now; None where it must wait."""
    if view.compacted:
        return "after_boundary"
    rounds, path = view.rounds, view.projection.path
    free = path[-1].role == "user" and not (rounds and rounds[-1].open) and text not in view.inserts
    return "tail" if free and view.tokens + view.count(text) <= view.window.auto else None


def culprits(before: View, after: View, report: Report, lost: list[Found]) -> list[str]:
    """The stages whose edits of sent content hid what was lost, as far as the reasons of their edits tell."""
    ids = {id for found in lost for id in (found.message.id, found.block.id)}
    edits = [edit for _, edit in after.projection.rows[len(before.projection.rows) :] if ids.intersection(hidden(edit))]
    reasons = [str(getattr(edit, "reason", "")) for edit in edits]
    stages = [one.stage for one in report.decisions if not one.free and any(why in one.reason for why in reasons)]
    return list(dict.fromkeys(stages))
