"""`trimtab explain`: every difference with its reason and its way back, read from storage alone."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from play import LONG, Play, call, result, says, talk, thinks, user
from stages import Budget, ClearOld, Do, DropOld, FoldOld, Greet, KeepWords
from trimtab import Replace
from trimtab.cli import app
from trimtab.storage.files import FileBlobs
from trimtab.storage.sqlite import SqliteLedger
from typer.testing import CliRunner, Result

AT = 1_000_005.0
"""The clock of a `Play`'s first request: 12 January 1970, 13:46:45 UTC."""

Played = Callable[..., Play]
Run = Callable[..., Result]


@pytest.fixture
def played(home: Path) -> Played:
    """A session on the storage that the default profile names."""
    data = home / ".local/share/trimtab"

    def played(*plugins: Any, **said: Any) -> Play:
        stores = {"ledger": SqliteLedger(f"sqlite://{data}/ledger.db"), "blobs": FileBlobs(f"file://{data}/blobs")}
        return Play(*plugins, **stores, **said)

    return played


@pytest.fixture
def run(work: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run `trimtab explain` in the working directory, in UTC."""
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield lambda *words: CliRunner().invoke(app, ["explain", *words])
    monkeypatch.undo()
    time.tzset()


def paths(told: str) -> list[Path]:
    """All ways back."""
    return [Path(line.split(": ", 1)[1]) for line in told.splitlines() if line.startswith("    original: ")]


def test_a_replacement(played: Played, run: Run) -> None:
    """A person reads when, which stage, from how much to how much, why, and where the original lies."""
    play = played(Budget, stages=["budget"])
    play.send(talk(1))
    play.session.ledger.store.close()
    told = run("s")
    assert told.exit_code == 0
    (path,) = paths(told.stdout)
    said = talk(1)[2]["content"][0]["content"]
    freed, shown = play.session.ledger.decisions[0].freed, len(play.session.ledger.decisions[0].edits[0].text)
    assert path.read_text() == said
    assert told.stdout.splitlines() == [
        "session s: 1 decision, 1 edit",
        "",
        f"decision 1: budget, 1970-01-12 13:46:45+00:00, auto pass, {freed:,.0f} tokens freed",
        f"  {len(said):,} → {shown} characters: too big",
        f"    original: {path}",
    ]


def test_hooks_and_rounds(played: Played, run: Run) -> None:
    """Pins, inserts and dropped rounds each have their line; what had been sent before is said to change."""
    stages = [{"drop-old": {"keep": 7, "when": ["cold"]}}]
    play = played(DropOld, Greet, KeepWords, stages=stages, hooks=["greet", {"keep-words": {"words": "Mend"}}])
    play.send(talk(0))
    play.cold(talk(8))
    told = run("s").stdout
    assert "  inserted 'House rule: test first.': session_start:startup\n" in told
    assert "  stays verbatim, 'Mend': standing order\n" in told
    assert " tokens freed, changed what had been sent\n  2 messages left out: old\n" in told
    assert [json.loads(path.read_text())["message"] for path in paths(told)] == talk(8)[1:3]


def test_fold(played: Played, run: Run) -> None:
    """A summary leads back to every message that it stands for."""
    play = played(FoldOld, stages=[{"fold-old": {"keep": 2, "text": "Read.", "when": ["cold"]}}])
    play.send(talk(3))
    play.cold(talk(3))
    told = run("s").stdout
    assert "  5 messages → 5 characters: old\n" in told
    assert [json.loads(path.read_text())["message"] for path in paths(told)] == talk(3)[:5]


def test_thinking(played: Played, run: Run) -> None:
    """Thinking that an edit took with it leads back to its whole message."""
    stages = [{"clear-old": {"keep": 1, "when": ["cold"]}}]
    play = played(ClearOld, stages=stages, provider={"prefix_bound": True})
    said = [*talk(1), says(thinks("so"), "Done."), user("More."), says(call("c9")), user(result("c9"))]
    play.send(said[:-2])
    play.cold(said)
    told = run("s").stdout
    assert "  1 thinking block left out: bound to what was edited\n" in told
    message = next(path for path in paths(told) if path.suffix == ".json")
    assert json.loads(message.read_text())["message"] == said[3]


def test_undone(played: Played, run: Run) -> None:
    """What was undone stays listed and says so."""
    play = played(Budget, stages=["budget"])
    play.send(talk(1))
    play.session.restore(1)
    play.cold(talk(1))
    told = run("s").stdout
    assert "characters: too big (undone since)\n" in told
    assert "  earlier decisions undone: " in told


def test_image(played: Played, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Content without text leads back to the whole message."""
    png = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    said = [user({"type": "image", "source": png}, "What is it?")]
    play = played(Do, stages=["do"])
    monkeypatch.setattr(Do, "now", lambda view: [Replace(view.messages[0].message.blocks[0], "[image]", "seen")])
    play.send(said)
    told = run("s").stdout
    assert "  other content → 7 characters: seen\n" in told
    assert json.loads(paths(told)[0].read_text())["message"] == said[0]


def test_lost_original(played: Played, run: Run) -> None:
    """An original that is gone or damaged is said to be; the rest is listed all the same."""
    play = played(Budget, stages=["budget"], history="unsent")
    play.send(talk(2))
    gone, damaged = paths(run("s").stdout)
    gone.unlink()
    damaged.write_text("other")
    lines = run("s").stdout.splitlines()
    assert f"    original: {gone} (no stored original)" in lines
    assert f"    original: {damaged} (the stored original is damaged (5 bytes that do not fit its name))" in lines


def test_control_characters(played: Played, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reason from outside can neither colour a terminal nor break a line."""
    play = played(Do, stages=["do"])
    monkeypatch.setattr(Do, "now", lambda view: [Replace(result, "x", "\x1b[31m\nred") for result in view.results])
    play.send(talk(1))
    assert " → 1 characters:  [31m red\n" in run("s").stdout


def test_a_boundary_and_its_pins(played: Played, run: Run) -> None:
    """What the summary is, and what it carries and why; of a block that is pinned whole, how it begins."""
    hooks = [{"keep-words": {"words": "c1: The quick"}}, {"keep-words": {"words": "Mend", "whole": True}}]
    play = played(FoldOld, KeepWords, stages=[{"fold-old": {"keep": 2, "when": ["cold"]}}], hooks=hooks)
    play.send(talk(4))
    play.cold(talk(4))
    boundary = play.session.boundaries()[0]
    told = run("s").stdout
    sizes = f"{boundary.tokens_before:,.0f} → {boundary.tokens_after:,.0f} tokens"
    assert f"\n  boundary: {sizes}, 2 messages kept, 2 pins carried\n" in told
    assert "\n    carries 'Mend the parser, please.': standing order\n" in told
    assert "\n    carries 'c1: The quick': standing order\n" in told
    assert "\n  stays verbatim, 'Mend the parser, please.': standing order\n" in told
    assert json.loads(run("s", "--json").stdout)["boundaries"][0]["pins"] == 2


def test_json(played: Played, run: Run) -> None:
    """As JSON: what the session's own `explain` gives."""
    play = played(Budget, stages=["budget"])
    play.send(talk(1))
    said = {"session": "s", "boundaries": [], "edits": play.session.explain()}
    assert json.loads(run("s", "--json").stdout) == said
    (edit,) = play.session.explain()
    assert (edit["stage"], edit["kind"], edit["free"], edit["undone"]) == ("budget", "replace", True, False)
    assert edit["time"] == AT
    assert edit["shown"].startswith("c0: ")
    assert edit["why"] == "too big"


def test_notes_change_nothing(played: Played, run: Run) -> None:
    """Notes stand in the JSON, not among the differences."""
    play = played(Budget, stages=["budget"])
    play.send(talk(1))
    play.session.restore(1)
    assert run("s").stdout.startswith("session s: 1 decision, 1 edit\n")
    assert [edit["kind"] for edit in json.loads(run("s", "--json").stdout)["edits"]] == ["replace", "note"]


def test_unknown(played: Played, run: Run, home: Path) -> None:
    """An unknown session is answered with the nearest id and those that are there."""
    told = run("wrok")
    assert told.exit_code == 2
    where = f"sqlite:///{home}/.local/share/trimtab/ledger.db"
    assert told.stderr == f"{where}: no session 'wrok', nor any other\n"
    play = played(Budget, stages=["budget"])
    for name in ("work", "play"):
        play.open(name).prepare(talk(1))
    told = run("wrok")
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr == f"{where}: no session 'wrok'; did you mean 'work'? (there: play, work)\n"


def test_all_sessions(played: Played, run: Run, home: Path) -> None:
    """Without an id all sessions are listed, the one written last first, with the number of decisions."""
    told = run()
    assert (told.exit_code, told.stdout) == (0, "")
    assert told.stderr == f"sqlite:///{home}/.local/share/trimtab/ledger.db: no session yet\n"
    assert json.loads(run("--json").stdout) == []
    play = played(Budget, stages=["budget"])
    for name in ("first", "last\n"):
        play.session = play.open(name)
        play.session.prepare(talk(1))
    play.open("first").prepare(talk(3))
    assert run().stdout == "first  2 decisions\nlast   1 decision\n"
    assert json.loads(run("--json").stdout) == [
        {"session": "first", "decisions": 2},
        {"session": "last\n", "decisions": 1},
    ]


def test_many_sessions(played: Played, run: Run) -> None:
    """Of many sessions the newest are listed, and the nearest however old it is."""
    play = played()
    for n in range(25):
        play.ledger.append(f"session-{n:02}", 0, ['{"v": 1}'])
    told = run("session-00x").stderr
    assert "did you mean 'session-00'? (the newest of 25: session-00, session-05, session-06, " in told
    assert "session-04" not in told


def test_from_storage_alone(played: Played, work: Path, home: Path) -> None:
    """A profile whose stages are not installed still names the storage; the conversation is not needed."""
    play = played(Budget, stages=["budget"])
    play.send([user("Go."), says(call("c1", "Bash")), user(result("c1", LONG))])
    (work / "team.yaml").write_text("extends: minimal\nstages: [budget, not-installed]\n")
    command = [str(Path(sys.executable).with_name("trimtab")), "explain", "s", "--profile", "team.yaml"]
    told = subprocess.run(command, cwd=work, env={"HOME": str(home)}, capture_output=True, text=True, check=True)
    assert told.stderr == ""
    assert [path.read_text() for path in paths(told.stdout)] == [LONG]
