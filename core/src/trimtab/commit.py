"""Recording a pass: originals to the blob store first, then one append; all or nothing (R6, R9, R28)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from trimtab.conversation import Conversation
from trimtab.draft import Draft, Work
from trimtab.edits import Evict, Fold, Repair, Replace, hidden, targets
from trimtab.errors import Lost, TrimtabError
from trimtab.ledger import FULL, TRIES, Decision, Ledger
from trimtab.projection import Item, Projection

__all__ = ["commit", "record", "stored_text"]


def stored_text(text: str) -> bytes:
    """A text as it is stored for a model to read; lone surrogates cannot be written."""
    return text.encode("utf-8", "replace")


def record(draft: Draft, trigger: str, now: float, turn: int = 0) -> Decision:
    """A draft as a ledger row, its originals not yet stored."""
    return Decision(
        stage=draft.stage,
        trigger=draft.trigger or trigger,
        time=now,
        edits=tuple(draft.edits),
        free=draft.free,
        boundary=draft.boundary,
        freed=round(draft.freed, 1),
        rewritten=round(draft.rewritten, 1),
        turn=turn,
    )


def commit(work: Work, ledger: Ledger, conversation: Conversation, now: float, trigger: str) -> Projection:
    """Record what a pass decided; returns what to send.

    Where another process appended first, the decisions that touch other messages than its rows go behind them, the
    others are dropped; no model is asked again. Raises `StorageError`, after which nothing has changed.
    """
    before, report, projection = work.before, work.report, work.projection
    turn = sum(at == index for index, at in enumerate(before.turns))
    kept = []
    for draft in work.drafts:
        one = record(draft, trigger, now, turn)
        kept.append((draft.outcome(), replace(one, originals=_keep(one, ledger, conversation))))
    for _ in range(TRIES):
        decisions = [one for _, one in kept]
        if decisions:
            decisions[-1] = replace(decisions[-1], aliases=_aliases(projection, before, ledger.aliases))
        try:
            written = ledger.append(decisions) if decisions else []
            break
        except Lost:
            theirs = {id for one in ledger.reload() for id in one.touches()}
            kept = [(shown, one) for shown, one in kept if _mends(one) or not one.touches() & theirs]
            edits = [(0, edit) for _, one in kept for edit in one.edits]
            projection = Projection(conversation, before.path, [*ledger.rows(), *edits])
            projection.state.moving = work.projection.state.moving
            report.warnings.append("another process decided first; decisions on the same messages were dropped")
    else:
        raise TrimtabError("other processes keep writing to this session; nothing was decided")
    report.decisions = [replace(shown, seq=one.seq) for (shown, _), one in zip(kept, written, strict=True)]
    made = next((one for one in reversed(written) if one.boundary), None)
    if report.boundary is not None:
        report.boundary = replace(report.boundary, decision=made.seq, time=now) if made else None
    projection.rows = ledger.rows()
    return projection


def _mends(one: Decision) -> bool:
    """Whether a decision is repairs, without which the request would be invalid."""
    return all(isinstance(edit, Repair) for edit in one.edits)


def _keep(one: Decision, ledger: Ledger, conversation: Conversation) -> dict[str, str]:
    """Store the originals of all that a decision hides: texts for a model, whole messages for us."""
    kept = {}
    for edit in one.edits:
        if isinstance(edit, Fold) and edit.full:
            kept[f"{edit.run[0]}{FULL}"] = ledger.blobs.put(stored_text(edit.full), ".txt")
        for id in targets(edit) if isinstance(edit, Repair) else hidden(edit):
            message = conversation.nodes[id.partition(".")[0]]
            if isinstance(edit, (Evict, Replace)):
                block = message.blocks[int(id.partition(".")[2])]
                if block.text:
                    kept[id] = ledger.blobs.put(stored_text(block.text), ".txt")
            if message.id not in ledger.originals and message.id not in kept:
                parent = message.parent.id if message.parent else ""
                data = json.dumps({"parent": parent, "message": message.wire})
                kept[message.id] = ledger.blobs.put(data.encode(), ".json")
    return kept


def _aliases(
    work: Projection, before: Projection, known: Mapping[str, Sequence[Sequence[str]]]
) -> dict[str, tuple[str, ...]]:
    """Ids that our rendered messages would get if they were handed back, to what they stand for (R25); new ones."""
    same = {(item.key, item.start, end) for item, _, _, end in _spans(before)}
    aliases = {}
    for item, after, own, end in _spans(work):
        if item.start < own or (item.key, item.start, end) not in same:
            wire = item.wire if item.message is None or item.wire is not None else item.message.wire
            assert wire is not None
            for start in {item.start, after, own} - ({own} if item.wire is None else set()):
                parent = work.path[start - 1].id if start else ""
                ids = tuple(message.id for message in work.path[start:end])
                aliases[work.conversation.id(parent, wire)] = ids
    return {id: ids for id, ids in aliases.items() if next(iter(known.get(id, ())), None) != ids}


def _spans(projection: Projection) -> Iterator[tuple[Item, int, int, int]]:
    """Each item with three positions: where the one before ends, its own first message, where it ends.

    What a repair emptied goes with the item before it, which got its content; what was dropped, with the next.
    """
    items, path, repairs, after = projection.items, projection.path, projection.state.repairs, 0
    for item in items:
        end = item.end
        while end < len(path) and (item is items[-1] or (path[end].id in repairs and not repairs[path[end].id].blocks)):
            end += 1
        yield item, after, item.end - len(item.covers), end
        after = end
