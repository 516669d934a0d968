"""Situations that several tests start from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from play import Play, edits, rounds, talk
from stages import Budget, ClearOld, DropOld, FoldOld, Remind
from trimtab.storage.files import FileBlobs
from trimtab.storage.sqlite import SqliteLedger

__all__ = ["COLD", "LOST", "PLUGINS", "STAGES", "every_kind", "on_disk"]

COLD = {"clear-old": {"when": "cold"}}
LOST = "another process decided first; decisions on the same messages were dropped"
STAGES: list[Any] = [
    {"drop-old": {"when": "cold", "keep": 5}},
    {"fold-old": {"when": "cold", "keep": 7}},
    {"clear-old": {"when": "cold", "keep": 1}},
    "remind",
    "budget",
]
PLUGINS = (ClearOld, DropOld, FoldOld, Remind, Budget)


def every_kind() -> tuple[Play, list[Any], Any]:
    """A session whose view holds a fold, a drop, replacements and inserts; the agent's history; the request."""
    play = Play(*PLUGINS, stages=STAGES)
    messages = talk(8)
    play.send(messages)
    messages = [*messages, *rounds(1, first=8)]
    request = play.cold(messages)
    assert {row["kind"] for row in edits(play)} >= {"drop", "fold", "insert", "replace"}
    return play, messages, request


def on_disk(folder: Path, *plugins: Any, **more: Any) -> Play:
    """A session on a ledger and originals in a folder."""
    return Play(
        *plugins,
        ledger=SqliteLedger(f"sqlite://{folder}/ledger.db"),
        blobs=FileBlobs(f"file://{folder}/blobs"),
        **more,
    )
