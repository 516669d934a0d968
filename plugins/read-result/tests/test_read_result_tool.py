"""The tool in a real session: what an id names, what comes back, and what is said where nothing can."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from trimtab import Fold, Replace, Session, Stage, ToolError, load
from trimtab.storage.memory import MemoryBlobs, MemoryLedger
from trimtab.texts import first
from trimtab_read_result import ReadOptions
from trimtab_read_result.stored import part

TEXTS = ["\n".join(f"line {n} of text {m}" for n in range(100)) for m in range(8)]
LAST = re.compile(r"\n\[Characters ([\d,]+) to ([\d,]+)[^\n]*\]\Z")


class Shorten(Stage):
    """Shows where long results lie; folds all but the latest round where the window is said to be full."""

    name: ClassVar[str] = "shorten"

    def propose(self, view: Any) -> Iterator[Replace]:
        """Replace what was not yet sent."""
        for result in view.results:
            if len(result.text) > 1_000 and not result.replaced and result.tool != "read_result":
                yield Replace(result, f"[Full text: {view.stored(result.block)}]", "long")


class FoldAll(Stage):
    """Folds what lies before the latest round."""

    name: ClassVar[str] = "fold-all"

    def propose(self, view: Any) -> Iterator[Fold]:
        """The full text of it is "all of it"."""
        run = view.messages[:-2]
        if len(run) > 3:
            yield Fold(run, f"Folded. Full text: {view.stored_text('all of it')}", full="all of it")


class Run:
    """A session with a stage that stores and the one that reads back."""

    def __init__(self, stores: str = "shorten", stage_tools: bool = True, **options: Any) -> None:
        always = {"when": "always", "warm": "allow"}
        self.profile = load(
            "minimal",
            overrides={
                "counter": "estimate",
                "provider": {"prefix_bound": False},
                "stages": [{stores: always}, {"read-result": options}],
            },
            plugins=(Shorten, FoldAll),
            env={},
            cwd="/",
        )
        self.stores: Any = {"ledger": MemoryLedger("memory:"), "blobs": MemoryBlobs("memory:")}
        self.session = Session.open("s", self.profile, clock=lambda: 0.0, stage_tools=stage_tools, **self.stores)
        self.messages: list[Any] = [{"role": "user", "content": "Go."}]

    def __call__(self, *texts: str) -> Any:
        """The next request, after one more round with these results."""
        ids = [f"t{len(self.messages)}_{n}" for n in range(len(texts))]
        uses = [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}} for id in ids]
        results = [
            {"type": "tool_result", "tool_use_id": id, "content": text} for id, text in zip(ids, texts, strict=True)
        ]
        self.messages += [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
        return self.session.prepare(self.messages, None, [{"name": "Bash", "input_schema": {"type": "object"}}])

    def paths(self) -> list[str]:
        """The paths that placeholders show, in order."""
        shown = str(self.session.request.messages if self.session.request else "")
        return re.findall(r"blob:[0-9a-f]{32}\.txt", shown)

    def read(self, **given: Any) -> tuple[str, bool]:
        """The model calls the tool: the text of its result, and whether that is marked as an error."""
        block = {"type": "tool_use", "id": "toolu_read", "name": "read_result", "input": given}
        result = self.session.call_tool(block)
        assert result["tool_use_id"] == "toolu_read"
        return result["content"], result.get("is_error", False)


@pytest.fixture
def run() -> Run:
    """A session after a round with three long results."""
    run = Run()
    run(*TEXTS[:3])
    return run


def test_the_tool_is_offered(run: Run) -> None:
    """Beside the agent's own, with an id that is required; the limit is told."""
    own, tool = run("ok").tools
    assert own["name"] == "Bash"
    assert (tool["name"], tool["input_schema"]["required"]) == ("read_result", ["id"])
    assert "unless given, 20000" in str(tool["input_schema"])


def test_any_spelling_of_the_id(run: Run) -> None:
    """The path, the path of a file of that name, the file name, and the digits alone give the whole text."""
    path = run.paths()[1]
    digits = path.removeprefix("blob:").removesuffix(".txt")
    for id in (path, f" /home/ann/blobs/{digits[:2]}/{digits}.txt\n", f"{digits}.txt", digits):
        text, error = run.read(id=id)
        assert not error
        assert text == f"{TEXTS[1]}\n[Characters 0 to {len(TEXTS[1]):,}: this is the end.]"


