"""Over recorded sessions: little of what people typed is pinned. Shows no contents."""

from __future__ import annotations

from pathlib import Path

import pytest
from trimtab.conversation import Conversation
from trimtab.parts import part
from trimtab.transcripts import read
from trimtab_constraints import find
from trimtab_constraints.typed import typed

CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus"

pytestmark = pytest.mark.corpus


def texts(path: Path) -> set[str]:
    """What stands in the user's name in one session, each text once."""
    recording = read(path)
    talk = Conversation(part("dialect", recording.dialect)(), len)
    last = {request.branch: request for request in recording.requests}
    paths = (talk.locate(request.messages).path for request in last.values())
    messages = (message for path in paths for message in path if message.kind in ("mixed", "user"))
    return {block.text for message in messages for block in message.blocks if block.type == "text"}


def test_little_is_pinned() -> None:
    """Of what people typed less than 2 % is an instruction, and of no session with 1,500 characters more than 3 %."""
    files = sorted(CORPUS.glob("*/*.json*")) + sorted(CORPUS.glob("*/*.traj"))
    if not files:
        pytest.skip("the recorded sessions (../shared/corpus) are not here")
    sizes, shares = [0, 0], []
    for path in files:
        said = texts(path)
        pinned = sum(len(found.text) for text in said for found in find(text))
        all_typed = sum(len(" ".join(typed(text).split())) for text in said)
        sizes = [sizes[0] + pinned, sizes[1] + all_typed]
        shares += [pinned / all_typed] if all_typed >= 1_500 else []
    assert sizes[1] > 30_000
    assert 0 < sizes[0] < 0.02 * sizes[1]
    assert max(shares) <= 0.03
