"""What commands are told, and what becomes of what they say: each point of the protocol, with real scripts."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from trimtab import Session, load
from trimtab.errors import PluginError
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.testing import material
from trimtab_command_hooks import CommandHooks

COPY = """
import json, os, pathlib, sys
given = json.load(sys.stdin)
with open(given["transcript_path"]) as file:
    given["lines"] = [json.loads(line) for line in file]
given["mode"] = oct(os.stat(os.path.dirname(given["transcript_path"])).st_mode & 0o777)
given["env"], given["argv"], given["in"] = dict(os.environ), sys.argv[1:], os.getcwd()
pathlib.Path(given["hook_event_name"] + "." + given.get("source", "json")).write_text(json.dumps(given))
"""


def told(folder: Path, name: str) -> dict[str, Any]:
    """What `COPY` was told."""
    said: dict[str, Any] = json.loads((folder / name).read_text())
    return said


def says(said: Any) -> str:
    """A script that writes this as JSON."""
    return f"print({json.dumps(said)!r})"


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
def test_what_commands_are_told(run: Any, script: Any, tmp_path: Path, dialect: str) -> None:
    """The fields of each event, and the conversation as said, in both formats."""
    copy = script(COPY)
    it = run(dialect=dialect, pre_compact=[copy], post_compact=[copy], session_start=[copy])
    it.compact(instructions="Keep the ports.")
    pre, post = told(tmp_path, "PreCompact.json"), told(tmp_path, "PostCompact.json")
    start, compact = told(tmp_path, "SessionStart.startup"), told(tmp_path, "SessionStart.compact")
    for said in (pre, post, start, compact):
        assert (said["session_id"], said["cwd"], said["in"]) == ("session-7", str(tmp_path), str(tmp_path))
        assert [one["message"] for one in said["lines"]] == it.messages
        assert [one["type"] for one in said["lines"]] == [
            "assistant" if one["role"] == "assistant" else "user" for one in it.messages
        ]
        assert said["mode"] == "0o700"
        assert not os.path.exists(said["transcript_path"])
    assert (pre["hook_event_name"], pre["trigger"], pre["trimtab_trigger"]) == ("PreCompact", "manual", "manual")
    assert pre["custom_instructions"] == "Keep the ports."
    assert (post["trigger"], post["compact_summary"]) == ("manual", "A summary of what was done.")
    assert (start["source"], compact["source"], start["model"]) == ("startup", "compact", "claude-opus-5-5")


def test_an_overflow_is_an_automatic_run(run: Any, script: Any, tmp_path: Path) -> None:
    """Claude Code knows two triggers; our own word stands beside."""
    it = run(pre_compact=[{"matcher": "auto", "command": script(COPY)}])
    it.prepare()
    it.session.recover({"message": "prompt is too long: 200500 tokens > 200000 maximum"})
    said = told(tmp_path, "PreCompact.json")
    assert (said["trigger"], said["trimtab_trigger"]) == ("auto", "overflow")


def test_nothing_of_the_conversation_is_in_arguments_or_environment(run: Any, script: Any, tmp_path: Path) -> None:
    """These are seen by all users of the machine; the environment has the project's folder beside what it had."""
    it = run(pre_compact=[script(COPY)])
    it.compact(instructions="Keep the ports.")
    said = told(tmp_path, "PreCompact.json")
    assert said["argv"] == []
    more = {key: value for key, value in said["env"].items() if os.environ.get(key) != value}
    assert {key: more.pop(key) for key in ("CLAUDE_PROJECT_DIR", "TRIMTAB_PROJECT_DIR")} == dict.fromkeys(
        ("CLAUDE_PROJECT_DIR", "TRIMTAB_PROJECT_DIR"), str(tmp_path)
    )
    assert set(more) <= {"LC_CTYPE", "PWD", "SHLVL", "_"}


