"""What each rule pins, in both dialects."""

from __future__ import annotations

from typing import Any

import pytest
from trimtab import Pin, Warn
from trimtab.testing.wires import IMAGE
from trimtab_pins import Rule

CONFIG = "/home/ann/app/src/config.py"


def said(talk: Any) -> Any:
    """Words of both sides, and results of three tools."""
    talk.user("Mend the build. Never push.", "Read carefully #keep").says("I will never push #keep")
    talk.user("Use tabs, #keeper").read(CONFIG, "DEBUG = 1  # first").call("Bash", {"command": "ls"}, "never #keep")
    talk.call("TodoWrite", {"todos": []}, "todo: one").user("Go on.").call("TodoWrite", {"todos": []}, "todo: two")
    return talk.says("Two are left.")


@pytest.mark.parametrize(
    ("rule", "texts"),
    [
        ({"first": "user"}, ["Mend the build. Never push.", "Read carefully #keep"]),
        ({"first": "assistant"}, ["I will never push #keep"]),
        ({"role": "assistant"}, ["I will never push #keep", "Two are left."]),
        ({"match": r"(?i)never\s+push"}, ["Mend the build. Never push."]),
        ({"role": "assistant", "match": "^I will"}, ["I will never push #keep"]),
        ({"contains": "#keep"}, ["Read carefully #keep", "Use tabs, #keeper"]),
        ({"role": "assistant", "contains": "#keep"}, ["I will never push #keep"]),
        ({"tool": "bash", "contains": "#keep"}, ["never #keep"]),
        ({"tool": "todo*", "match": "two$"}, ["todo: two"]),
        ({"tag": "#keep"}, ["Read carefully #keep", "I will never push #keep", "never #keep"]),
        ({"role": "user", "tag": "#keep"}, ["Read carefully #keep"]),
        ({"tool": "TodoWrite"}, ["todo: one", "todo: two"]),
        ({"tool": "TodoWrite", "last": 1}, ["todo: two"]),
        ({"last": 2}, ["Go on.", "Two are left."]),
        ({"role": "user", "last": 2}, ["Use tabs, #keeper", "Go on."]),
        ({"file": "src/config.py"}, ["DEBUG = 1  # first"]),
        ({"file": "config.*"}, ["DEBUG = 1  # first"]),
        ({"file": "lib/config.py"}, []),
    ],
    ids=str,
)
def test_a_rule_pins(dialect: str, talk: Any, run: Any, rule: dict[str, Any], texts: list[str]) -> None:
    """Just these texts, as whole blocks, in their order, with the rule as the reason."""
    pins = run(dialect, None).said(said(talk), rule)
    assert [pin.block.text for pin in pins] == texts
    assert {pin.reason for pin in pins} <= {Rule(**rule).why}
    assert {pin.moving for pin in pins} <= {bool({"file", "last"} & rule.keys())}


def test_the_newest_read_of_a_file(dialect: str, talk: Any, run: Any) -> None:
    """A later read replaces it, of a part too; an edit, a failed read and a read that brings no text do not."""
    rules = {"file": "src/config.py"}
    session = run(dialect, None)
    talk.user("Mend it.").read(CONFIG, "DEBUG = 1").read("/home/ann/app/test/config.py", "DEBUG = 0")
    talk.call("Edit", {"file_path": CONFIG, "old_string": "1", "new_string": "2"}, "DEBUG = 2")
    talk.read(CONFIG, "no permission", error=True).read(CONFIG, f"Error: {CONFIG}: busy")
    talk.read(CONFIG, "File unchanged since last read. Refer to the earlier result.")
    assert session.pinned(talk, rules) == ["DEBUG = 1"]
    talk.call("Read", {"file_path": "src/config.py", "offset": 9}, "DEBUG = 3")
    assert session.pinned(talk, rules) == ["DEBUG = 3"]


def test_a_glob_keeps_the_newest_of_each_file(dialect: str, talk: Any, run: Any) -> None:
    """However the path is written; `**` stands for any number of folders."""
    talk.user("Mend it.").read("/app/src/a.py", "a 1").read("/app/src/x/b.py", "b 1").read("src/a.py", "a 2")
    talk.read("/app/src/a.txt", "no code")
    assert run(dialect, None).pinned(talk, {"file": "src/**/*.py"}) == ["b 1", "a 2"]
    assert run(dialect, None).pinned(talk, {"file": "/app/src/*.py"}) == ["a 2"]


def test_the_first_message_is_one_that_the_user_wrote(dialect: str, talk: Any, run: Any) -> None:
    """Not what the agent's program says in the user's name; a block that holds both is the user's."""
    both = "<system-reminder>Be good.</system-reminder> Mend it. <system-reminder>Be brief.</system-reminder>"
    file = "# AGENTS.md instructions for /app\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>"
    talk.user(file)
    talk.user("<environment_context>\n<cwd>/app</cwd>\n</environment_context>")
    talk.user("<system-reminder>Be good.</system-reminder>\n", both).says("Yes.")
    session = run(dialect, None)
    assert session.pinned(talk, {"first": "user"}) == [both]
    assert session.pinned(talk, {"role": "user", "last": 2}) == [both]
    assert session.pinned(talk, {"contains": "Use tabs"}) == [file]


