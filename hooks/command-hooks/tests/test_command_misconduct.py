"""Commands that hang, crash, flood, fork and lie cost their own effect only, and leave nothing behind."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from trimtab_command_hooks import answers, running
from trimtab_command_hooks.running import Ran

PLAGUES = {
    "sleeps": ("sleep 100", "not done after 0.3 s, ended"),
    "ignores SIGTERM": ("trap '' TERM; while :; do sleep 0.1; done", "not done after 0.3 s, ended"),
    "sleeps behind closed pipes": ("exec <&- >&- 2>&-; sleep 100", "not done after 0.3 s, ended"),
    "floods": ("cat /dev/zero | head -c 100000000", "wrote more than 1,000,000 bytes, ended"),
    "floods stderr": ("cat /dev/zero >&2", "wrote more than 1,000,000 bytes, ended"),
    "binary": ("head -c 5000 /dev/urandom; printf '\\0'", "wrote binary data, which is not used"),
    "fails": ("echo not used; echo 'no such port' >&2; exit 1", "exit status 1: no such port"),
    "fails silently": ("exit 77", "exit status 77"),
    "crashes": ("echo not used; kill -SEGV $$", "ended by SIGSEGV"),
    "half JSON": ("""echo '{"decision": "block"'""", "wrote what begins as JSON and is none (JSONDecodeError): {"),
    "deep JSON": ("""printf '{"a":%0.s' {1..20000}""", "wrote what begins as JSON and is none (RecursionError): {"),
}
"""Name to the body of a script in bash, and what is shown of it."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certain signal comes soon behind the polite one."""
    monkeypatch.setattr(running, "MOMENT", 0.1)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No open file, no child and no thread is left by any test of this file."""
    fds, threads = len(os.listdir("/dev/fd")), threading.active_count()
    yield
    assert len(os.listdir("/dev/fd")) == fds
    assert threading.active_count() == threads
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def started(argv: list[str], folder: Path, timeout: float = 5.0, given: bytes = b"{}") -> Ran:
    """What comes of one command."""
    return running.run(argv, given, timeout, folder, os.environ, threading.Event())


def alive(folder: Path) -> bool:
    """Whether the process that wrote its id into `pid` still runs; one that is dead and not yet buried does not."""
    state = Path(f"/proc/{(folder / 'pid').read_text().strip()}/stat")
    for _ in range(40):
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return False
        time.sleep(0.02)
    return True


def test_misconduct_costs_only_its_own_effect(run: Any, bash: Any) -> None:
    """All at once, beside a good one: that is heard, the summary is made, and each of the others is shown."""
    commands = [bash(body, f"{n}.sh") for n, (body, _) in enumerate(PLAGUES.values())]
    times = [0.3 if "0.3" in text else 30 for _, text in PLAGUES.values()]
    slow = [{"command": one, "timeout": time} for one, time in zip(commands, times, strict=True)]
    it = run(pre_compact=[*slow, "/bin/echo Keep."])
    request = it.compact()
    assert it.guides() == ("Keep.",)
    assert "A summary of what was done." in str(request.messages)
    shown = [warning.partition(".sh: ")[2] for warning in request.report.warnings]
    assert len(shown) == len(PLAGUES)
    for name, warning, (_, text) in zip(PLAGUES, shown, PLAGUES.values(), strict=True):
        assert warning.startswith(text), f"{name}: {warning}"
        assert len(warning) < 700


@pytest.mark.parametrize("event", ["post_compact", "session_start"])
def test_misconduct_at_the_other_events(run: Any, bash: Any, event: str) -> None:
    """Shown there, too."""
    it = run(**{event: [bash("echo not used; exit 1")]})
    request = it.compact()
    assert "A summary of what was done." in str(request.messages)
    assert "not used" not in str((request.messages, request.system))
    assert any(warning.endswith("exit status 1") for warning in request.report.warnings)


def test_a_whole_group_is_ended(bash: Any, tmp_path: Path) -> None:
    """Grandchildren too, also those that ignore the polite signal."""
    bash("bash -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 0.05; done' &\nwait")
    ran = started(["./hook.sh"], tmp_path, 0.5)
    assert ran.trouble == "not done after 0.5 s, ended"
    assert not alive(tmp_path)


def test_a_child_that_keeps_the_pipes_does_not_hold_us(bash: Any, tmp_path: Path) -> None:
    """What the command itself wrote counts; what it left running on purpose goes on."""
    bash("(sleep 20 & echo $! > pid)\necho Keep.")
    start = time.monotonic()
    assert started(["./hook.sh"], tmp_path) == Ran(0, b"Keep.\n", b"")
    assert time.monotonic() - start < 1
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_nobody_waits_for_a_command_that_is_done(tmp_path: Path) -> None:
    """Its end is noticed at once, not at the next look."""
    start = time.monotonic()
    for _ in range(10):
        assert started(["/bin/true"], tmp_path) == Ran()
    assert time.monotonic() - start < 10 * running.TICK


def test_a_child_that_floods_does_not_hold_us(bash: Any, tmp_path: Path) -> None:
    """It runs into a closed pipe."""
    bash("(cat /dev/zero & echo $! > pid)\necho Keep.")
    started(["./hook.sh"], tmp_path)
    assert not alive(tmp_path)


@pytest.mark.parametrize(
    "body", ["exit 0", "exec <&-; sleep 0.1", "read -n 9 x; exec <&-; sleep 0.1", "cat > /dev/null"]
)
def test_stdin_need_not_be_read(bash: Any, tmp_path: Path, body: str) -> None:
    """Not at all, not to its end, or closed at once: a megabyte that nobody wants is no failure."""
    bash(body)
    assert started(["./hook.sh"], tmp_path, given=b"x" * 1_000_000) == Ran()


def test_much_is_read_and_written_at_once(tmp_path: Path) -> None:
    """A command that echoes what it reads does not come to a halt."""
    given = os.urandom(900_000)
    assert started(["/bin/cat"], tmp_path, given=given).out == given


def test_invalid_utf_8_is_replaced(run: Any, bash: Any) -> None:
    """And lone surrogates in JSON are, too."""
    one = bash("printf 'Keep \\xff.'")
    two = bash("""printf '{"hookSpecificOutput": {"additionalContext": "Keep \\\\ud83d."}}'""", "two.sh")
    it = run(pre_compact=[one, two])
    it.compact()
    assert it.guides() == ("Keep \ufffd.", "Keep \ufffd.")


def test_a_long_guide_is_cut(run: Any, script: Any) -> None:
    """And the user is told."""
    it = run(pre_compact=[script("print('Keep. ' * 5000)")])
    request = it.compact()
    assert [len(guide) for guide in it.guides()] == [answers.LONGEST]
    assert request.report.warnings == [
        "command-hooks: PreCompact ./hook.py: wrote 29,999 characters, of which the first 10,000 are used"
    ]


@pytest.mark.parametrize(
    "said",
    [
        {"hookSpecificOutput": 7},
        {"hookSpecificOutput": {"additionalContext": 7, "pins": 7}},
        {"hookSpecificOutput": {"pins": [None, [], {}, {"text": " "}, {"text": ["x"], "reason": 7}]}},
        {"hookSpecificOutput": {"pins": ["x"] * 1000}},
        {"hookSpecificOutput": {"hookEventName": ["PostCompact"], "additionalContext": "no"}},
        {"hookSpecificOutput": {"pins": [json.loads("[" * 900 + "]" * 900)]}},
        {"systemMessage": {"a": 1}, "continue": 0, "decision": ["block"], "reason": 7, "suppressOutput": "yes"},
    ],
)
def test_fields_of_the_wrong_kind(said: Any) -> None:
    """They are left out, and shown where they would have had an effect."""
    for event in ("PreCompact", "PostCompact", "SessionStart"):
        made = answers.answer(event, Ran(0, json.dumps(said).encode()))
        assert (made.text, made.blocked) == ("", None)
        assert len(made.pins) <= answers.PINS
        assert made.warnings or "systemMessage" in said


@pytest.mark.parametrize(
    ("first", "mode", "why"),
    [
        ("#!/bin/sh", 0o600, "is not executable; chmod +x makes it so"),
        ("", 0o700, "does not begin with #! and a program, as #!/bin/sh"),
        ("#!/bin/nothing", 0o700, "the program that the first line of"),
    ],
)
def test_scripts_that_cannot_be_started(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, mode: int, why: str
) -> None:
    """The file and what to do about it."""
    path = tmp_path / "hook.sh"
    script("true", path.name, first)
    path.chmod(mode)
    trouble = started([str(path)], tmp_path).trouble
    assert trouble.startswith("cannot be started: ")
    assert why in trouble
    assert str(path) in trouble


def test_what_is_not_there(tmp_path: Path) -> None:
    """A file, a program, a folder, or an argument that no system takes."""
    gone = tmp_path / "gone"
    assert started([str(gone)], tmp_path).trouble == f"cannot be started: there is no {gone}"
    assert started(["no-such"], tmp_path).trouble == "cannot be started: no no-such on the PATH"
    assert started(["/bin/true"], gone).trouble == f"cannot be started: there is no folder {gone}"
    assert "Argument list too long" in started(["/bin/true", "x" * 3_000_000], tmp_path).trouble
    assert (
        "Is a directory" in started([str(tmp_path)], tmp_path).trouble
        or "not executable" in started([str(tmp_path)], tmp_path).trouble
    )


def test_a_script_that_is_deleted_while_it_runs(run: Any, bash: Any) -> None:
    """It counts once; the next time it is not there."""
    it = run(pre_compact=[bash("rm hook.sh; echo Keep.")])
    assert it.compact().report.warnings == []
    assert it.guides() == ("Keep.",)
    assert "no file " in it.compact().report.warnings[0]


def test_the_users_interrupt_ends_them(run: Any, bash: Any, tmp_path: Path) -> None:
    """A command in its own session does not get the terminal's, and nobody waits for its time to be over."""
    it = run(pre_compact=[bash("echo $$ > pid; sleep 100")])

    def interrupt() -> None:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=interrupt)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        it.compact()
    sender.join()
    assert not alive(tmp_path)
