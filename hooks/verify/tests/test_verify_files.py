"""Files: in sight, in reach, or lost."""

from __future__ import annotations

import pytest

CONTENT = "".join(f"{n}\tvalue_{n} = {n}\n" for n in range(60))


def test_a_lost_read_comes_back_as_a_line(talk, run):
    """The summary does not name it: its path, not its content."""
    session = run(files=["src/config.py"])
    session.compact(talk.say("Go.").call("Read", {"file_path": "/home/ann/src/config.py"}, CONTENT).work())
    (text,) = session.inserts
    assert "/home/ann/src/config.py: to be read again if it is needed" in text
    assert "value_7" not in text
    session.compact(talk.work(1))
    assert len(session.session.view.inserts) <= 2


def test_a_read_that_is_shown_is_fine(talk, run):
    """Also one of a part."""
    session = run(files=["config.py"])
    talk.say("Go.").call("Read", {"file_path": "config.py"}, CONTENT).work()
    session.compact(talk.call("Read", {"file_path": "./config.py", "offset": 3}, "3\tx").work(1))
    assert session.inserts == []


@pytest.mark.parametrize(("names", "count"), [(True, 0), (False, 1)])
def test_a_placeholder_is_fine_if_it_leads_to_the_original(talk, run, names, count):
    """One that names where the text is stored."""
    session = run({"shorten": {"names": names}}, files=["config.py"])
    session.compact(talk.say("Go.").call("Read", {"file_path": "config.py"}, CONTENT))
    assert len(session.inserts) == count
    if count:
        assert "stored in blob:" in session.inserts[0]


@pytest.mark.parametrize(("exists", "count"), [(True, 0), (False, 1)])
def test_a_summary_that_names_it_is_fine_while_it_exists(talk, run, tmp_path, exists, count):
    """It can be read again; a file that is gone cannot."""
    if exists:
        (tmp_path / "config.py").write_text("x = 1")
    session = run({"fold-old": {"text": "Summary: config.py was read."}}, files=["config.py"])
    session.compact(talk.say("Go.").call("Read", {"file_path": "config.py"}, CONTENT).work())
    assert len(session.inserts) == count


def test_a_summary_that_leads_to_what_was_said_is_fine(talk, run):
    """It names the file and a stored original."""
    stored = f"blob:{'0' * 32}.txt"
    session = run({"fold-old": {"text": f"Summary: config.py was read. Full text: {stored}"}}, files=["config.py"])
    session.compact(talk.say("Go.").call("Read", {"file_path": "config.py"}, CONTENT).work())
    assert session.inserts == []


def test_another_file_of_a_longer_name_is_not_it(talk, run):
    """`my_config.py` and `config.pyi` are others; only what was read counts, not what was named."""
    session = run(files=["config.py"])
    talk.say("See config.py.").call("Read", {"file_path": "my_config.py"}, CONTENT)
    session.compact(talk.call("Read", {"file_path": "config.pyi"}, CONTENT).work())
    assert session.inserts == []


def test_a_file_that_was_written_counts(talk, run):
    """The call holds all of it."""
    session = run(files=["config.py"], on_missing="warn")
    session.compact(talk.say("Go.").call("Write", {"file_path": "config.py", "content": CONTENT}).work())
    assert session.report.warnings == ["verify: 'config.py' is no longer visible"]
