"""`trimtab pipe`: requests as JSON lines, through a real process where the process matters."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from play import LONG, call, result, says, talk, user
from stages import Budget, Do, FoldOld, Greet
from trimtab.ask import Scripted
from trimtab.cli.pipe import Pipe, run
from trimtab.dialects.anthropic import validate
from trimtab.profile import load

COMMAND = str(Path(sys.executable).with_name("trimtab"))
BIG = [user("Run it."), says(call("c1", "Bash", command="make")), user(result("c1", LONG * 4))]

PACKAGED = (
    "(packaged: deepseek, default, four-layer, four-stage, kimi, local-vllm, memory-stack, minimal, openai, "
    "seven-stage, three-tier)"
)


@pytest.fixture
def start(home: Path, work: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `trimtab pipe` with these words."""
    env = {"HOME": str(home), "TRIMTAB_COUNTER": "estimate"}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        started.append(subprocess.Popen([COMMAND, "pipe", *words], cwd=work, env=env, text=True, **pipes))
        return started[-1]

    yield start
    for process in started:
        with process:
            process.kill()


def ask(process: subprocess.Popen[str], **request: Any) -> Any:
    """Send one line and wait for its answer, as an agent in another language does."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def path_in(answer: Any) -> Path:
    """The file that a placeholder leads to."""
    found = re.search(r"Full text: (\S+)", answer["messages"][2]["content"][0]["content"])
    assert found
    return Path(found[1])


@pytest.fixture
def served(tmp_path: Path) -> Callable[..., Pipe]:
    """A pipe in this process, with the stages and hooks that a test brings."""

    def served(*plugins: Any, ask: Any = None, **overrides: Any) -> Pipe:
        said = {"counter": "estimate", "storage": {"ledger": "memory:", "blobs": f"file://{tmp_path}/blobs"}}
        kinds = {"stages": [p.name for p in plugins if p is not Greet], "hooks": [], **overrides}
        return Pipe(load("minimal", overrides={**said, **kinds}, plugins=plugins, env={}, cwd="/"), ask)

    return served


def fed(pipe: Pipe, *lines: bytes | dict[str, Any]) -> tuple[list[Any], bool]:
    """All answers, and whether every line could be answered."""
    out = io.StringIO()
    fine = run(pipe, [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines], out)
    return [json.loads(line) for line in out.getvalue().splitlines()], fine


def test_a_conversation(start: Callable[..., subprocess.Popen[str]]) -> None:
    """Each answer comes at once; what it hides is a file while the pipe runs, and no longer; a sent face stays."""
    process = start("--profile", "default")
    first = ask(process, i=0, now=1_000.0, messages=BIG, usage=None)
    assert first.keys() == {"messages", "extra"}
    assert first["extra"] == {"side": []}
    assert first["messages"][:2] == BIG[:2]
    path = path_in(first)
    assert path.is_absolute()
    assert path.read_text() == LONG * 4
    usage = {"prompt": 2_000, "output": 40}
    second = ask(process, i=1, now=1_010.0, messages=[*BIG, says("Done."), user("Thanks.")], usage=usage)
    assert second["messages"][:3] == first["messages"]
    assert second["messages"][3:] == [says("Done."), user("Thanks.")]
    assert validate(second["messages"]) == []
    assert process.communicate() == ("", "")
    assert process.returncode == 0
    assert not path.parent.parent.exists()


def test_bad_lines(start: Callable[..., subprocess.Popen[str]]) -> None:
    """A bad line is answered with an error, the next one as ever, and the exit code says that there was one."""
    process = start("--profile", "minimal")
    told, errors = process.communicate('{"messages": [nothing]}\n\n' + json.dumps({"messages": talk(1)}) + "\n")
    bad, good = [json.loads(line) for line in told.splitlines()]
    assert bad == {"error": "line 1: not JSON: Expecting value (column 15)"}
    assert good == {"messages": talk(1), "extra": {"side": []}}
    assert (process.returncode, errors) == (1, "")


def test_told_to_end(start: Callable[..., subprocess.Popen[str]]) -> None:
    """A pipe that is told to end takes its files with it."""
    process = start()
    path = path_in(ask(process, messages=BIG))
    assert path.exists()
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 128 + signal.SIGTERM
    assert not path.parent.parent.exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ("--dialect", "openai-chat"),
            "argument: provider.kind: no dialect named 'openai-chat'; did you mean 'openai'? "
            "(installed: anthropic, openai, responses)",
        ),
        (("--profile", "defualt"), f"no profile named 'defualt'; did you mean 'default'? {PACKAGED}"),
    ],
)
def test_wrong_words(start: Callable[..., subprocess.Popen[str]], words: tuple[str, ...], text: str) -> None:
    """What the command line says wrong is one line on stderr, and exit code 2."""
    process = start(*words)
    assert process.communicate() == ("", f"{text}\n")
    assert process.returncode == 2


def test_unknown_model(start: Callable[..., subprocess.Popen[str]]) -> None:
    """A model that the table does not have is said to be unknown, and what is assumed."""
    process = start("--model", "claude-opus-55")
    _, errors = process.communicate()
    assumed = "the model 'claude-opus-55' is not known: taken is a window of 200,000 tokens"
    assert errors == f"{assumed}; did you mean 'claude-opus-5-5'?\n"
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"[]", "a request is an object with `messages`"),
        (b"{}", "`messages` must be the list of all messages so far"),
        (b'{"messages": {"role": "user"}}', "`messages` must be the list of all messages so far"),
        (b'{"messages": [], "now": "12:00"}', "`now` must be seconds since the epoch, not '12:00'"),
        (b'{"messages": [], "now": true}', "`now` must be seconds since the epoch, not True"),
        (b'{"messages": [], "now": 1e999}', "`now` must be seconds since the epoch, not inf"),
        (b'{"messages": [], "now": NaN}', "ValueError: NaN is not JSON"),
        (b'{"messages": [], "usage": {"output": 3}}', '`usage` must be {"prompt": tokens, "output": tokens} or null'),
        (b'{"messages": [], "usage": 12}', '`usage` must be {"prompt": tokens, "output": tokens} or null'),
        (b"\xff{}", "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
        (
            b"[" * 100_000,
            "RecursionError: maximum recursion depth exceeded while decoding a JSON array from a unicode string",
        ),
    ],
)
def test_errors(served: Callable[..., Pipe], line: bytes, text: str) -> None:
    """Every kind of bad line is told by its number and what is wrong, and none ends the stream."""
    answers, fine = fed(served(), {"messages": talk(1)}, line, {"messages": talk(2)})
    assert [answer.get("messages") for answer in answers] == [talk(1), None, talk(2)]
    assert answers[1] == {"error": f"line 2: {text}"}
    assert fine is False


def test_overflow(served: Callable[..., Pipe]) -> None:
    """A request that does not fit is an error that names the sizes; a shorter history is answered again."""
    pipe = served(provider={"window": 4_000})
    answers, fine = fed(pipe, {"messages": talk(9)}, {"messages": talk(2)})
    assert answers[0].keys() == {"error"}
    assert re.match(r"line 1: about [\d,]+ tokens, the limit is 3,540 of a window of 4,000 \(", answers[0]["error"])
    assert answers[1]["messages"] == talk(2)
    assert not fine


def test_clock(served: Callable[..., Pipe], monkeypatch: pytest.MonkeyPatch) -> None:
    """`now` is the session's clock; without it the real one runs."""
    monkeypatch.setattr("time.time", lambda: 77.0)
    pipe = served()
    fed(pipe, {"messages": talk(1), "now": 5})
    assert pipe.session.context.now == 5
    fed(pipe, {"messages": talk(1)})
    assert pipe.session.context.now == 77.0


