"""The hook passes the contract of all hooks, in a folder with files."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from trimtab.testing import HookContract
from trimtab_project_memory import ProjectMemory


class InProject(ProjectMemory):
    """It works in a folder with files, wherever the profile lies."""

    name: ClassVar[str] = "project-memory-here"
    place: ClassVar[Path]

    @property  # type: ignore[override]
    def project(self) -> Path:
        """The project's folder."""
        return self.place

    @project.setter
    def project(self, given: Path) -> None:
        """Stays as it is."""


class TestContract(HookContract):
    """With two files, one of which is cut."""

    hook = InProject
    options: ClassVar = {"lines": 3}

    @pytest.fixture(autouse=True)
    def _files(self, tmp_path: Path) -> None:
        (tmp_path / "AGENTS.md").write_text("Use tabs.\n", "utf-8")
        (tmp_path / "MEMORY.md").write_text("one\ntwo\nthree\nfour\n", "utf-8")
        InProject.place = tmp_path
