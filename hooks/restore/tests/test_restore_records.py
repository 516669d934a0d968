"""Skills, plan, tasks, instructions, discovery; their order and their budgets."""

from __future__ import annotations

import pytest
from trimtab_restore import records

SKILL = "Base directory for this skill: /skills/{name}\n\n# {name}\n" + "Do this with care.\n" * 10
CLAUDE = (
    "<system-reminder>\n# claudeMd\nContents of /p/CLAUDE.md (project instructions):\n\nUse tabs.\n</system-reminder>"
)
TASKS = [{"content": "Find it", "status": "completed"}, {"content": "Mend it", "status": "in_progress"}]


def test_instructions_that_a_message_carried(talk, run):
    """Claude Code's reminder; the user's own words beside it are not a part of it."""
    (text,) = run()(talk.say(CLAUDE, "Now mend CLAUDE.md.").work())
    assert text.startswith("Project instructions, as this conversation carried them:\n<put-back>\n# claudeMd\n")
    assert "Use tabs." in text
    assert "Now mend" not in text


def test_instructions_of_codex_and_only_the_newest(talk, run):
    """A message that begins with the heading; the same file again is newer."""
    for rule in ("Use tabs.", "Use spaces."):
        talk.say(f"# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\n{rule}\n</INSTRUCTIONS>").work(1)
    (text,) = run()(talk.work())
    assert "Use spaces." in text
    assert "Use tabs." not in text


@pytest.mark.parametrize("words", ["Please edit CLAUDE.md", "Look:\n# AGENTS.md instructions for /p\nobey"])
def test_words_about_instructions_are_none(talk, run, words):
    """And what a tool said never is."""
    assert run()(talk.say(words).call("Bash", {"command": "make all"}, CLAUDE).work()) == []


@pytest.mark.parametrize(
    "call",
    [
        ("ExitPlanMode", {"plan": "1. Mend"}),
        ("TodoWrite", {"todos": TASKS}),
        ("ToolSearch", {"query": "q"}),
        ("Write", {"file_path": "plans/a.md", "content": "1. Mend"}),
    ],
)
def test_what_is_still_shown_is_left_out(talk, run, call):
    """It stands behind the boundary: instructions, a skill, and each of these."""
    assert run()(talk.work().say(CLAUDE, SKILL.format(name="one")).call(*call)) == []


def test_the_plan_as_it_was_proposed_last(talk, run):
    """The newest of all."""
    talk.call("ExitPlanMode", {"plan": "1. Look"}).call("ExitPlanMode", {"plan": "1. Mend"})
    (text,) = run()(talk.work())
    assert "1. Mend" in text
    assert "1. Look" not in text


def test_a_plan_file_is_the_plan_and_listed_once(talk, run):
    """One that is newer than the last proposal; not among the files as well."""
    talk.call("ExitPlanMode", {"plan": "1. Look"})
    talk.call("Write", {"file_path": "/home/ann/.claude/plans/blue-fox.md", "content": "1. Mend"})
    (text,) = run()(talk.work())
    assert text.startswith("The plan, from its file")
    assert "1. Mend" in text


def test_a_changed_plan_file_is_named(talk, run):
    """Never its older content."""
    talk.call("Write", {"file_path": "docs/plans/x.md", "content": "1. Mend"})
    talk.call("Edit", {"file_path": "docs/plans/x.md", "old_string": "Mend", "new_string": "Look"})
    (text,) = run()(talk.work())
    assert "- docs/plans/x.md: " in text
    assert "1. Mend" not in text


@pytest.mark.parametrize("key", ["todos", "plan"])
def test_the_list_of_tasks(talk, run, key):
    """The newest, of whatever tool keeps one."""
    talk.call("TodoWrite", {key: [{"step": "Old", "status": "pending"}]}).call("update_plan", {key: TASKS})
    (text,) = run()(talk.work())
    assert "- [x] Find it\n- [~] Mend it\n" in text
    assert "Old" not in text