def test_a_hook_of_the_users_own_knows_the_project(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies and runs beside the user's profile; the variables and `cwd` name the project it runs for."""
    own, project = tmp_path / "home" / ".config" / "trimtab", tmp_path / "project"
    own.mkdir(parents=True)
    project.mkdir()
    script(COPY)
    (tmp_path / "hook.py").rename(own / "hook.py")
    (own / "trimtab.yaml").write_text("extends: minimal\nhooks: [{command-hooks: {session_start: [./hook.py]}}]\n")
    monkeypatch.chdir(project)
    profile = load(env={"HOME": str(tmp_path / "home")}, cwd=project)
    stores: Any = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
    report = Session.open("s", profile, background=None, **stores).prepare([{"role": "user", "content": "go"}]).report
    assert (report.warnings, report.failures) == ([], [])
    said = told(own, "SessionStart.startup")
    assert said["cwd"] == said["env"]["CLAUDE_PROJECT_DIR"] == said["env"]["TRIMTAB_PROJECT_DIR"] == str(project)


def test_warnings_of_others_are_shown_where_one_blocks(run: Any, script: Any) -> None:
    """A veto hides nothing that another command has to say to the user."""
    speaks = script(says({"systemMessage": "Look."}), "speaks.py")
    it = run(pre_compact=[speaks, {"command": "exit 2", "shell": True}])
    warnings = it.compact().report.warnings
    assert "command-hooks: PreCompact ./speaks.py: Look." in warnings
    assert any("vetoed" in words for words in warnings)


# ---------------------------------------------------------------------- exit 0


@pytest.mark.parametrize(
    "said", ["  Keep the ports.\n", {"hookSpecificOutput": {"additionalContext": "Keep the ports."}}]
)
def test_what_pre_compact_writes_guides_the_summariser(run: Any, script: Any, said: Any) -> None:
    """The whole output, trimmed; of JSON its field."""
    it = run(pre_compact=[script(f"print({said!r})" if isinstance(said, str) else says(said))])
    it.compact()
    assert it.guides() == ("Keep the ports.",)


def test_json_that_is_not_of_the_protocol_is_text(run: Any, script: Any) -> None:
    """An object without any of its fields, or a list, is what the script wanted to say."""
    it = run(pre_compact=[script(says({"ports": [80]})), "/bin/echo [1]", "/bin/echo null"])
    it.compact()
    assert it.guides() == ('{"ports": [80]}', "[1]", "null")


def test_what_session_start_writes_reaches_the_model(run: Any, script: Any) -> None:
    """At the first request in the system text, behind a boundary there, in a resumed session at the tail; once."""
    context = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "Never push."}}
    it = run(session_start=[script(says(context)), {"matcher": "compact", "command": "/bin/echo Look at plan.md."}])
    it.messages, later = it.messages[:1], it.messages
    first = it.prepare()
    assert "Never push." in str(first.system)
    assert "plan.md" not in str(first)
    it.messages, it.session = later, it.open()
    resumed = it.prepare()
    assert "Never push." in str(resumed.messages[-1])
    assert it.prepare().messages == resumed.messages
    compacted = it.compact()
    assert "A summary of what was done." in str(compacted.messages[0])
    assert ["Never push." in str(one) for one in compacted.messages[1:3]] == [True, False]
    assert ["Look at plan.md." in str(one) for one in compacted.messages[1:3]] == [False, True]


def test_a_conversation_met_in_mid_course_is_told_at_its_end(run: Any) -> None:
    """The system text is fixed by then."""
    request = run(session_start=["/bin/echo Never push."]).prepare()
    assert "Never push." in str(request.messages[-1])
    assert "Never push." not in str(request.system)


def test_what_post_compact_writes_is_shown(run: Any, script: Any) -> None:
    """As a warning of the report, unless it says that it should not be."""
    quiet = {"suppressOutput": True, "hookSpecificOutput": {"additionalContext": "not shown"}}
    it = run(post_compact=["/bin/echo Freed a lot.", script(says(quiet))])
    assert it.compact().report.warnings == ["command-hooks: PostCompact /bin/echo Freed a lot.: Freed a lot."]


