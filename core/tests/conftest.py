"""Stages, hooks and a place to load profiles from, for the tests of profiles and of the command line."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict
from trimtab.hookspecs import hookimpl
from trimtab.profile import Profile, load
from trimtab.stage import Hook, HookOptions, Stage, StageOptions
from trimtab.values import Size


class Limits(BaseModel):
    """A nested part of a stage's options."""

    model_config = ConfigDict(extra="forbid")

    read: Literal["off"] | Size = 0
    search: Size = 0


class Trim(Stage):
    """A stage with options of every kind."""

    name = "trim"

    class Options(StageOptions):
        """Its options."""

        keep: int = 5
        mode: Literal["whole", "part"] = "whole"
        limits: Limits = Limits()

    def propose(self, view: Any) -> Any:
        """Propose nothing."""
        yield from ()


class Keep(Hook):
    """A hook with an option."""

    name = "keep"

    class Options(HookOptions):
        """Its options."""

        first: int = 1

    @hookimpl
    def pre_compact(self, view: Any) -> list[Any]:
        """Keep nothing."""
        return []


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home folder."""
    return tmp_path / "home"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A working directory, two levels below the project's folder."""
    path = tmp_path / "project" / "src" / "deep"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def get(home: Path, work: Path) -> Callable[..., Profile]:
    """`load` in the working directory, with that home, these variables and the stages above."""

    def get(name: str | None = None, overrides: Any = None, **env: str) -> Profile:
        variables = {"HOME": str(home), **env}
        return load(name, cwd=work, env=variables, overrides=overrides, plugins=[Trim, Keep])

    return get


@pytest.fixture
def write(work: Path) -> Callable[[str | Path, str], Path]:
    """Write a profile file, seen from the working directory; its folder is made."""

    def write(name: str | Path, text: str) -> Path:
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write
