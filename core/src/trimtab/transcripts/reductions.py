"""The changes that a Claude Code client made to its own history, applied from where it recorded them on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from trimtab.transcripts.branches import Branches, Record

__all__ = ["apply"]


def apply(branches: Branches, where: str, record: Mapping[str, Any], skipped: Counter[str], notes: list[str]) -> bool:
    """Apply ``record`` and note what it did; False where it is no change of the history."""
    kind, subtype = record.get("type"), record.get("subtype")
    if kind == "content-replacement":
        branches.replace(_texts(record))
    elif kind == "system" and subtype == "compact_boundary":
        meta = _mapping(record.get("compactMetadata"))
        notes.append(f"{where}: compaction boundary{_figures(meta)}")
        kept, in_front = _preserved(meta, record.get("uuid"), branches.records)
        branches.compact(kept, in_front)
        if kept:
            notes.append(f"{where}: {len(kept)} records kept across the boundary")
    elif kind == "system" and subtype == "microcompact_boundary":
        figures = _figures(_mapping(record.get("microcompactMetadata")))
        notes.append(f"{where}: old results cleared by the client{figures}; here they stay whole")
    elif kind == "system" and isinstance(record.get("snipMetadata"), dict):
        removed = _strings(record["snipMetadata"].get("removedUuids"))
        kept = [said for said in branches.records if said.uuid not in removed]
        notes.append(f"{where}: {len(branches.records) - len(kept)} records removed by a snip")
        branches.restart(kept)
    elif kind == "marble-origami-commit":
        _collapse(branches, where, record, skipped, notes)
    else:
        return False
    return True


def _collapse(
    branches: Branches, where: str, record: Mapping[str, Any], skipped: Counter[str], notes: list[str]
) -> None:
    """Put the placeholder of a collapsed span in its place; later spans may cover earlier placeholders."""
    records = branches.records
    span = _span(records, record.get("firstArchivedUuid"), record.get("lastArchivedUuid"))
    if not span:
        skipped["collapsed spans that are not in the file"] += 1
        return
    placeholder = Record(str(record.get("summaryUuid")), str(record.get("summaryContent")))
    notes.append(f"{where}: {len(span)} records collapsed into a placeholder")
    branches.restart([*records[: span.start], placeholder, *records[span.stop :]])


def _texts(record: Mapping[str, Any]) -> dict[str, str]:
    """Call id to the exact text that was sent instead of its result."""
    replacements = record.get("replacements")
    entries = [_mapping(entry) for entry in replacements] if isinstance(replacements, list) else []
    return {
        str(entry.get("toolUseId")): str(entry.get("replacement"))
        for entry in entries
        if entry.get("kind") == "tool-result"
    }


def _preserved(meta: Mapping[str, Any], boundary: Any, records: Sequence[Record]) -> tuple[list[Record], bool]:
    """Find the records that survive a boundary, and whether they stand in front of its summary."""
    named = _mapping(meta.get("preservedMessages"))
    segment = _mapping(meta.get("preservedSegment"))
    # anchored at the boundary itself: the beginning was kept; at its summary: the end was
    in_front = (named or segment).get("anchorUuid") == boundary
    if named:  # allUuids names the other lines of the same responses too
        wanted = _strings(named.get("uuids")) | _strings(named.get("allUuids"))
        return [record for record in records if record.uuid in wanted], in_front
    span = _span(records, segment.get("headUuid"), segment.get("tailUuid"))
    return [records[index] for index in span], in_front


def _span(records: Sequence[Record], first: Any, last: Any) -> range:
    """Indexes from one uuid to another; empty where either is missing or they are in the wrong order."""
    places = {record.uuid: index for index, record in enumerate(records)}
    ends = [places.get(str(first)), places.get(str(last))]
    start, stop = (place if place is not None else -1 for place in ends)
    return range(start, stop + 1) if 0 <= start <= stop else range(0)


def _figures(meta: Mapping[str, Any]) -> str:
    words = {"preTokens": "tokens before", "tokensSaved": "tokens saved"}
    parts = [str(meta["trigger"])] if "trigger" in meta else []
    parts += [f"{meta[key]} {text}" for key, text in words.items() if key in meta]
    if "compactedToolIds" in meta:
        parts.append(f"{len(_strings(meta['compactedToolIds']))} results")
    return f" ({', '.join(parts)})" if parts else ""


def _strings(value: Any) -> set[str]:
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