def test_a_system_message_is_shown(run: Any, script: Any) -> None:
    """Of every event, and nothing of it reaches the model."""
    hook = script(says({"systemMessage": "Hello\nthere."}))
    it = run(pre_compact=[hook], post_compact=[hook], session_start=[{"matcher": "startup", "command": hook}])
    request = it.compact()
    events = ("SessionStart", "PreCompact", "PostCompact")
    assert request.report.warnings == [f"command-hooks: {event} ./hook.py: Hello there." for event in events]
    assert "Hello" not in str((request.messages, request.system, it.guides()))


def test_pins_stay(run: Any, script: Any) -> None:
    """Words, with a reason or without; those that are nowhere are shown, and so is what is no pin."""
    pins = ["never push", {"text": "load_9(path)", "reason": "the bug"}, "not said", 7]
    it = run(pre_compact=[script(says({"hookSpecificOutput": {"pins": pins}}))])
    request = it.compact()
    assert {pin.text: pin.reason for pin in request.report.pins} == {
        "never push": "PreCompact ./hook.py",
        "load_9(path)": "the bug",
    }
    assert all(words in str(request.messages) for words in ("never push", "load_9(path)"))
    assert request.report.warnings == [
        "command-hooks: PreCompact ./hook.py: pin 4 is neither words nor {text, reason}",
        "command-hooks: PreCompact ./hook.py: not pinned, these words are nowhere: 'not said'",
    ]
    assert "command-hooks" not in request.report.refused


def test_a_pin_that_a_summary_carries_is_no_trouble(run: Any, script: Any) -> None:
    """A script says the same words in each pass; once they are pinned nobody is told that they are nowhere."""
    it = run(pre_compact=[script(says({"hookSpecificOutput": {"pins": ["never push"]}}))])
    it.compact()
    it.messages += material.rounds(it.dialect, 16)[len(it.messages) :]
    request = it.compact()
    assert len(it.session.boundaries()) == 2
    assert [pin.text for pin in request.report.pins] == ["never push"]
    assert (request.report.warnings, request.report.refused) == ([], {})


def test_pins_are_for_pre_compact(run: Any, script: Any) -> None:
    """Elsewhere they would come too late, and are shown."""
    it = run(post_compact=[script(says({"hookSpecificOutput": {"pins": ["never push"]}}))])
    report = it.compact().report
    assert report.pins == []
    assert report.warnings == ["command-hooks: PostCompact ./hook.py: pins are for PreCompact"]


# ---------------------------------------------------------------------- blocks

BLOCKS = [
    "import sys; print('not used'); print('Wait.', file=sys.stderr); sys.exit(2)",
    says({"decision": "block", "reason": "Wait."}),
    says({"continue": False, "stopReason": "Wait."}),
]


@pytest.mark.parametrize("event", ["PreCompact", "PostCompact"])
@pytest.mark.parametrize("body", BLOCKS)
def test_three_ways_to_block(run: Any, script: Any, body: str, event: str) -> None:
    """By the exit status or by JSON, before and after: then nothing that was sent is shortened."""
    it = run(**{event: [script(body)]})
    request = it.compact()
    assert list(request.messages) == it.messages
    assert request.report.warnings == [f"a hook vetoed: command-hooks: {event} ./hook.py: Wait."]


def test_all_who_block_are_named(run: Any, script: Any) -> None:
    """Also one that does not say why."""
    it = run(pre_compact=[script(BLOCKS[0]), "/bin/true", script("raise SystemExit(2)", "mute.py")])
    assert it.compact().report.warnings == [
        "a hook vetoed: command-hooks: PreCompact ./hook.py: Wait.; PreCompact ./mute.py: blocked"
    ]