def test_words_beside_a_result_are_the_users(dialect: str, talk: Any, run: Any) -> None:
    """What the user says while results come back counts as what the user says."""
    talk.user("Mend it.").call("Bash", {"command": "ls"}, "a #keep", said=[("with", ["Mind the tests #keep"])])
    assert run(dialect, None).pinned(talk, {"contains": "#keep"}) == ["Mind the tests #keep"]


def test_what_cannot_be_pinned_is_not_tried(dialect: str, talk: Any, run: Any) -> None:
    """Calls, blank results and what a fold hides give neither a pin nor a refusal."""
    rules = [{"tag": "#keep"}, {"tool": "sleep"}, {"role": "user"}]
    session = run(dialect, [])
    session.send(talk.user("Go on #keep").call("Bash", {"command": "echo #keep"}, "done").rounds(8))
    session.cold(talk)
    session.open(rules)
    session.send(talk)
    session.cold(talk.call("sleep", {"say": "#keep"}, " ").rounds(8).user("More."))
    assert len([row for row in session.session.explain() if row["kind"] == "fold"]) == 2
    assert [row["why"] for row in session.session.explain() if row["kind"] == "pin"] == ["role: user"]
    assert session.pinned(talk, rules) == []


def test_what_was_shortened_is_not_pinned(dialect: str, talk: Any, run: Any) -> None:
    """The newest read is then the newest that is whole."""
    session = run(dialect, [], "short")
    talk.user("Mend it.").read("a.py", "a = 1").read("a.py", "a = 2\n" * 200)
    assert session.pinned(talk, [{"tool": "*"}]) == ["a = 1"]
    assert session.pinned(talk, [{"file": "a.py"}]) == ["a = 1"]
    session.open([{"tool": "*"}])
    session.send(talk)
    session.cold(talk.rounds(8))


@pytest.mark.parametrize("flaw", range(7))
def test_what_was_repaired_away_is_not_pinned(dialect: str, talk: Any, run: Any, flaw: int) -> None:
    """Results without a call, doubled ones, blank or broken texts: no pin of them is refused."""
    session = run(dialect, [{"tool": "*"}, {"role": "user"}, {"tag": "lost"}])
    talk.user("Mend it.").call("Bash", {"command": "ls"}, "a.py", flaw=flaw).rounds(8)
    session.send(talk)
    session.cold(talk)
    assert session.report.pins


def test_a_picture_in_a_result_is_pinned_with_it(new_talk: Any, run: Any) -> None:
    """And it costs what the message says that it does."""
    talk = new_talk("anthropic").user("Look.").call("Shot", {}, IMAGE)
    session = run("anthropic", None)
    assert [pin.block.media for pin in session.said(talk, {"tool": "Shot"})] == [True]
    assert [type(one) for one in session.said(talk, {"tool": "Shot", "budget": 1})] == [Warn]


def test_long_texts_are_searched_in_pieces(dialect: str, talk: Any, run: Any) -> None:
    """What a pattern finds anywhere is found, also where two pieces meet; what spans more than a piece is not."""
    talk.user("x" * 1_995 + "needle" + "y" * 6_000)
    session = run(dialect, None)
    assert len(session.pinned(talk, {"match": "needle"})) == 1
    assert len(session.pinned(talk, {"match": "ey{3}"})) == 1
    assert session.pinned(talk, {"match": "(?s)needle.*y{2500}"}) == []


def test_a_budget_keeps_the_newest(dialect: str, talk: Any, run: Any) -> None:
    """Over it the report names what was not kept; the pins move."""
    for n in range(6):
        talk.user(f"Rule {n} #keep: {'word ' * 20}").says("Yes.")
    session = run(dialect, None)
    session.send(talk)
    budget = round(2.5 * session.session.view.count("Rule 0 #keep: " + "word " * 20))
    *pins, warning = session.said(talk, {"contains": "#keep", "budget": budget})
    assert [pin.block.text[:6] for pin in pins] == ["Rule 4", "Rule 5"]
    assert all(isinstance(pin, Pin) and pin.moving for pin in pins)
    assert isinstance(warning, Warn)
    assert [f"Rule {n}" in warning.text for n in range(6)] == [True] * 4 + [False] * 2


def test_what_is_pinned_for_good_counts_too(dialect: str, talk: Any, run: Any) -> None:
    """What a budget keeps does not depend on other rules, nor on what was recorded before."""
    rule = {"role": "user", "budget": 80}
    for n in range(6):
        talk.user(f"Rule {n}: {'word ' * 20}").says("Yes.")
    session = run(dialect, [{"contains": "Rule 5"}])
    before = session.pinned(talk, rule)
    session.cold(talk)
    assert [pin.reason for pin in session.session.view.pins] == ["contains: Rule 5"]
    assert [text[:6] for text in before] == ["Rule 4", "Rule 5"]
    assert session.pinned(talk, rule) == before
