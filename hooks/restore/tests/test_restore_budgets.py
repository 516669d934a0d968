"""Budgets hold on every window, and behind a boundary the view stays below its target."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PATHS = st.sampled_from(["a.py", "src/b.py", "c/SKILL.md", "plans/d.md", "CLAUDE.md"])
SIZES = st.sampled_from([10, 400, 4_000, 30_000])
TEXTS = ["# AGENTS.md instructions for /p\n", "Base directory for this skill: /s\n", "Go on.\n"]
STEP = st.one_of(
    st.tuples(st.just("Read"), PATHS, SIZES),
    st.tuples(st.just("Write"), PATHS, SIZES),
    st.tuples(st.just("Edit"), PATHS, SIZES),
    st.tuples(st.sampled_from(TEXTS), PATHS, SIZES),
)


def told(talk, steps):
    """The steps as a conversation; each content has a number of its own."""
    for n, (tool, path, size) in enumerate(steps):
        text = f"content {n} of it\n" * (size // 16)
        if tool in TEXTS:
            talk.say(tool + text)
        elif tool == "Read":
            talk.read(path, text)
        else:
            key = "content" if tool == "Write" else "new_string"
            talk.call(tool, {"file_path": path, key: text})
    return talk.work()


@pytest.fixture
def fresh(run, talk):
    """Makes a new talk and a new session of the same format."""
    return lambda window: (run(window=window), type(talk)(talk.dialect))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(steps=st.lists(STEP, max_size=12), window=st.sampled_from([8_000, 30_000, 100_000, 200_000]))
def test_budgets_hold(fresh, steps, window):
    """Each file and skill, all of each kind, all together on a small window, and the target of the boundary."""
    session, talk = fresh(window)
    texts = session(told(talk, steps))
    view, share = session.session.view, min(1.0, window / 200_000)
    sizes = [view.count(text) for text in texts]
    frame = 60
    for text, size in zip(texts, sizes, strict=True):
        if text.startswith(("This file", "A skill")):
            assert size <= 5_000 * share + frame
    assert sum(size for text, size in zip(texts, sizes, strict=True) if text.startswith("A skill")) <= 25_000 * share
    if window < 200_000:
        assert sum(sizes) <= 0.25 * view.window.effective
    if texts:
        assert view.tokens <= view.window.auto


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(steps=st.lists(STEP, max_size=12))
def test_what_is_put_back_of_a_file_is_its_newest_content(fresh, steps):
    """After an edit none, after a read or a write that one and no other."""
    session, talk = fresh(1_000_000)
    newest: dict[str, str] = {}
    for n, (tool, path, _) in enumerate(steps):
        if tool in ("Read", "Write", "Edit"):
            newest[path] = f"content {n} of it" if tool != "Edit" else ""
    for text in session(told(talk, steps)):
        if "content" in text and text.startswith(("This file", "The plan")):
            (path,) = [path for path in newest if path in text.split("\n")[0]]
            assert newest[path]
            assert set(text.split("\n")[2:-1]) == {newest[path]}
