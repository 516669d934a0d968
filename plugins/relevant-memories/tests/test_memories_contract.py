"""The stage passes the contract of all stages, with memories that made-up conversations touch."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from trimtab.testing import StageContract
from trimtab_relevant_memories import RelevantMemories

MEMORIES = [("alpha config path", "Short."), ("错误在这里", "漢" * 5_000), ("load def app todo", "line\n" * 300)]


@pytest.fixture(scope="module", autouse=True)
def _memories(tmp_path_factory: pytest.TempPathFactory) -> None:
    """For words that are said there; two are cut."""
    folder = tmp_path_factory.mktemp("memories")
    for name, text in MEMORIES:
        (folder / f"{name}.md").write_text(f"---\nname: {name}\n---\n{text}", "utf-8")
    for contract in (TestByWords, TestByModel):
        contract.options = {**contract.options, "folder": str(folder)}


class TestByWords(StageContract):
    """Picked at once."""

    stage = RelevantMemories
    options: ClassVar[dict[str, Any]] = {"pick": "words"}


@pytest.mark.slow
class TestByModel(StageContract):
    """Picked in the background, by words where the model fails."""

    stage = RelevantMemories
    options: ClassVar[dict[str, Any]] = {"count": 2}
