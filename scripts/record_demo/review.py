"""Last part, after a long pause: two promises followed through the kernel, and everything run once more."""

from __future__ import annotations

from scripts.record_demo.agent import Agent, bash, edit, grep, read, write
from scripts.record_demo.explore import PLUGIN, SOURCE

__all__ = ["review"]

FROZEN = '''\
"""A `tail` preview, once sent, stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_tail_is_frozen(tmp_path: Path, talk: Any, opened: Callable[..., Any], shown: Callable[..., Any]) -> None:
    """A session that is opened again under another preview shows the same text for what was sent."""
    long = "\\n".join(f"step {n:05} passed" for n in range(2_000))
    first = opened(tmp_path, preview="tail").prepare(talk.round(("Bash", {"command": "run"}, long)))
    talk.round(("Bash", {"command": "true"}, "done"))
    again = opened(tmp_path, preview="head").prepare(talk.messages)
    assert again.messages[2] == first.messages[2]
    assert "step 01999 passed" in shown(again.messages, 2)[0]
'''


def review(agent: Agent, places: str) -> None:
    """Promise 4, reading back, what an old search found, the whole run, the changelog, the end."""
    frozen(agent)
    read_back(agent)
    elsewhere(agent, places)
    finish(agent)


def frozen(agent: Agent) -> None:
    """Where a sent face is kept."""
    agent.say("First promise 4, in its own words.", grep(r"[Ff]rozen|never re-?made", "docs", "*.md"))
    agent.say(
        "The text of a `Replace` must come from the ledger, never from the stage again. Where is it "
        "written, and where is it read?",
        grep(r"\.text\b.*Replace|Replace\(|faces|\.rows\(", "core/src/trimtab"),
    )
    agent.say(
        "`Replace` carries its text. Now the projection, which must take it from there:",
        read("core/src/trimtab/projection.py", 1, 90),
        read("core/src/trimtab/ledger.py", 1, 60),
    )
    agent.say(
        "So a face is what the row says. Can a stage change it later? That is for the rules and for the pipeline.",
        read("core/src/trimtab/rules.py", 1, 90),
    )
    agent.say(
        "R7 and the `when` guard it: what was sent changes only by an edit that a `when` let through. And this stage?",
        grep(r"\bsent\b|replaced", SOURCE),
    )
    agent.say(
        "It takes only what is not `sent`, and skips what is `replaced`. The pipeline, to be sure that nothing goes "
        "round the rules:",
        read("core/src/trimtab/pipeline.py", 60, 90),
    )
    agent.say(
        "And the session, which commits: blobs first, then the rows, then the view.",
        read("core/src/trimtab/session.py", 110, 90),
    )
    agent.say(
        "`prepare` starts from the recorded rows after a restart too, so a changed option cannot reach a sent result. "
        "I'd rather have that as a test than as a belief: open again with another preview and compare.",
        write(f"{PLUGIN}/tests/test_budget_frozen.py", FROZEN),
        bash(f"python -m pytest -q {PLUGIN}/tests/test_budget_frozen.py", "Run the new test"),
    )


def read_back(agent: Agent) -> None:
    """Stored texts can be read in parts."""
    agent.say(
        "It holds. Now reading back: `propose` in stage.py asks `source(result, view.is_stored)` first.",
        read(f"{SOURCE}/readback.py"),
        read(f"{PLUGIN}/tests/test_budget_readback.py", 1, 60),
    )
    agent.say(
        "`start_of` decides there, not `preview`: a stored text that is read back never becomes a preview again, "
        "`tail` or not. Its limit is the one for reading tools. Who else asks `is_stored` or `owns`?",
        grep(r"is_stored|owns\(|start_of", "", "*.py"),
    )
    agent.say(
        "Only the view and the stores. One look at the part of stage.py that chooses, after all my changes:",
        read(f"{SOURCE}/stage.py", 35, 45),
        read(f"{SOURCE}/placeholder.py", 25, 40),
    )


def elsewhere(agent: Agent, places: str) -> None:
    """The agent goes back to what it found in the first turn: other tests that look at what is shown."""
    lines = [line for line in places.splitlines() if line.startswith("tests/test_")]
    files = sorted({line.partition(":")[0] for line in lines})
    first = [next(line for line in lines if line.startswith(f"{file}:")) for file in files]
    agent.say(
        "The search of the first turn found tests outside the plugin that look at what is shown; they would notice a "
        "face that changes:\n" + "\n".join(first),
        bash(f"python -m pytest -q {' '.join(files)}", "Run the tests that look at what is shown"),
    )


def finish(agent: Agent) -> None:
    """Everything once more."""
    agent.say(
        "All of them pass, so both promises hold. Everything once more, with the errors of core's profiles.",
        bash(f"python -m pytest -q {PLUGIN}/tests core/tests/test_profile_errors.py", "Run the tests"),
        bash(f"ruff check {PLUGIN}; ruff format --check {PLUGIN}; mypy {SOURCE}", "Check style and types"),
    )
    agent.say(
        "All green. The whole change, as it would be merged:", bash("git add -A; git diff --cached", "Show the change")
    )
    agent.say("The diff is what I meant. The changelog:", read("CHANGELOG.md"))
    line = agent.lines("CHANGELOG.md", r"^## \[Unreleased\]")
    agent.say(
        "It goes under *Unreleased*.",
        edit(
            "CHANGELOG.md",
            line,
            f"{line}\n\n### Added\n\n- `tool-result-budget`: `preview: tail` shows the end of a result.",
        ),
    )
    agent.say(
        "A last look at preview.py as it will be merged.",
        read(f"{SOURCE}/preview.py"),
        bash("git add -A; git diff --cached --stat", "Show the sizes of the change"),
    )
    agent.say(
        "Done.\n"
        "- `preview: tail` with the option `tail` (4,000 characters); `ending` in preview.py serves `head_tail` too.\n"
        "- Promise 4 holds: a face comes from the ledger's row; test_budget_frozen.py opens a session again under "
        "another preview and compares.\n"
        "- A stored text that is read back goes through `start_of`, never through `preview`.\n"
        "- Errors for `preview: tails`, `tail: 0` and `tial` are held by test_budget_options.py.\n"
        "- The kernel, stage.py and the default profile are unchanged; the changelog has its line."
    )
