"""Recording a pass: originals to the blob store first, then one append; all or nothing (R6, R9, R28)."""

from __future__ import annotations

import json
from dataclasses import replace

from trimtab.conversation import Block, Conversation, digest
from trimtab.draft import Draft, Work
from trimtab.edits import Drop, Fold, Repair, Replace, targets
from trimtab.errors import Lost, TrimtabError
from trimtab.ledger import Decision, Ledger
from trimtab.projection import Projection

__all__ = ["commit", "decision", "stored_text"]

TRIES = 10
"""Attempts to append while other processes write to the same session."""


def stored_text(block: Block) -> bytes:
    """A block's text as it is stored for a model to read; lone surrogates cannot be written."""
    return block.text.encode("utf-8", "replace")


def decision(draft: Draft, trigger: str, now: float, turn: int = 0) -> Decision:
    """A draft as a ledger row, its originals not yet stored."""
    return Decision(
        stage=draft.stage,
        trigger=trigger,
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
    before, report = work.before, work.report
    turn = sum(at == index for index, at in enumerate(before.turns))
    decisions = [decision(draft, trigger, now, turn) for draft in work.drafts]
    decisions = [replace(one, originals=_keep(one, ledger, conversation)) for one in decisions]
    decisions[-1] = replace(decisions[-1], aliases=_aliases(work.projection, before))
    first = len(ledger.decisions) + 1
    for _ in range(TRIES):
        try:
            written = ledger.append(decisions) if decisions else []
            break
        except Lost:
            theirs = {id for one in ledger.reload() for id in one.touches()}
            decisions = [replace(one, aliases={}) for one in decisions if not one.touches() & theirs]
            report.warnings.append("another process decided first; decisions on the same messages were dropped")
    else:
        raise TrimtabError("other processes keep writing to this session; nothing was decided")
    report.decisions = [draft.outcome() for draft in work.drafts]
    for shown, one in zip(report.decisions, written, strict=False):
        shown.seq = one.seq
    if len(written) == len(work.drafts) and written[0].seq == first:
        work.projection.rows = ledger.rows()
        return work.projection
    return Projection(conversation, before.path, ledger.rows())


def _keep(one: Decision, ledger: Ledger, conversation: Conversation) -> dict[str, str]:
    """Store the originals of all that a decision hides: texts for a model, whole messages for us."""
    kept = {}
    for edit in one.edits:
        if not isinstance(edit, (Drop, Fold, Repair, Replace)):
            continue
        for id in targets(edit):
            message = conversation.nodes[id.partition(".")[0]]
            if isinstance(edit, Replace):
                block = message.blocks[int(id.partition(".")[2])]
                if block.text:
                    kept[id] = ledger.blobs.put(stored_text(block), ".txt")
            if message.id not in ledger.originals and message.id not in kept:
                parent = message.parent.id if message.parent else ""
                data = json.dumps({"parent": parent, "message": message.wire})
                kept[message.id] = ledger.blobs.put(data.encode(), ".json")
    return kept


def _aliases(work: Projection, before: Projection) -> dict[str, tuple[str, ...]]:
    """Ids that our rendered messages would get if they were handed back, to what they stand for (R25)."""
    same = {(item.key, item.start) for item in before.items}
    aliases = {}
    for item in work.items:
        if (item.key, item.start) not in same:
            parent = work.path[item.start - 1].id if item.start else ""
            wire = item.wire if item.message is None or item.wire is not None else item.message.wire
            aliases[digest(parent, wire)] = tuple(message.id for message in work.path[item.start : item.end])
    return aliases