def test_usage_corrects_the_meter_only(served: Callable[..., Pipe], monkeypatch: pytest.MonkeyPatch) -> None:
    """The last request weighs what the provider says; of its cache that says nothing, so all still counts as held."""
    seen: list[tuple[int, float]] = []
    monkeypatch.setattr(Do, "now", lambda view: seen.append((view.context.held, round(view.tokens))) or ())
    pipe = served(Do, provider={"cache": {"minimum": 0}})
    usage = {"prompt": 5_000, "output": 7}
    fed(pipe, {"messages": talk(3), "now": 1}, {"messages": talk(3), "now": 2, "usage": usage})
    assert seen[1] == (len(talk(3)), 5_000)
    pipe.session.observe({"input_tokens": 5_000, "cache_read_input_tokens": 0})
    fed(pipe, {"messages": talk(3), "now": 3})
    assert seen[2] == (0, 5_000)


@pytest.mark.parametrize("usage", [None, {"prompt": 0, "output": 0}, {"prompt": 9_000}])
def test_usage_of_an_unknown_request(served: Callable[..., Pipe], usage: Any) -> None:
    """No usage, an empty one, or one behind an error, where nobody knows what was sent, moves nothing."""
    pipe = served()
    fed(pipe, {"messages": talk(3)})
    tokens = pipe.session.view.tokens
    between = b"?" if usage and usage["prompt"] else {"messages": talk(3)}
    fed(pipe, between, {"messages": talk(3), "usage": usage})
    assert pipe.session.view.tokens == tokens


