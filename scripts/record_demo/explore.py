"""First part: the agent reads its way from the layout of the repository to a plan."""

from __future__ import annotations

from scripts.record_demo.agent import Agent, bash, glob, grep, read

__all__ = ["PLUGIN", "SOURCE", "explore"]

PLUGIN = "plugins/tool-result-budget"
SOURCE = f"{PLUGIN}/src/trimtab_tool_result_budget"


def explore(agent: Agent) -> str:
    """About twenty requests that only read; returns the places that a search found, for later."""
    agent.say(
        "I'll look at the layout first, then read the plugin.",
        bash("git ls-files 'core/src/*.py' | xargs wc -l | sort -n | tail -40", "Sizes of the sources"),
        bash(f"ls {PLUGIN} && cat {PLUGIN}/pyproject.toml", "Look at the plugin's folder"),
    )
    agent.say(
        "The plugin is a distribution of its own. Its options, its previews and the stage that uses both:",
        read(f"{SOURCE}/options.py"),
        read(f"{SOURCE}/preview.py"),
        read(f"{SOURCE}/stage.py"),
    )
    agent.say(
        "`preview()` switches on `options.preview` and takes a title from `TITLES`; `head_tail` uses `last` for the "
        "end and drops a torn first line. `last` and `clip` come from trimtab.texts, the placeholder's text from "
        "placeholder.py.",
        read("core/src/trimtab/texts/cutting.py"),
        read(f"{SOURCE}/placeholder.py"),
    )
    agent.say(
        "`last(text, size)` keeps whole characters, which is what a tail needs. `persisted` puts the title behind "
        "`Preview (…)`, so a new title is enough there. Where else are the previews named?",
        grep("head_tail|head-tail", glob="*"),
    )
    agent.say("Now the tests: which are there, and what do they share?", glob(f"{PLUGIN}/tests/*.py"))
    agent.say(
        "test_budget_preview.py has a list `KINDS` that its properties run over, so a new kind must go in there.",
        read(f"{PLUGIN}/tests/test_budget_preview.py"),
        read(f"{PLUGIN}/tests/conftest.py"),
    )
    agent.say(
        "`test_H62_any_preview_can_be_sent` gives every kind the same size; for `tail` it will have to pass the new "
        "option too. How does the stage's own test drive it?",
        read(f"{PLUGIN}/tests/test_budget_stage.py", 1, 70),
    )
    agent.say(
        "It opens a real session with only this stage. Let me see that everything is green before I touch anything.",
        bash(f"python -m pytest -v {PLUGIN}/tests", "Run the plugin's tests"),
    )
    agent.say(
        "All green. `preview` is a `Literal`, so the profile's schema and its errors follow from the type. I want to "
        "see how `StageOptions` and sizes are checked.",
        read("core/src/trimtab/stage.py", 1, 90),
        read("core/src/trimtab/values.py"),
    )
    places = surroundings(agent)
    plan(agent)
    return places


def surroundings(agent: Agent) -> str:
    """What the change must not disturb: the view, the profile, the published schema."""
    agent.say(
        "`StageOptions` forbids unknown keys. The option's docstring becomes its description in the schema; this is "
        "what is published now:",
        bash("trimtab profile schema", "Print the JSON Schema of profiles"),
    )
    agent.say(
        "The default profile names limits only, no preview, so `names` stays the default. Does anything set `preview`?",
        bash("trimtab profile show --profile default | grep -n -E 'stages|preview'", "Show what the profile sets"),
    )
    agent.say(
        "Nothing but the default does. The stage asks the view for `stored` and `shown`; I'd like to see both, since "
        "`tail` must not depend on `shown` (only `names` does).",
        read("core/src/trimtab/view.py", 1, 110),
    )
    places = agent.say(
        "`shown` counts blocks that show a name; `tail` does not need it. Who uses both, and how do tests fake them?",
        grep(r"stored\(|shown\("),
    )
    agent.say(
        "`nothing` in test_budget_preview.py is the fake. Now the helpers that cut: who calls them?",
        grep(r"\blast\(|\bclip\(|\bfirst\(", PLUGIN),
    )
    agent.say(
        "`last(` has one caller besides its tests: `head_tail`. How wide is the summary of a test run, in characters? "
        "I'll measure on this repository's own suite instead of guessing.",
        bash(
            f"for n in 2 5 10 20 40; do python -m pytest -v {PLUGIN}/tests | tail -n $n | wc -c; done",
            "Characters of the last lines of a test run",
        ),
    )
    return places


def plan(agent: Agent) -> None:
    """The end of the first turn."""
    agent.say(
        "And the rules for contributions, so that the plan has no surprise in it.",
        read("CONTRIBUTING.md"),
        read(f"{PLUGIN}/README.md", 1, 60),
    )
    agent.say(
        "Plan:\n"
        "1. options.py: `tail` joins the `Literal` of `preview`; a new option `tail` (characters, 4,000: room for "
        "forty lines of a verbose run).\n"
        "2. preview.py: a case `tail` in `preview()`, a title in `TITLES`, and one function `tail(text, size, lines)` "
        "that `head_tail` uses for its own end, so that the rule for a torn first line exists once.\n"
        "3. Tests first: test_budget_tail.py for the rule, and `KINDS` in test_budget_preview.py.\n"
        "4. README of the plugin.\n"
        "stage.py, placeholder.py and the kernel stay as they are; `names` stays the default."
    )