def test_parts_join_to_the_whole(run: Run) -> None:
    """Going on with the offset that the last line says reads everything once, in whole lines."""
    offset, parts = 0, []
    for _ in range(100):
        text, error = run.read(id=run.paths()[0], offset=offset, limit=500)
        assert not error
        assert len(text) - len(LAST.search(text)[0]) <= 500
        parts.append(LAST.sub("", text))
        more = re.search(r"go on with offset (\d+)", text)
        if more is None:
            break
        offset = int(more[1])
    assert "\n".join(parts) == TEXTS[0]
    assert len(parts) == -(-len(TEXTS[0]) // 500)


def test_what_is_left_is_told(run: Run) -> None:
    """Characters, lines and the next offset."""
    text, _ = run.read(id=run.paths()[0], limit=20)
    left = TEXTS[0][17:]
    assert text.splitlines() == [
        "line 0 of text 0",
        f"[Characters 0 to 17 of {len(TEXTS[0]):,}: {len(left):,} more in 99 lines; go on with offset 17.]",
    ]


def test_never_more_than_most() -> None:
    """Whatever the model asks for."""
    run = Run(most="1k")
    run(TEXTS[0])
    for more in ({}, {"limit": 1_000_000}):
        text, _ = run.read(id=run.paths()[0], **more)
        assert len(LAST.sub("", text)) in range(950, 1_001)
    with pytest.raises(ValidationError, match="most"):
        ReadOptions(most=0)


def test_an_unknown_id(run: Run) -> None:
    """The error names the nearest that there is, and the newest that the view shows; not more than five."""
    for n in range(3, 8):
        run(TEXTS[n])
    names = [path.removeprefix("blob:") for path in run.paths()]
    wrong = names[0][:-5] + "0" + names[0][-4:] if names[0][-5] != "0" else names[0][:-5] + "1" + names[0][-4:]
    text, error = run.read(id=wrong)
    assert error
    assert text.startswith(f"this session has stored nothing under '{wrong}'; did you mean '{names[0]}'?")
    assert set(re.findall(r"[0-9a-f]{32}\.txt", text.partition("some that it has: ")[2])) == {names[0], *names[4:]}


def test_no_other_file(run: Run) -> None:
    """A path elsewhere, a whole message, and what nobody stored name nothing."""
    json = next(key for key in run.session.ledger.originals.values() if key.endswith(".json"))
    for id in ("/etc/passwd", json, json.removesuffix(".json"), "0" * 32, "../" * 9, "\ud800"):
        text, error = run.read(id=id)
        assert error
        assert text.startswith("this session has stored nothing under ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "id must be a path"),
        ({"id": 7}, "id must be a path"),
        ({"id": " "}, "id must be a path"),
        ({"offset": -1}, "offset must be a whole number of characters, 0 or more"),
        ({"offset": "far"}, "offset must be"),
        ({"limit": 0}, "limit must be a whole number of characters, 1 or more"),
        ({"limit": [1]}, "limit must be"),
        ({"limit": float("inf")}, "limit must be"),
        ({"offset": 10_000}, "the text ends at 1,789 characters; give a smaller offset than 10,000"),
    ],
)
def test_what_is_wrong_is_told(run: Run, given: dict[str, Any], said: str) -> None:
    """Arguments that make no sense are errors in words; numbers as texts or fractions are numbers."""
    text, error = run.read(**({"id": run.paths()[0], **given} if given and "id" not in given else given))
    assert error
    assert text.startswith(said)
    assert run.read(id=run.paths()[0], offset="10", limit=20.0) == run.read(id=run.paths()[0], offset=10, limit=20)


def test_the_text_of_a_fold() -> None:
    """All that a fold stands for is read back as well, also by a new process."""
    run = Run("fold-all")
    for text in TEXTS[:4]:
        run(text)
    [path] = run.paths()
    assert run.read(id=path)[0].startswith("all of it\n")
    run.session = Session.open("s", run.profile, stage_tools=True, **run.stores)
    run(TEXTS[4])
    assert run.read(id=path)[0].startswith("all of it\n")


def test_what_was_deleted_is_unknown(run: Run) -> None:
    """A text that the store no longer has is not offered either."""
    path = run.paths()[0]
    run.stores["blobs"].delete(path.removeprefix("blob:"), before=float("inf"))
    text, error = run.read(id=path)
    assert error
    assert text.startswith("this session has stored nothing under ")
    assert path.removeprefix("blob:") not in text.partition("some that it has")[2]


def test_without_stage_tools(run: Run) -> None:
    """No tool, no answer to a call, and the request as it is without the stage."""
    without = Run(stage_tools=False)
    assert [tool["name"] for tool in without(*TEXTS[:3]).tools] == ["Bash"]
    assert without.session.request.messages == run.session.request.messages
    assert without.session.call_tool({"type": "tool_use", "id": "x", "name": "read_result", "input": {}}) is None


CLUSTERS = st.lists(
    st.sampled_from(["a", "\n", "e\u0301", "👩‍👩‍👧", "🇩🇪", "\r\n", "한", "x" * 30, "z" + "\u0301" * 9]), min_size=1
)


@given(CLUSTERS, st.integers(1, 40))
def test_no_character_is_cut(clusters: list[str], limit: int) -> None:
    """Parts join to the text, get on, and end between whole characters, also where none fits: then it is one."""
    text, offset = "".join(clusters), 0
    while True:
        said = part(text, offset, limit)
        match = LAST.search(said)
        start, end = (int(number.replace(",", "")) for number in match.groups())
        assert start == offset < end
        assert said[: match.start()] in (text[start:end], text[start : end - 1])
        assert len(first(text, end)) == end
        assert end - start <= max(limit + 1, 20)
        if "this is the end" in said:
            assert end == len(text)
            return
        offset = end


def test_an_offset_inside_a_character() -> None:
    """It begins with the whole character."""
    assert part("e\u0301e\u0301", 1, 10).startswith("e\u0301e\u0301\n")
    with pytest.raises(ToolError, match="ends at 4 characters"):
        part("e\u0301e\u0301", 4, 10)