def test_unreadable_messages(served: Callable[..., Pipe], capsys: pytest.CaptureFixture[str]) -> None:
    """What is no list of messages goes through as it is, is told, and its usage is nobody's."""
    pipe = served()
    fed(pipe, {"messages": talk(3)})
    tokens = pipe.session.view.tokens
    (odd, even), fine = fed(pipe, {"messages": [7]}, {"messages": talk(3), "usage": {"prompt": 9_000}})
    assert (odd["messages"], even["messages"], fine) == ([7], talk(3), True)
    assert capsys.readouterr().err.startswith("line 1: the messages could not be read, handed back as they are: ")
    assert pipe.session.view.tokens == tokens


def test_output_is_ascii(served: Callable[..., Pipe]) -> None:
    """Half a character that comes in as an escape goes out as valid JSON of valid text, or is repaired."""
    line = b'{"messages": [{"role": "user", "content": "half \\ud83d, \xe9\x94\x99\xe8\xaf\xaf"}]}'
    out = io.StringIO()
    assert run(served(), [line], out)
    assert out.getvalue().isascii()
    assert "错误" in json.dumps(json.loads(out.getvalue()), ensure_ascii=False)


def test_side_lists_asks(served: Callable[..., Pipe]) -> None:
    """What was asked of a model on the way stands in `extra.side`, once."""
    options = {"stages": [{"fold-old": {"ask": True, "when": [{"over": 2}]}}]}
    pipe = served(FoldOld, ask=Scripted("The parser was read."), **options)
    (first, second), fine = fed(pipe, {"messages": talk(3)}, {"messages": talk(3)})
    assert fine
    assert [(side["answer_chars"], side["cached"]) for side in first["extra"]["side"]] == [(20, False)]
    assert first["extra"]["side"][0]["prompt_chars"] > 0
    assert second["extra"] == {"side": []}
    assert second["messages"] == first["messages"]


def test_changed_system_text(served: Callable[..., Pipe]) -> None:
    """System text that a hook adds is handed out as a parameter, for else it would be lost."""
    pipe = served(Greet, hooks=[{"greet": {"anchor": "system"}}])
    (answer,), _ = fed(pipe, {"messages": talk(0), "system": "Be brief."})
    texts = ["Be brief.", "House rule: test first."]
    assert answer["extra"] == {"side": [], "system": [{"type": "text", "text": text} for text in texts]}


def test_failures_are_told(
    served: Callable[..., Pipe], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stage that fails costs its edits, not the answer; stderr says which line and why."""
    pipe = served(Do, Budget)
    monkeypatch.setattr(Do, "now", lambda view: 1 / 0)
    (answer,), fine = fed(pipe, {"messages": talk(1)})
    assert fine
    assert "too big" in [edit["why"] for edit in pipe.session.explain()]
    assert answer["messages"] != talk(1)
    assert capsys.readouterr().err == "line 1: do: ZeroDivisionError: division by zero\n"