@pytest.mark.parametrize("body", BLOCKS)
def test_a_start_cannot_be_blocked(run: Any, script: Any, body: str) -> None:
    """What it says is shown."""
    request = run(session_start=[script(body)]).prepare()
    assert request.report.warnings == ["command-hooks: SessionStart ./hook.py: Wait.; nothing can be blocked here"]


# ---------------------------------------------------------------------- when and how they run


def test_only_changes_of_sent_content_count(run: Any, script: Any, tmp_path: Path) -> None:
    """R10: passes that only look at what was never sent call nobody, unless asked."""
    copy = script(COPY)
    for asked in (False, True):
        it = run(first_send=asked, pre_compact=[copy], post_compact=[copy], session_start=["/bin/echo Never push."])
        view = it.session
        it.prepare()
        hook = CommandHooks(it.profile.hooks[0].options)
        hook.folder = tmp_path
        list(hook.pre_compact(view.view, "first_send"))
        assert (tmp_path / "PreCompact.json").exists() is asked
        assert (tmp_path / "PostCompact.json").exists() is asked


def test_commands_run_at_the_same_time_and_answer_in_order(run: Any, script: Any) -> None:
    """Two that wait for each other; the first one listed is heard first."""
    body = """
import pathlib, sys, time
pathlib.Path(sys.argv[1]).touch()
while not pathlib.Path(sys.argv[2]).exists():
    time.sleep(0.01)
time.sleep(0.1 if sys.argv[1] == "a" else 0)
print(sys.argv[1])
"""
    hook = script(body)
    it = run(pre_compact=[{"command": f"{hook} {words}", "timeout": 5} for words in ("a b", "b a")])
    it.compact()
    assert it.guides() == ("a", "b")


def test_the_same_command_runs_once(run: Any, bash: Any, tmp_path: Path) -> None:
    """Though two matchers name it; with other words it is another."""
    hook = bash("echo >> count")
    it = run(pre_compact=[hook, {"matcher": "manual", "command": hook}, [hook], f"{hook} more"])
    it.compact()
    assert (tmp_path / "count").read_text() == "\n\n"


def test_a_shell_where_asked(run: Any) -> None:
    """Its line is that of /bin/sh, with the folder in its environment."""
    it = run(pre_compact=[{"command": 'cd "$CLAUDE_PROJECT_DIR" && pwd | tr a-z A-Z', "shell": True}])
    it.compact()
    assert it.guides() == (os.getcwd().upper(),)


def test_a_pass_waits_in_threads_and_in_event_loops(run: Any) -> None:
    """`aprepare` blocks its loop as `prepare` blocks its thread, and nothing breaks."""
    it = run(session_start=["/bin/echo Never push."])
    request = asyncio.run(it.session.aprepare(it.messages))
    assert "Never push." in str(request.messages[-1])


def test_each_start_is_checked(run: Any, script: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the user does not trust is not started; the others are."""
    checked: list[list[str]] = []

    def check(hook: CommandHooks, argv: list[str]) -> None:
        checked.append(list(argv))
        if argv[0].endswith("hook.sh"):
            raise PluginError("hook.sh changed since it was trusted")

    monkeypatch.setattr(CommandHooks, "check", check)
    it = run(pre_compact=[script("touch ran", "hook.sh", "#!/bin/sh"), "/bin/echo Keep."])
    request = it.compact()
    assert checked == [[f"{tmp_path}/hook.sh"], ["/bin/echo", "Keep."]]
    assert not (tmp_path / "ran").exists()
    assert it.guides() == ("Keep.",)
    assert request.report.warnings == ["command-hooks: PreCompact ./hook.sh: hook.sh changed since it was trusted"]


def test_no_file_is_left(run: Any, script: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nor does it matter what a command does with its transcript."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    body = "import json, os, sys; path = json.load(sys.stdin)['transcript_path']\n"
    both = [script(body + "os.remove(path)", "a.py"), script(body + "open(path + '.more', 'w').close()", "b.py")]
    run(pre_compact=both).compact()
    assert list(place.iterdir()) == []