@pytest.mark.parametrize("tasks", [[], TASKS[:1]])
def test_a_list_with_nothing_open_is_left_out(talk, run, tasks):
    """Emptied, or all done."""
    talk.call("TodoWrite", {"todos": TASKS}).call("TodoWrite", {"todos": tasks})
    assert run()(talk.work()) == []


def test_what_was_found_about_tools(talk, run):
    """Searches for tools, and what MCP servers say of themselves."""
    talk.say("<system-reminder>\n# MCP Server Instructions\n\n## linear\nUse ids.\n</system-reminder>")
    talk.call("ToolSearch", {"query": "select:WebFetch"}, "<functions>WebFetch</functions>")
    (text,) = run()(talk.work())
    assert "Use ids." in text
    assert "ToolSearch(query: select:WebFetch)\n<functions>WebFetch" in text


def test_skills_newest_first_and_cut_at_their_limit(talk, run):
    """The head, and where all of it is; what has no room is left out."""
    for name in ("one", "two", "three"):
        talk.call("Skill", {"skill": name}, f"Launching skill: {name}").say(SKILL.format(name=name))
    texts = run(skills={"each": 60, "total": 250})(talk.read("/s/big/SKILL.md", "Read this.\n" * 400).work())
    assert ["big" in texts[0], "three" in texts[1]] == [True, True]
    assert "more characters; all of it: /skills/three/SKILL.md]" in texts[1]
    assert len(texts) < 4


def test_the_most_important_first(talk, run):
    """Instructions, plan, tasks, tools, skills, files, and the files that are only named."""
    talk.read("a.py", "x = 1").read("big.py", "y = 1\n" * 9_000).say(CLAUDE, SKILL.format(name="one"))
    talk.call("ToolSearch", {"query": "q"}, "found").call("TodoWrite", {"todos": TASKS})
    texts = run()(talk.call("ExitPlanMode", {"plan": "1. Mend"}).work())
    starts = ["Project", "The plan", "The list", "What was found", "A skill", "This file", "Files"]
    assert [text.startswith(start) for text, start in zip(texts, starts, strict=True)] == [True] * 7


def test_everything_can_be_switched_off(talk, run):
    """Each by its own key."""
    talk.read("a.py", "x = 1").say(CLAUDE, SKILL.format(name="one")).call("TodoWrite", {"todos": TASKS})
    talk.call("ToolSearch", {"query": "q"}, "found").call("ExitPlanMode", {"plan": "1. Mend"})
    off = dict.fromkeys(("plan", "todo", "instructions", "discovery"), False)
    assert run(files={"count": 0}, skills={"total": 0}, **off)(talk.work()) == []


def test_what_has_no_room_is_told(talk, run):
    """A small window; the next thing that fits comes all the same."""
    session = run(window=8_000)
    reminder = CLAUDE.replace("Use tabs.", "Use tabs, and this.\n" * 500)
    texts = session(talk.say(reminder).call("TodoWrite", {"todos": TASKS}).work())
    assert [text[:8] for text in texts] == ["The list"]
    assert any(warning.startswith("restore: an instruction is not put back") for warning in session.report.warnings)


@pytest.mark.parametrize(
    ("path", "plan", "memory", "skill"),
    [
        ("PLAN.md", 1, 0, 0),
        ("a/plans/x.md", 1, 0, 0),
        ("a\\plans\\x.md", 1, 0, 0),
        ("plans/a/x.md", 0, 0, 0),
        ("plans/x.py", 0, 0, 0),
        ("x/CLAUDE.md", 0, 1, 0),
        ("a/SKILL.md", 0, 0, 1),
        ("plan.py", 0, 0, 0),
    ],
)
def test_files_of_a_kind(path, plan, memory, skill):
    """By name and folder."""
    assert (records.is_plan(path), records.is_memory(path), records.is_skill(path)) == (plan, memory, skill)
