"""What is told of the project's files, where it stands, and that it stays as it is."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import pytest
from trimtab import Fold, Stage, View
from trimtab.testing.material import Summary
from trimtab.testing.walk import Walk
from trimtab_project_memory import ProjectMemory

AGAIN = "what it said before no longer holds"


class Collapse(Stage):
    """Every tenth round folds what lies between the first message and the newest few."""

    name: ClassVar[str] = "collapse"

    def propose(self, view: View) -> Iterator[Fold]:
        """No boundary: the first message stays."""
        if len(set(view.projection.rounds)) % 10 == 6:  # the question is in none
            for end in range(4, 7):
                yield Fold(view.messages[1:-end], "Steps were made.", "old")


def framed(says: str, text: str) -> str:
    """As a file is told."""
    return f"The project's memory file {says}:\n<project-memory>\n{text}\n</project-memory>"


def inner(texts: list[str]) -> list[str]:
    """What the files say, without the frames."""
    return ["\n".join(text.split("\n")[2:-1]) for text in texts]


def test_in_the_system_text(opened: Any, write: Any, dialect: str) -> None:
    """Before the first answer the files stand in the system text, in the order of the option."""
    memory, agents = write("MEMORY.md", "The port is 80.\n"), write("AGENTS.md", "Use tabs.\n")
    run = opened(dialect)
    assert run(0) == [
        framed(f"{agents} says", "Use tabs."),
        framed(f"{memory} says", "The port is 80."),
    ]
    first = run.request.messages[0]["role"]
    assert (first, "Use tabs." in str(run.request.system)) in [("system", False), ("user", True)]
    assert run.request.report.decisions[0].free


def test_equal_on_every_request(opened: Any, write: Any, dialect: str) -> None:
    """What stands there is in the ledger: no request and no restart changes a byte, whatever happens to the file."""
    write("CLAUDE.md", "Use tabs.")
    run, requests = opened(dialect), []
    for count in range(30):
        if count % 10 == 9:
            write("CLAUDE.md", "Use tabs.")  # as it was, for whoever looks at the start
            run.open()
        assert len(run(count)) == 1
        requests.append((run.request.system, list(run.request.messages)))
        os.unlink(write("CLAUDE.md", f"Use {count} spaces.")) if count % 2 else write("CLAUDE.md", f"{count}")
    for (system, before), (again, after) in pairwise(requests):
        assert (again, after[: len(before)]) == (system, before)


def test_changed_while_away(opened: Any, write: Any, dialect: str) -> None:
    """A file that says something else at the next start is told anew at the tail; what was sent stays."""
    path = write("CLAUDE.md", "Use tabs.")
    run = opened(dialect)
    first = run(0)
    before, seen = list(run.request.messages), [first]
    for count, text in enumerate(["Use spaces.", "Use tabs.", "Use spaces.", "Use spaces."], 1):
        write("CLAUDE.md", text)
        seen.append(run.open()(count))
        assert run.request.messages[: len(before)] == before
        before = list(run.request.messages)
    assert seen[-1] == [
        *first,
        framed(f"{path} now says (2); {AGAIN}", "Use spaces."),
        framed(f"{path} now says (3); {AGAIN}", "Use tabs."),
        framed(f"{path} now says (4); {AGAIN}", "Use spaces."),
    ]
    assert seen[-2] == seen[-1]


def test_changed_before_a_boundary(opened: Any, write: Any, dialect: str) -> None:
    """Behind a boundary a changed file is told, one that did not change is not: the system text still has it."""
    write("CLAUDE.md", "Use tabs.")
    write("AGENTS.md", "Be kind.")
    run = opened(dialect)
    first = run(0)
    run(10)
    write("CLAUDE.md", "Use spaces.")
    told = run(11, compact=True)
    assert run.request.report.boundary
    assert inner(told) == ["Use tabs.", "Be kind.", "Use spaces."]
    assert told[:2] == first
    assert run(12) == told


def test_met_in_mid_course(opened: Any, write: Any, dialect: str) -> None:
    """A conversation that went on before has it at its end; when a boundary hides that, behind the boundary again."""
    write("CLAUDE.md", "Use tabs.")
    run = opened(dialect)
    [told] = run(10)
    assert "Use tabs." in str(run.request.messages[-1]["content"])
    assert run(11) == [told]
    assert run(14, compact=True) == [told]
    assert "Use tabs." in str(run.request.messages[1]["content"])
    assert run.open()(15) == [told]


def test_says_that_it_changed_only_where_it_did(opened: Any, write: Any, dialect: str) -> None:
    """Behind each boundary the same as before is told as it was; another text says that it replaces that."""
    path = write("CLAUDE.md", "Use tabs.")
    run, told = opened(dialect), []
    told += run(5)
    for count, text in enumerate(["tabs", "spaces", "spaces", "tabs", "tabs"], 1):
        write("CLAUDE.md", f"Use {text}.")
        told += run(10 * count, compact=True)
    tabs, spaces = framed(f"{path} says", "Use tabs."), framed(f"{path} says", "Use spaces.")
    new = framed(f"{path} now says (2); {AGAIN}", "Use spaces."), framed(f"{path} now says (3); {AGAIN}", "Use tabs.")
    assert told == [tabs, tabs, new[0], spaces, new[1], tabs]


def test_the_system_text_says_something_else(opened: Any, write: Any) -> None:
    """Where a boundary hides the newer text and the system text has the older one, that is called old again."""
    path = write("CLAUDE.md", "Use tabs.")
    run = opened()
    first = run(0)
    write("CLAUDE.md", "Use spaces.")
    run.open()(1)
    assert run(10, compact=True) == [*first, framed(f"{path} now says (3); {AGAIN}", "Use spaces.")]


def test_repeated_at_the_end(opened: Any, write: Any, dialect: str) -> None:
    """Where a fold that is no boundary hid a text, the next start repeats it, however often that happens."""
    path = write("CLAUDE.md", "Use tabs.")
    run = opened(dialect, stage=Collapse)
    told = [run(5)]
    for count in (15, 25, 35):
        assert run(count) == []
        told.append(run.open()(count + 1))
    says = ("says", "says (2)", "says (3)", "says (4)")
    assert told == [[framed(f"{path} {times}", "Use tabs.")] for times in says]


def test_nowhere_but_behind_the_next_boundary(opened: Any, write: Any) -> None:
    """Where the conversation cannot take it at its end, it comes behind the next boundary."""
    path = write("CLAUDE.md", "Use tabs.")
    run = opened()
    assert run(10, waits=True) == []
    assert run(10) == []
    [told] = run(14, compact=True)
    assert told == framed(f"{path} says", "Use tabs.")
    assert run(15) == [told]


def test_deleted(opened: Any, write: Any) -> None:
    """Of a file that is gone, or that says nothing any more, nothing is told."""
    path, other = write("CLAUDE.md", "Use tabs."), write("AGENTS.md", "Be kind.")
    run = opened()
    first = run(0)
    path.unlink()
    other.write_text("\n \n")
    assert run.open()(1) == first
    assert run(9, compact=True) == first
    assert run.warnings == []


def test_equal_files_once(opened: Any, write: Any, tmp_path: Any) -> None:
    """Of files that say the same, by a link or a copy, one is told; the other as soon as it says something else."""
    write("AGENTS.md", "Use tabs.")
    write("MEMORY.md", "\ufeffUse tabs.\r\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    run = opened()
    [told] = run(0)
    assert f"{tmp_path}/CLAUDE.md" in told
    write("AGENTS.md", "Use spaces.")
    texts = run.open()(1)
    assert inner(texts) == ["Use tabs.", "Use spaces.", "Use tabs."]
    assert "CLAUDE.md now says" in texts[1]
    assert "MEMORY.md says" in texts[2]
    assert run.open()(2) == texts


def test_from_the_repository_down(opened: Any, write: Any, tmp_path: Any) -> None:
    """Files of the folders above, up to the repository, come first; the folder above that is none of ours."""
    write("AGENTS.md", "not ours")
    for place in ("repo", "repo/app", "repo/app/web"):
        write(f"{place}/AGENTS.md", place)
    write("repo/.git/HEAD", "")
    write("repo/app/web/docs/rules.md", "rules")
    run = type(opened())(tmp_path / "repo/app/web", files=["AGENTS.md", "docs/rules.md"])
    assert inner(run(0)) == ["repo", "repo/app", "repo/app/web", "rules"]


def test_no_repository(opened: Any, write: Any, tmp_path: Any) -> None:
    """Without a repository only the folder itself is looked at."""
    write("AGENTS.md", "not ours")
    write("app/AGENTS.md", "ours")
    run = type(opened())(tmp_path / "app")
    assert inner(run(0)) == ["ours"]


@pytest.mark.parametrize("home", ["", "people/ann"])
def test_a_repository_of_all_the_user_has(
    opened: Any, write: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    """The home folder, or one above it, is no project: only the folder itself counts."""
    monkeypatch.setenv("HOME", str(tmp_path / home))
    write(".git/HEAD", "")
    write("AGENTS.md", "not ours")
    write("private/diary.md", "secret")
    write("app/AGENTS.md", "ours")
    (tmp_path / "app/MEMORY.md").symlink_to("../private/diary.md")
    run = type(opened())(tmp_path / "app")
    assert inner(run(0)) == ["ours"]
    assert "MEMORY.md was not read: it leads out of the folder" in run.warnings[0]


def test_too_large_for_the_window(opened: Any, write: Any) -> None:
    """What the window has no room for is left out, and the report says so."""
    write("AGENTS.md", "word " * 200_000)
    run = opened(lines=1_000, bytes=10_000_000)
    assert run(0) == []
    assert any("no room" in warning for warning in run.warnings)


def test_walks_with_changing_files(write: Any, tmp_path: Any, dialect: str) -> None:
    """Rewinds, restarts, restores and compactions while the file changes all the time: every promise holds."""

    class Restless(ProjectMemory):
        name: ClassVar[str] = "restless"

        @property
        def project(self) -> Any:
            write("CLAUDE.md", f"Use {rng.randrange(3)} spaces.")
            return tmp_path

        @project.setter
        def project(self, given: Any) -> None:
            """Stays."""

    for seed in range(6):
        rng = random.Random(seed)
        stages = [{"summary": {"when": ["cold", {"over": 0.02}]}}]
        walk = Walk(rng, Restless, Summary, dialect=dialect, stages=stages, hooks=["restless"]).go()
        assert walk.failures == []
