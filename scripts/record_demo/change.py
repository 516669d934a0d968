"""Second part: the agent edits its copy, test first, with one mistake on the way."""

from __future__ import annotations

from scripts.record_demo.agent import Agent, bash, edit, grep, read, write
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


@pytest.mark.parametrize("size", [1, 50, 4_000])
def test_tail_of_one_long_line_is_its_end(size: int) -> None:
    """Where no line starts near, characters are what can be kept."""
    assert made("x" * 9_000, size) == "x" * size


def test_tail_keeps_to_the_lines() -> None:
    """Not more lines than the option allows."""
    assert made("a\\n" * 500 + "end", 4_000, lines=7).count("\\n") == 6


def test_tail_says_what_it_is() -> None:
    """The placeholder's title names the end."""
    assert preview("x", BudgetOptions(preview="tail"), lambda name: 1)[0] == "its end"
'''

TAIL = '''

def tail(text: str, size: int, lines: int) -> str:
    """The last ``size`` characters of ``text`` in at most ``lines`` lines, from the start of a line if one is near."""
    end = last(text, size)
    newline = end.find("\\n")
    if 0 <= newline < size // 2:
        end = end[newline + 1 :]
    return "\\n".join(end.split("\\n")[-lines:])
'''


def change(agent: Agent) -> None:
    """Test, change, mistake, mend, tidy."""
    agent.say("The tests first.", write(f"{PLUGIN}/tests/test_budget_tail.py", TESTS))
    agent.say(
        "They must fail now, and for the right reason: `tail` is not among the words for `preview`.",
        bash(f"python -m pytest -q {PLUGIN}/tests/test_budget_tail.py", "Run the new tests"),
        fails=True,
    )
    agent.say(
        "They fail at `BudgetOptions(preview=\"tail\")`, as they should. Options:",
        _word(agent),
        _option(agent),
    )
    agent.say(
        "Now the previews: a title, a case, and the function. First without touching `head_tail`.",
        _title(agent),
        _case(agent),
    )
    agent.say("The function goes below `head_tail`.", _append(agent))
    agent.say("Run the new tests.", bash(f"python -m pytest -q {PLUGIN}/tests", "Run the plugin's tests"), fails=True)
    mend(agent)


def mend(agent: Agent) -> None:
    """The mistake and what follows from it."""
    agent.say(
        "One is wrong: the test, not the code? 205 characters end 20 lines of 9 characters and 19 line ends (199), and "
        "there are 6 characters of the line before: `newline` is at 5, below 102, so it goes. Let me look at what comes "
        "back instead of reasoning.",
        bash(
            "python - <<'END'\n"
            "from trimtab_tool_result_budget.preview import tail\n"
            "lines = [f'line {n:04}' for n in range(1_000)]\n"
            "print(repr(tail('\\n'.join(lines), 205, 2_000)[:40]))\n"
            "END",
            "Look at the first characters of a tail",
        ),
    )
    agent.say("Let me read what stands there now, around the cases.", read(f"{SOURCE}/preview.py"))
