"""Sessions of Claude Code: JSON Lines, one record a content block, with much that is not conversation.

File order counts, not the chain of parents, which forks at parallel calls and dangles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trimtab.transcripts.branches import Branches, Record
from trimtab.transcripts.records import Recording
from trimtab.transcripts.reductions import apply
from trimtab.transcripts.source import Source
from trimtab.transcripts.turns import results_in
from trimtab.transcripts.wire import seconds

__all__ = ["NAME", "read", "sniff"]

NAME = "claude-code"
USAGE = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
Line = tuple[int, dict[str, Any]]


def sniff(source: Source) -> bool:
    """Whether any object is a user or assistant record that wraps a message."""
    return any(_said(record) for _, record in source.objects)


def read(source: Source) -> Recording:
    """Read all requests; a file of nothing but a sub-agent's records is read as its own conversation."""
    skipped: Counter[str] = Counter(source.skipped)
    said = [record for _, record in source.objects if _said(record)]
    aside = not all(record.get("isSidechain") is True for record in said)
    lines = list(_own(source.objects, aside, skipped))
    first = next((record for _, record in lines if _said(record)), said[0])
    uuids = {str(record.get("uuid")) for _, record in source.objects}
    notes: list[str] = []
    mid_session = _starts_late(first, uuids)
    if mid_session:
        notes.append("the file starts in mid-session: what came before is not in it")
    branches = Branches(mid_session)
    for line in lines:
        _take(branches, line, skipped, notes)
    branches.finish()
    if branches.unasked:
        skipped["answers without a request"] += branches.unasked
    if branches.unrecorded:
        notes.append(f"answers behind answers, with nothing recorded between: {branches.unrecorded}")
    session = str(first.get("sessionId") or Path(source.path).stem)
    if not aside and first.get("agentId"):
        session += f":{first['agentId']}"
    return Recording(
        session=session,
        format=NAME,
        dialect="anthropic",
        path=source.path,
        requests=branches.requests,
        records=branches.added,
        skipped=dict(skipped),
        notes=notes,
    )


def _said(record: Mapping[str, Any]) -> bool:
    return (
        record.get("type") in ("assistant", "user")
        and isinstance(record.get("message"), dict)
        and ("uuid" in record or "sessionId" in record)
    )


def _own(objects: list[Line], aside: bool, skipped: Counter[str]) -> Iterator[Line]:
    """Leave out what a torn write repeated and, where ``aside``, what a sub-agent said."""
    seen = set()
    for number, record in objects:
        uuid = record.get("uuid")
        if isinstance(uuid, str) and uuid in seen:
            skipped["duplicate records"] += 1
        elif aside and record.get("isSidechain") is True and record.get("type") != "progress":
            skipped["sidechain records"] += 1
        else:
            yield number, record
        seen.add(uuid if isinstance(uuid, str) else None)


def _starts_late(first: Mapping[str, Any], uuids: set[str]) -> bool:
    parent = first.get("parentUuid")
    dangling = parent is not None and str(parent) not in uuids
    return first["type"] == "assistant" or dangling or bool(results_in(first["message"].get("content")))


def _take(branches: Branches, line: Line, skipped: Counter[str], notes: list[str]) -> None:
    number, record = line
    if not _said(record):
        if not apply(branches, f"line {number}", record, skipped, notes):
            skipped[f"{record.get('type')} records"] += 1
        return
    message = record["message"]
    if record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
        skipped["synthetic answers"] += 1
    elif not isinstance(message.get("content"), str | list):
        skipped["records without content"] += 1
    else:
        branches.add(_record(record, message, f"line {number}"))


def _record(record: Mapping[str, Any], message: Mapping[str, Any], where: str) -> Record:
    uuid = str(record.get("uuid") or where)
    made = Record(uuid, message["content"], seconds(record.get("timestamp")))
    if record["type"] == "assistant":
        made.answer = str(message.get("id") or uuid)
        made.model = str(message["model"]) if message.get("model") else None
        made.usage = _usage(message.get("usage"))
    made.summary = record.get("isCompactSummary") is True
    return made


def _usage(usage: Any) -> dict[str, Any] | None:
    """The input side and the output, in tokens; None for an all-zero usage, which the client made up."""
    if not isinstance(usage, dict):
        return None
    counts = {name: value if isinstance(value := usage.get(name), int) else 0 for name in USAGE}
    if not any(counts[name] for name in USAGE if name != "output_tokens"):
        return None
    split = usage.get("cache_creation")
    return {**counts, "cache_creation": dict(split)} if isinstance(split, dict) else dict(counts)
