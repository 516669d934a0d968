"""Python files in a profile: stages and hooks without packaging, and what their errors say."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trimtab import Session
from trimtab.errors import PluginError, ProfileError
from trimtab.plugins import manager
from trimtab.profile import Profile

Loader = Callable[..., Profile]
Writer = Callable[[str | Path, str], Path]
HOOKS = """
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar
from trimtab import Hook, HookOptions, Stage, hookimpl

from trimtab.replay.probe import ProbePins as Imported

@dataclass
class Word:
    text: str
    shared: ClassVar[str] = ""

class Base(Hook):
    @hookimpl
    def pre_compact(self, view, trigger):
        return [(self.name, self.options.words, str(self.folder), Word(trigger).text)]

class Second(Base):
    name = "second"
    class Options(HookOptions):
        words: str = "#keep"

class First(Second):
    name = "first"

class Clear(Stage):
    name = "clear"
    def propose(self, view):
        yield from ()
"""


def listed(profile: Profile, key: str = "hooks") -> list[str]:
    """The names in a list, in order."""
    return [item.name for item in getattr(profile, key)]


def fails(get: Callable[[], Any]) -> str:
    """Call; give the text of the error."""
    with pytest.raises((ProfileError, PluginError)) as caught:
        get()
    return str(caught.value)


@pytest.fixture
def own(home: Path, write: Writer) -> Callable[..., Path]:
    """Write into the user's own folder, which needs no trust."""
    return lambda name, text: write(home / ".config/trimtab" / name, text)


def test_all_that_a_file_gives(get: Loader, own: Writer, home: Path) -> None:
    """Hooks in the order of definition, bases without a name left out; stages of the same file under `stages`."""
    own("mine.py", HOOKS)
    own("trimtab.yaml", "extends: minimal\nhooks: [./mine.py]\nstages: [./mine.py]\n")
    profile = get()
    assert (listed(profile), listed(profile, "stages")) == (["second", "first"], ["clear"])
    said = manager(profile.hooks).hook.pre_compact(view=None, trigger="auto")
    folder = str(home / ".config/trimtab")
    assert said == [[("second", "#keep", folder, "auto")], [("first", "#keep", folder, "auto")]]
    assert {str(item.folder) for item in (*profile.hooks, *profile.stages)} == {folder}


def test_options(get: Loader, own: Writer) -> None:
    """One of several is named behind a colon, and only then has options; their origin is that line."""
    own("mine.py", HOOKS)
    file = own("trimtab.yaml", "extends: minimal\nhooks:\n- ./mine.py:first: {words: never}\n- ./mine.py:first\n")
    profile = get()
    assert [(item.name, item.options.words) for item in profile.hooks] == [("first", "never"), ("first", "#keep")]
    assert profile.origin((*profile.hooks[0].path, "words")) == f"{file}:3"
    own("trimtab.yaml", "extends: minimal\nstages:\n- ./mine.py: {when: cold}\nhooks:\n- ./mine.py:first: {word: x}\n")
    assert fails(get) == f"{file}:5: hooks[0][./mine.py:first].word: no such key; did you mean 'words'? (keys: words)"


