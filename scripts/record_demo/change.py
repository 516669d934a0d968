"""Second part: the agent edits its copy, test first, with one mistake on the way."""

from __future__ import annotations

from scripts.record_demo.agent import Agent, Call, bash, edit, grep, read, write
from scripts.record_demo.explore import PLUGIN, SOURCE

__all__ = ["change"]

TESTS = '''\
"""The `tail` preview: the end of a result, from the start of a line."""

from __future__ import annotations

import pytest
from trimtab_tool_result_budget import BudgetOptions
from trimtab_tool_result_budget.preview import preview


def made(text: str, size: int, lines: int = 2_000) -> str:
    """The preview of a text."""
    return preview(text, BudgetOptions(preview="tail", tail=size, lines=lines), lambda name: 1)[1]


def test_tail_starts_with_a_whole_line() -> None:
    """A line that does not fit is left out, not cut."""
    lines = [f"line {n:04}" for n in range(1_000)]
    assert made("\\n".join(lines), 205) == "\\n".join(lines[-20:])


def test_tail_of_a_short_text_is_the_text() -> None:
    """Nothing is left out where all of it fits."""
    assert made("a\\nb\\nc", 100) == "a\\nb\\nc"


@pytest.mark.parametrize("size", [1, 50, 4_000])
def test_tail_of_one_long_line_is_its_end(size: int) -> None:
    """Where no line starts near, characters are what can be kept."""
    assert made("x" * 9_000, size) == "x" * size


def test_tail_keeps_to_the_lines() -> None:
    """Not more lines than the option allows."""
    assert made("a\\n" * 500 + "end", 4_000, lines=7).count("\\n") == 6
'''

ENDING = '''

def ending(text: str, size: int, lines: int) -> str:
    """The end of ``text``: at most ``size`` characters and ``lines`` lines, begun at a newline before half."""
    end = last(text, size)
    newline = end.find("\\n")
    if 0 <= newline < size // 2:
        end = end[newline + 1 :]
    return "\\n".join(end.split("\\n")[-lines:])
'''

PREVIEW, OPTIONS, OLD_TESTS = f"{SOURCE}/preview.py", f"{SOURCE}/options.py", f"{PLUGIN}/tests/test_budget_preview.py"


def change(agent: Agent) -> None:
    """Test, change, mistake, mend, tidy."""
    agent.say("The tests first.", write(f"{PLUGIN}/tests/test_budget_tail.py", TESTS))
    agent.say(
        "They must fail now, and for the right reason: `tail` is not among the words for `preview`.",
        bash(f"python -m pytest -q --tb=short {PLUGIN}/tests/test_budget_tail.py", "Run the new tests"),
        fails=True,
    )
    agent.say(
        'They fail at `BudgetOptions(preview="tail", …)`, as they should. The options first: the word, then the size.',
        _replaced(agent, OPTIONS, r"preview: Literal\[", '"names"]', '"names", "tail"]'),
        _behind(agent, OPTIONS, r"Size of the ``names`` preview", TAIL),
    )
    agent.say(
        "Now preview.py: a title and a case. The function cannot be called `tail`: `head_tail` has a parameter of that "
        "name and is going to call it. `ending` says it as well.",
        _behind(agent, PREVIEW, r'"head-tail": "', '    "tail": "its end",'),
        _behind(agent, PREVIEW, r"body = head_tail\(", CASE),
    )
    function = agent.lines(PREVIEW, r"^    omitted = ", r"^    return f")
    agent.say("The function goes below `head_tail`.", edit(PREVIEW, function, function + "\n" + ENDING.rstrip("\n")))
    agent.say("Run the plugin's tests.", bash(f"python -m pytest -q {PLUGIN}/tests", "Run the tests"), fails=True)
    mend(agent)
    tidy(agent)


TAIL = """\
    tail: Characters = 4_000
    \"\"\"Size of the ``tail`` preview.\"\"\""""

CASE = """\
        case "tail":
            body = ending(text, options.tail, options.lines)"""


