"""`names` over the big results of recorded sessions: what holds for any text holds for real ones."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from trimtab.texts import clean, names
from trimtab_tool_result_budget import BudgetOptions
from trimtab_tool_result_budget.preview import preview

CORPUS = Path(__file__).resolve().parents[3].parent / "shared" / "corpus" / "claude-code"
BIG = 4_000

pytestmark = pytest.mark.corpus


def contents(record: Any) -> Iterator[str]:
    """The texts of the tool results in one recorded line."""
    message = record.get("message") if isinstance(record, dict) else None
    blocks = message.get("content") if isinstance(message, dict) else None
    for block in blocks if isinstance(blocks, list) else []:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            said = block.get("content") or ""
            yield said if isinstance(said, str) else "\n".join(part.get("text", "") for part in said)


def big_results() -> list[str]:
    """All results over the smallest limit, each text once; torn lines are left out."""
    if not CORPUS.is_dir():
        pytest.skip("the recorded sessions are not there")
    found: dict[str, None] = {}
    for file in sorted(CORPUS.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            found.update(dict.fromkeys(text for text in contents(record) if len(text) > BIG))
    return list(found)


def test_names_of_real_results() -> None:
    """Size, origin and repeatability hold; the previews are a fraction of what they stand for."""
    before = after = 0
    spent = 0.0
    texts = big_results()
    assert len(texts) > 100
    for number, text in enumerate(map(clean, texts)):
        start = time.perf_counter()
        made = names(text, 8_000, 2_000, lambda name: 1)
        spent += time.perf_counter() - start
        made.encode()
        size, again = len(made), made == names(text, 8_000, 2_000, lambda name: 1)
        strange = sum(word not in text for word in re.sub(r"(?m)^\d+: | … ", " ", made).split())
        assert size <= 8_000, number  # numbers only: no recorded text may appear in what a failure prints
        assert again, number
        assert strange == 0, number
        before, after = before + len(text), after + size
    assert after < 0.4 * before
    assert spent < 5


@pytest.mark.parametrize("kind", ["head", "head-tail", "names"])
def test_previews_of_real_results(kind: str) -> None:
    """A text whose names are all known elsewhere still gets its start, and no preview exceeds its size."""
    options = BudgetOptions.model_validate({"preview": kind})
    for number, text in enumerate(big_results()):
        _, made = preview(text, options, lambda name: 2)
        size = len(made.encode())
        assert size > 0, number
        size = len(made)
        assert size <= 8_100, number
