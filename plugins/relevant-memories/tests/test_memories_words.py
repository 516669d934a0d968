"""Picking by words in common: apt ones, and usually none."""

from __future__ import annotations

from pathlib import Path

import pytest
from trimtab_relevant_memories.files import Memory
from trimtab_relevant_memories.words import brief, by_words

MEMORIES = [
    Memory(Path(f"/{name}.md"), Path("/"), 0.0, name, description)
    for name, description in [
        ("deploy", "How we deploy to staging and production: make ship, wait for CI, tag the release"),
        ("testing-style", "Tests use pytest with fixtures, no mocks; run them before a commit"),
        ("user-preferences", "The user prefers short answers, tabs and no emojis"),
        ("database-migrations", "Migrations are written by hand in SQL and reviewed by the database team"),
        ("git-workflow", "Branches are rebased, commits follow conventional commits, never force-push to main"),
        ("auth-service", "Tokens are JWT, refreshed each hour; the service keeps sessions in redis"),
        ("customer-acme", "Acme runs version 3 on premises; their upgrade window is Sunday night"),
        ("部署流程", "如何把服务发布到生产环境"),
        ("测试规范", "单元测试使用 pytest, 不用 mock"),
    ]
]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Why does the deploy to staging fail?", "deploy"),
        ("please deploy it", "deploy"),
        ("Write some tests of the parser with pytest fixtures.", "testing-style"),
        ("add a migration for the new column in the database", "database-migrations"),
        ("what did we promise Acme?", "customer-acme"),
        ("Users are logged out each hour: are tokens refreshed by the auth service?", "auth-service"),
        ("怎么部署到生产环境", "部署流程"),
        ("部署一下", "部署流程"),
        ("帮我写单元测试", "测试规范"),
    ],
)
def test_related(said: str, name: str) -> None:
    """What is asked for comes first."""
    assert by_words(said, MEMORIES)[0].name == name


@pytest.mark.parametrize(
    "said",
    [
        "rename the variable foo to bar",
        "ok go on",
        "Fix the typo in the readme, then use the new name in all files, please.",
        "Refactor the HTTP client so that it retries with a growing pause.",
        "登录页面的按钮颜色不对，改成蓝色",
        "把变量名改成 foo",
        "",
        " ".join(["Run the pytest tests on a branch, then commit.", *(f"word{n}" for n in range(300))]),
    ],
)
def test_unrelated(said: str) -> None:
    """A few common words, or a long text, are no reason."""
    assert by_words(said, MEMORIES) == []


@pytest.mark.parametrize(
    ("said", "is_brief"), [("yes", True), ("继续", True), ("好的", True), ("", True), ("…!?", True)]
)
def test_brief(said: str, is_brief: bool) -> None:
    """One word says nothing of what it is about."""
    assert brief(said) == is_brief


@pytest.mark.parametrize("said", ["deploy it", "部署到生产", "src/app.py", "Größe ändern"])
def test_not_brief(said: str) -> None:
    """Two do, or three characters where words have no spaces."""
    assert not brief(said)