def mend(agent: Agent) -> None:
    """The mistake: what `head_tail` could rely on does not hold for a text that fits."""
    condition = agent.lines(PREVIEW, r"newline < size // 2")
    agent.say(
        "`test_tail_of_a_short_text_is_the_text` is right and my function is wrong: `head_tail` may drop everything up "
        "to the first `newline` because its text is longer than both parts; `ending` also gets texts that fit, and "
        "there the first line is not torn. Only a cut text may lose its first line:",
        edit(PREVIEW, condition, condition.replace("if 0", "if len(text) > size and 0")),
        bash(f"python -m pytest -q {PLUGIN}/tests", "Run the tests again"),
    )
    agent.say(
        "Green. `head_tail` still has its own copy of that rule. Let me see the file as it is now.",
        read(PREVIEW),
    )
    own = agent.lines(PREVIEW, r"^    end = last\(text, tail\)", r"^    end = ")
    body = agent.plain(PREVIEW)
    start = body.index(own)
    stop = body.index("    omitted = ", start)
    agent.say(
        "Its `end` is `last(text, tail)`, then the torn line, then `max(lines // 4, 1)` lines: the same three steps.",
        edit(PREVIEW, body[start:stop], "    end = ending(text, tail, max(lines // 4, 1))\n"),
        bash(f"python -m pytest -q {PLUGIN}/tests", "Run the tests again"),
    )


def tidy(agent: Agent) -> None:
    """The properties, the README, style, and a look at a real case."""
    agent.say(
        "Now the properties that hold for every kind: `KINDS`, and the size in `test_H62_any_preview_can_be_sent`.",
        _replaced(agent, OLD_TESTS, r"^KINDS = ", '"names"]', '"names", "tail"]'),
        _replaced(agent, OLD_TESTS, r'"names": size, "head_tail"', '"names": size', '"names": size, "tail": size'),
        bash(f"python -m pytest -q {PLUGIN}/tests", "Run the tests again"),
    )
    agent.say(
        "Style and types.",
        bash(f"ruff check {PLUGIN}; ruff format --check {PLUGIN}; mypy {SOURCE}", "Check style and types"),
    )
    agent.say("Which texts still say that there are three previews?", grep(r"three previews|head-tail", PLUGIN, "*"))
    first = agent.lines(PREVIEW, r'^"""The three previews')
    agent.say(
        "The first line of preview.py does.",
        edit(PREVIEW, first, first.replace("three previews: ``head``, ", "four previews: ``head``, ``tail``, ")),
    )
    agent.say(
        "Is that everything that changed?",
        bash("git add -A -N . && git diff --stat", "Show the sizes of the change"),
    )
    agent.say(
        "stage.py is not among them. And a real case, the verbose run from before: what would the model see of it?",
        bash(LOOK.format(plugin=PLUGIN), "Preview a verbose test run with `tail`"),
    )
    agent.say(
        "`preview: tail` is in. It shows the last `tail` characters (4,000) from the start of a line; `head_tail` now "
        "uses the same `ending`, so the rule exists once. A mistake of mine on the way: `ending` dropped the first "
        "line of a text that fits; test_budget_tail.py holds that now. stage.py and the kernel are untouched, `names` "
        "stays the default."
    )


LOOK = """\
python -m pytest -v {plugin}/tests > $HOME/run.txt; python - <<'END'
import pathlib
from trimtab_tool_result_budget import BudgetOptions
from trimtab_tool_result_budget.preview import preview
text = pathlib.Path.home().joinpath("run.txt").read_text()
title, body = preview(text, BudgetOptions(preview="tail", tail=1_500), lambda name: 1)
print(f"{{len(text)}} characters, shown {{len(body)}}: {{title}}")
print(body)
END"""


def _replaced(agent: Agent, path: str, pattern: str, old: str, new: str) -> Call:
    """An edit within the line that matches."""
    line = agent.lines(path, pattern)
    return edit(path, line, line.replace(old, new))


def _behind(agent: Agent, path: str, pattern: str, text: str) -> Call:
    """An edit that puts ``text`` behind the line that matches."""
    line = agent.lines(path, pattern)
    return edit(path, line, f"{line}\n{text}")
