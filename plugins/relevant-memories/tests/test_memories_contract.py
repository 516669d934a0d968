"""The stage passes the contract of all stages, with memories that made-up conversations touch."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
from trimtab.testing import StageContract
from trimtab_relevant_memories import RelevantMemories

MEMORIES = [("alpha config path", "Short."), ("错误在这里", "漢" * 5_000), ("load def app todo", "line\n" * 300)]


class InFolder(RelevantMemories):
    """Its memories lie in a folder of the tests, wherever the profile lies."""

    name: ClassVar[str] = "relevant-memories-here"
    place: ClassVar[Path]

    @property  # type: ignore[override]
    def folder(self) -> Path:
        """The profile's folder."""
        return self.place

    @folder.setter
    def folder(self, given: Path) -> None:
        """Stays as it is."""


@pytest.fixture(scope="module", autouse=True)
def _memories(tmp_path_factory: pytest.TempPathFactory) -> None:
    """For words that are said there; two are cut."""
    InFolder.place = tmp_path_factory.mktemp("profile")
    folder = InFolder.place / "memories"
    folder.mkdir()
    for name, text in MEMORIES:
        (folder / f"{name}.md").write_text(f"---\nname: {name}\n---\n{text}", "utf-8")


class TestByWords(StageContract):
    """Picked at once."""

    stage = InFolder
    options: ClassVar[dict[str, Any]] = {"pick": "words"}


@pytest.mark.slow
class TestByModel(StageContract):
    """Picked in the background, by words where the model fails."""

    stage = InFolder
    options: ClassVar[dict[str, Any]] = {"count": 2}