def test_places(get: Loader, home: Path, work: Path, write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are seen from the file that says them; those of a variable or an argument from the working directory."""
    monkeypatch.setenv("HOME", str(home))
    for place in (work / "here.py", work / "sub" / "below.py", home / "mine.py", work.parent / "up.py"):
        write(place, HOOKS)
    for said in ("./here.py", "here.py", "sub/below.py", "~/mine.py", "../up.py", str(work / "here.py")):
        assert listed(get("minimal", {"hooks": [said]})) == ["second", "first"]
        assert listed(get("minimal", TRIMTAB_HOOKS=f"['{said}']")) == ["second", "first"]
    assert get("minimal", {"hooks": ["./sub/below.py"]}).hooks[0].folder == work
    write(home / ".config/trimtab/more/base.yaml", "extends: minimal\nhooks: [../../../mine.py]")
    write(home / ".config/trimtab/trimtab.yaml", "extends: ./more/base.yaml")
    assert get().hooks[0].folder == home / ".config/trimtab/more"


def test_the_folder_of_the_project(get: Loader, home: Path, work: Path, write: Writer) -> None:
    """Whoever lists a plugin, it knows the project's folder; a packaged profile's plugins are of the project."""
    write(home / ".config/trimtab/trimtab.yaml", "extends: seven-stage\nhooks: [constraints]\n")
    profile = get()
    assert {item.project for item in (*profile.hooks, *profile.stages)} == {work}
    assert profile.hooks[0].folder == home / ".config/trimtab"
    assert profile.stages[0].folder == work
    write(work.parent / "trimtab.yaml", "extends: default\n")
    profile = get()
    assert {(item.project, item.folder) for item in profile.stages} == {(work.parent, work.parent)}
    assert {item.project for item in profile.hooks} == {work.parent}


def test_a_stage_may_be_returned(get: Loader, write: Writer) -> None:
    """`stage()` marked @hookimpl works in a file too, and the class counts once."""
    code = "from trimtab import hookimpl\n@hookimpl\ndef stage():\n    return Clear\n"
    write("mine.py", HOOKS + code)
    assert listed(get("minimal", {"stages": ["./mine.py"]}), "stages") == ["clear"]


def test_unless_names_the_stage(get: Loader, write: Writer) -> None:
    """`unless` takes the stage's own name, not its file's."""
    write("mine.py", HOOKS)
    assert len(get("minimal", {"stages": ["./mine.py", {"trim": {"unless": "clear"}}]}).stages) == 2
    told = fails(lambda: get("minimal", {"stages": ["./mine.py", {"trim": {"unless": "clean"}}]}))
    assert told == (
        "argument: stages[1].trim.unless: no stage named 'clean' is listed; did you mean 'clear'? (listed: clear, trim)"
    )


def test_one_class_for_one_content(get: Loader, write: Writer, work: Path) -> None:
    """The same file is run once in a process; another place or another content is another module, at the same time."""
    write("a/mine.py", HOOKS)
    write("b/mine.py", HOOKS)
    first, same, other = (get("minimal", {"hooks": [f"./{name}/mine.py:first"]}).hooks[0].cls for name in "aab")
    assert first is same
    assert first is not other
    write("a/mine.py", HOOKS + "\n# edited\n")
    edited = get("minimal", {"hooks": ["./a/mine.py:first"]}).hooks[0].cls
    assert edited is not first
    assert len({cls.__module__ for cls in (first, other, edited)}) == 3
    assert sys.modules[first.__module__].__file__ == str(work / "a/mine.py")
    assert "mine" not in sys.modules


def test_the_session_runs_it(get: Loader, write: Writer, work: Path) -> None:
    """A session calls the hook and the stage; what they raise is reported, with lines of the file in the traceback."""
    write(
        "mine.py",
        """\
        from trimtab import Hook, Insert, Stage, hookimpl
        class Hello(Hook):
            name = "hello"
            @hookimpl
            def session_start(self, source):
                yield Insert("tail", f"hello from {__file__}")
        class Bad(Stage):
            name = "bad"
            def free(self, view):
                return 1 / 0
            def propose(self, view):
                yield from ()
        """,
    )
    memory = {"ledger": "memory:", "blobs": "memory:"}
    profile = get("minimal", {"hooks": ["./mine.py"], "stages": ["./mine.py"], "storage": memory})
    request = Session.open("files", profile).prepare([{"role": "user", "content": "Go."}])
    assert f"hello from {work / 'mine.py'}" in str(request.messages)
    assert [one for one in request.report.failures if one.startswith("bad: ZeroDivisionError")] != []
    with pytest.raises(ZeroDivisionError) as caught:
        profile.stages[0].cls().free(None)
    assert "return 1 / 0" in "".join(traceback.format_exception(caught.value))


# A file's content, then the error behind its place.
CASES = [
    ("x = (", "./mine.py:1: SyntaxError: '(' was never closed"),
    ("x = 1\nx = y", "./mine.py:2: NameError: name 'y' is not defined"),
    ("raise SystemExit(3)", "./mine.py:1: SystemExit: 3"),
    ("import nowhere_at_all", "./mine.py:1: ModuleNotFoundError: No module named 'nowhere_at_all'"),
    (
        "import beside",
        "./mine.py:1: ModuleNotFoundError: No module named 'beside' "
        "(a file cannot import its neighbours; make one file of both)",
    ),
    ("x = 1", "./mine.py has no Hook class with a name"),
    (HOOKS.partition("class Second")[0], "./mine.py has no Hook class with a name"),
    (
        HOOKS.replace("(Hook)", "").replace("(Second)", "").replace("(Base)", ""),
        "./mine.py has no Hook class with a name; 'clear' in it goes under stages:",
    ),
    (HOOKS.replace('"first"', "5"), "./mine.py: <class '{}.First'> is not a Stage or Hook class with a name"),
    (HOOKS.replace("propose", "proposes"), "./mine.py: Clear has no propose()"),
    (
        HOOKS.replace("pre_compact", "pre_compat"),
        "./mine.py: Second.pre_compat is marked @hookimpl, but is no hook here; did you mean 'pre_compact'? "
        "(hooks: post_compact, pre_compact, session_start)",
    ),
    (HOOKS.replace('"first"', '"keep"'), "./mine.py and plugins= (argument) give a hook named 'keep'; rename one"),
    (HOOKS.replace('"first"', '"second"'), "./mine.py and ./mine.py give a hook named 'second'; rename one"),
]


@pytest.mark.parametrize(("code", "error"), CASES, ids=range(len(CASES)))
def test_errors(get: Loader, own: Writer, code: str, error: str) -> None:
    """A file that cannot be used is named with the line of the profile, and with its own where there is one."""
    own("beside.py", "x = 1")
    own("mine.py", code)
    file = own("trimtab.yaml", "extends: minimal\nhooks:\n- ./mine.py\n")
    before = set(sys.modules)
    told = fails(get)
    module = told.partition("<class '")[2].partition(".First")[0]
    assert told == f"{file}:3: hooks[0]: {error.format(module)}"
    if "Error:" in error or "SystemExit" in error:
        assert set(sys.modules) == before


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("./mien.py", "no file ./mien.py; did you mean 'mine.py'? (there: mine.py)"),
        ("./nowhere/x.py", "no file ./nowhere/x.py"),
        ("./keep.sh", "./keep.sh is no Python file (its name ends in .py) (there: mine.py)"),
        ("~nobody-by-this-name/x.py", "no file ~nobody-by-this-name/x.py"),
        (".", "no hook named '.' (installed: {})"),
        ("./mine.py:frist", "no hook named 'frist' in ./mine.py; did you mean 'first'? (available: first, second)"),
        (
            {"./mine.py": {"words": "x"}},
            "./mine.py gives 2 hooks; name the one that has these options, as ./mine.py:second "
            "(available: first, second)",
        ),
    ],
)
def test_names_that_lead_nowhere(get: Loader, write: Writer, said: Any, error: str) -> None:
    """What is there instead is said."""
    write("mine.py", HOOKS)
    told = fails(lambda: get("minimal", {"hooks": [said]}))
    installed = told.partition("installed: ")[2].rstrip(")")
    assert told == f"argument: hooks[0]: {error.format(installed)}"


def test_two_files_with_one_name(get: Loader, write: Writer) -> None:
    """Reports and `unless` go by name, so a name has one class."""
    write("a.py", HOOKS)
    write("b.py", HOOKS)
    told = fails(lambda: get("minimal", {"hooks": ["./a.py:first", "./b.py:first"]}))
    assert told == "argument: hooks[1]: ./b.py and ./a.py give a hook named 'first'; rename one"
