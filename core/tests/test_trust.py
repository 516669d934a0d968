"""Trust: which files of a profile need it, what it covers, and the file that holds it."""

from __future__ import annotations

import json
import multiprocessing
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from trimtab import Hook, hookimpl
from trimtab.errors import PluginError, StorageError, TrimtabError
from trimtab.plugins import manager
from trimtab.profile import Profile, load, survey
from trimtab.sources import layers_of
from trimtab.trust import Store, Wanted, command, python

Loader = Callable[..., Profile]
Writer = Callable[[str | Path, str], Path]
HOOK = """
from pathlib import Path
from trimtab import Hook
Path(__file__ + ".ran").write_text("x")
class Mine(Hook):
    name = "mine"
"""


class Runs(Hook):
    """An installed hook that runs the commands that its class says."""

    name = "runs"
    commands: tuple[tuple[str, ...], ...] = (("./check.sh", "--fast"), ("python3", "tool.py"))

    def runs(self) -> tuple[tuple[str, ...], ...]:
        """All of them."""
        return self.commands

    @hookimpl
    def session_start(self, source: str) -> None:
        """Check what would be started."""
        for argv in self.commands:
            self.check(argv)


@pytest.fixture
def told(work: Path, home: Path) -> Callable[..., str]:
    """Load in the working directory; give the error, or nothing."""

    def told(name: str | None = None, **env: str) -> str:
        try:
            load(name, cwd=work, env={"HOME": str(home), **env}, plugins=[Runs])
        except TrimtabError as error:
            return str(error)
        return ""

    return told


@pytest.fixture
def wanted(work: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Wanted]]:
    """What the profile in force wants to run, seen from the working directory."""
    monkeypatch.setattr("trimtab.profile.catalog", _catalog)

    def wanted(name: str | None = None) -> list[Wanted]:
        return survey(name, cwd=work, env={"HOME": str(home)})[1]

    return wanted


def _catalog(extra: object = ()) -> object:
    from trimtab.plugins import catalog

    return catalog([Runs])


@pytest.fixture
def store(home: Path) -> Store:
    """That of the user with this home."""
    return Store.of({"HOME": str(home)})


def test_a_file_needs_trust(
    told: Callable[..., str], wanted: Callable[..., list[Wanted]], store: Store, write: Writer
) -> None:
    """A project's file does not run before it is trusted, nor after it changed; what was looked at is trusted."""
    file = write("mine.py", HOOK)
    write("trimtab.yaml", "extends: minimal\nhooks: [./mine.py]")
    error = "trimtab.yaml:2: hooks[0]: ./mine.py {}: read it, then run `trimtab trust`"
    assert told() == error.format("is not trusted yet")
    seen = wanted()
    assert [(one.state, one.name, list(one.code.sha256)) for one in seen] == [("new", "./mine.py", [str(file)])]
    assert not Path(f"{file}.ran").exists()
    file.write_text(HOOK + "# edited before the answer\n")
    store.add(seen)
    assert told() == error.format("changed since it was trusted")
    assert not Path(f"{file}.ran").exists()
    store.add(wanted())
    assert told() == ""
    assert Path(f"{file}.ran").exists()
    file.write_text(HOOK)
    assert told() == error.format("changed since it was trusted")
    store.remove(lambda entry: True)
    assert told() == error.format("is not trusted yet")


def test_all_in_one_error(told: Callable[..., str], write: Writer) -> None:
    """Files and commands that are not trusted are told together; a named profile is named to `trimtab trust` too."""
    write("mine.py", HOOK)
    write("more.py", HOOK)
    write("team.yaml", "extends: minimal\nhooks:\n- ./mine.py\n- runs\nstages: [./more.py]\n")
    assert told("./team.yaml").splitlines() == [
        "team.yaml:3: hooks[0]: ./mine.py is not trusted yet: read it, then run `trimtab trust ./team.yaml`",
        "team.yaml:4: hooks[1]: ./check.sh --fast is not trusted yet, python3 tool.py is not trusted yet: "
        "read them, then run `trimtab trust ./team.yaml`",
        "team.yaml:5: stages[0]: ./more.py is not trusted yet: read it, then run `trimtab trust ./team.yaml`",
    ]


def test_what_of_a_command_is_covered(
    told: Callable[..., str], wanted: Callable[..., list[Wanted]], store: Store, write: Writer
) -> None:
    """The command line and the files that it names, not an installed interpreter; which one changed is said."""
    script, tool = write("check.sh", "exit 0"), write("tool.py", "print()")
    write("trimtab.yaml", "extends: minimal\nhooks: [runs]")
    store.add(wanted())
    assert [list(entry.sha256) for entry in store.entries()] == [[str(script)], [str(tool)]]
    assert told() == ""
    tool.write_text("print(1)")
    assert told() == (
        "trimtab.yaml:2: hooks[0]: python3 tool.py changed since it was trusted (tool.py): "
        "read it, then run `trimtab trust`"
    )


def test_looked_at_before_each_start(
    get: Loader, wanted: Callable[..., list[Wanted]], store: Store, write: Writer
) -> None:
    """A script that is edited while a session is open is not run; what a hook did not tell is not trusted either."""
    script, _ = write("check.sh", "exit 0"), write("tool.py", "")
    write("trimtab.yaml", "extends: minimal\nhooks: [runs]")
    store.add(wanted())
    (item,) = get().hooks
    hook = item.made()
    made = manager([item])
    start = {"session": None, "source": "startup", "view": None}
    assert made.hook.session_start(**start) == []
    script.write_text("curl evil")
    with pytest.raises(
        PluginError, match=r"changed since it was trusted \(check.sh\): read it, then run `trimtab trust`"
    ):
        made.hook.session_start(**start)
    with pytest.raises(PluginError, match="is not trusted yet"):
        hook.check(["rm", "-r", "x"])
    assert Runs().check(["anything"]) is None
    assert Runs().check(["bash", "-c", "gone.sh"]) is None


def test_a_script_that_is_not_there(write: Writer, work: Path) -> None:
    """Its interpreter would say so with the exit status of a hook that blocks: it is not started."""
    write("keep.sh", "")
    hook = Runs()
    hook.folder = work
    for argv in (["./keeps.sh"], ["python3", "keeps.sh"], ["/bin/bash", "./keeps.sh", "now"]):
        with pytest.raises(PluginError, match=r"no file (\./)?keeps\.sh; did you mean 'keep.sh'\? \(there: keep.sh\)"):
            hook.check(argv)


@pytest.fixture
def get(work: Path, home: Path) -> Loader:
    """Load in the working directory, with `Runs` installed."""
    return lambda name=None, **env: load(name, cwd=work, env={"HOME": str(home), **env}, plugins=[Runs])


NEEDS = [
    ("extends: minimal\nhooks: [runs]", "", "", True),
    ("extends: ~/.config/trimtab/user.yaml", "", "extends: minimal\nhooks: [runs]", True),
    ("extends: ./via.yaml", "", "extends: minimal\nhooks: [runs]", True),
    ("", "extends: minimal\nhooks: [runs]", "", False),
    ("", "extends: ./user.yaml", "extends: minimal\nhooks: [runs]", False),
    ("strict: true", "extends: ./user.yaml", "extends: minimal\nhooks: [runs]", False),
    ("", "extends: {work}/team.yaml", "extends: minimal\nhooks: [runs]", True),
    ("extends: default", "", "", False),
]


@pytest.mark.parametrize(("project", "user", "base", "needs"), NEEDS)
def test_who_needs_it(
    get: Loader,
    home: Path,
    work: Path,
    write: Writer,
    monkeypatch: pytest.MonkeyPatch,
    project: str,
    user: str,
    base: str,
    needs: bool,
) -> None:
    """The user's own file and what it extends in its folder need none, unless a project's file led there."""
    monkeypatch.setenv("HOME", str(home))
    for name, text in (("user.yaml", base), ("trimtab.yaml", user)):
        write(home / ".config/trimtab" / name, text.format(work=work) or "{}")
    write("team.yaml", base or "{}")
    write("via.yaml", "extends: ~/.config/trimtab/user.yaml")
    write("trimtab.yaml", project or "{}")
    if needs:
        with pytest.raises(PluginError, match="is not trusted yet"):
            get()
    else:
        assert get().name


def test_arguments_and_variables_need_none(get: Loader, home: Path, work: Path, write: Writer) -> None:
    """They are the user's own, as is a profile in his folder that he names; one elsewhere is not."""
    write("mine.py", HOOK)
    assert load("minimal", overrides={"hooks": ["./mine.py", "runs"]}, plugins=[Runs], cwd=work, env={}).hooks
    assert get("minimal", TRIMTAB_HOOKS="[./mine.py, runs]").hooks
    own = write(home / ".config/trimtab/own.yaml", "extends: minimal\nhooks: [runs]")
    for profile in (get(str(own)), get(TRIMTAB_PROFILE=str(own))):
        assert [item.store for item in profile.hooks] == [None]
    write("team.yaml", "extends: minimal\nhooks: [runs]")
    for call in (lambda: get("./team.yaml"), lambda: get(TRIMTAB_PROFILE="./team.yaml")):
        with pytest.raises(PluginError, match="is not trusted yet"):
            call()


def test_a_project_cannot_pass_for_the_users_own(
    told: Callable[..., str], home: Path, work: Path, write: Writer
) -> None:
    """A link in the project to a file of the user's leaves `./` in it the project's."""
    own = write(home / ".config/trimtab/own.yaml", "extends: minimal\nhooks: [./mine.py]")
    write(home / ".config/trimtab/mine.py", HOOK)
    write("mine.py", HOOK)
    (work / "trimtab.yaml").symlink_to(own)
    assert "./mine.py is not trusted yet" in told()
    assert not (work / "mine.py.ran").exists()


def test_a_moved_project_needs_its_own(
    told: Callable[..., str], wanted: Callable[..., list[Wanted]], store: Store, work: Path, write: Writer
) -> None:
    """Trust goes by place and content: the same bytes elsewhere are not trusted."""
    write("mine.py", HOOK)
    write("a.yaml", "extends: minimal\nhooks: [./mine.py, runs]")
    store.add(wanted("./a.yaml"))
    store.add(wanted("./a.yaml"))
    assert told("./a.yaml") == ""
    for name in ("mine.py", "a.yaml"):
        write(f"moved/{name}", (work / name).read_text())
    assert told("./moved/a.yaml").count("is not trusted yet") == 3


def test_packaged_need_none(home: Path, work: Path) -> None:
    """Nor does what a packaged profile lists, whoever extends it."""
    layers = layers_of("default", work, {"HOME": str(home)}, [])[1]
    assert [layer.project for layer in layers] == [False, False]


def test_links_are_followed(work: Path, write: Writer) -> None:
    """A script behind a link is covered by its content, also where `..` leads elsewhere than it reads."""
    target = write("elsewhere/real.sh", "1")
    write("elsewhere/inner/x", "")
    (work / "link.sh").symlink_to(target)
    (work / "sub").symlink_to(work / "elsewhere/inner")
    before = [command([name], work) for name in ("./link.sh", "./sub/../real.sh", str(target))]
    target.write_text("2")
    after = [command([name], work) for name in ("./link.sh", "./sub/../real.sh", str(target))]
    assert [one.key for one in before] == [one.key for one in after]
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_words_that_name_files(work: Path, write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files in a shell's line, behind `=`, behind a variable, and programs of the project that PATH finds."""
    tool = write("bin/tool", "x")
    tool.chmod(0o755)
    data = write("data.txt", "x")
    monkeypatch.setenv("PATH", f"{work / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PLACE", str(work))
    for argv in (["tool"], ["env", "tool"], ["/bin/sh", "-c", "bin/tool | cat"], [str(tool)]):
        assert list(command(argv, work).sha256) == [str(tool)]
    for argv in (
        ["cat", "--in=data.txt"],
        ["sh", "-c", 'cat "$PLACE/data.txt"; true'],
        ["cat", "data.txt", "bin", "no"],
    ):
        assert str(data) in command(argv, work).sha256
    assert command(["sh", "-c", "true"], work).sha256 == command(["/bin/sh", "x\0"], work).sha256 == {}
    spaced = write("my tool.sh", "x")
    assert list(command(["sh", "-c", "'./my tool.sh' --fast"], work).sha256) == [str(spaced)]
    outside = write("../outside.py", "x").resolve()
    assert list(command(["python3", str(outside)], work).sha256) == [str(outside)]
    before = command(["cat", "later"], work)
    write("later", "x")
    assert command(["cat", "later"], work) != before


def test_words_that_are_seen_from_elsewhere(work: Path, write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another folder that a word names, the working directory's variable, patterns, a relative folder of PATH."""
    one, two = write("hooks/one.sh", "x"), write("hooks/two.sh", "x")
    one.chmod(0o755)
    monkeypatch.setenv("PWD", "/elsewhere")
    for line in ("cd hooks && ./one.sh", "sh $PWD/hooks/one.sh", 'sh "$(pwd)/hooks/one.sh"', "env -C hooks ./one.sh"):
        assert str(one) in command(["/bin/sh", "-c", line], work).sha256, line
    assert list(command(["/bin/sh", "-c", "for f in hooks/*; do sh $f; done"], work).sha256) == [str(one), str(two)]
    monkeypatch.setenv("PATH", "hooks:/usr/bin:/bin")
    assert list(command(["one.sh"], work).sha256) == [str(one)]


def test_patterns_are_names_too(work: Path, write: Writer) -> None:
    """A file whose own name looks like a pattern is covered; outside the folder nothing is searched for."""
    odd, outside = write("hooks/a[1].py", "x"), write("../outside.py", "x")
    assert list(command(["python3", "hooks/a[1].py"], work).sha256) == [str(odd)]
    assert command(["sh", "-c", f"cat ../*.py {outside.parent.resolve()}/*.py"], work).sha256 == {}
    assert command(["sh", "-c", "cat *\0/x* hooks\0*"], work).sha256 == {}


def test_nobody_is_shown_another_command() -> None:
    """Control characters and what turns the direction of text are written out."""
    assert str(command(["rm", "\x1b[2K", "\u202e"], Path("/"))) == r"rm '\x1b[2K' '\u202e'"


def test_the_file(store: Store, work: Path) -> None:
    """One JSON for the user alone, which says what, hash, when and for which profile; the last word counts."""
    one = store.ask(python(work / "a.py", b"1"), "./a.py", f"{work}/trimtab.yaml:3: hooks[0]")
    store.add([one])
    store.add([one, store.ask(command(["./b.sh"], work), where="x")])
    said = json.loads(store.file.read_text())["trusted"]
    assert [entry.pop("time")[:2] for entry in said] == ["20", "20"]
    sha256 = {f"{work}/a.py": "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"}
    profile = f"{work}/trimtab.yaml:3: hooks[0]"
    assert said[0] == {
        "kind": "python",
        "words": [f"{work}/a.py"],
        "folder": str(work),
        "sha256": sha256,
        "profile": profile,
    }
    assert stat.S_IMODE(store.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.file.parent.stat().st_mode) == 0o700
    removed = [store.remove(lambda entry: entry.kind == "command"), store.remove(lambda entry: True)]
    assert [[entry.kind for entry in gone] for gone in removed] == [["command"], ["python"]]
    assert store.entries() == []


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"trusted": [1]}', '{"trusted": [{"kind": "python"}]}', "\xff", "KIND", "WORDS"],
    ids=range(9),
)
def test_a_damaged_file_trusts_nothing(told: Callable[..., str], store: Store, write: Writer, text: str) -> None:
    """It says what to do; nothing is added to it either, and where nothing needs trust it is not even read."""
    good = {"kind": "python", "words": ["a"], "folder": "", "sha256": {}, "time": "", "profile": ""}
    wrong = {"KIND": {**good, "kind": "other"}, "WORDS": {**good, "words": [1]}}
    write("mine.py", HOOK)
    write("trimtab.yaml", "extends: minimal\nhooks: [./mine.py]")
    store.file.parent.mkdir(parents=True)
    text = json.dumps({"trusted": [good, wrong[text]]}) if text in wrong else text
    store.file.write_bytes(text.encode("latin-1"))
    error = told()
    assert error.startswith(f"{store.file}: cannot be read (")
    assert error.endswith("), so nothing is trusted; mend it, or remove it and run `trimtab trust` again")
    with pytest.raises(StorageError, match="so nothing is trusted"):
        store.add([])
    assert told("minimal") == ""


def _add(file: Path, name: str) -> None:
    for n in range(10):
        store = Store(file)
        store.add([store.ask(python(Path(f"/{name}{n}"), b""))])


def test_two_writers(store: Store) -> None:
    """Two processes that trust at the same time lose nothing of each other."""
    spawn = multiprocessing.get_context("fork")
    writers = [spawn.Process(target=_add, args=(store.file, name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(store.entries()) == 20


@pytest.mark.parametrize("runs", ["return 1 / 0", "return 5", "raise SystemExit"])
def test_runs_that_fails(told: Callable[..., str], monkeypatch: pytest.MonkeyPatch, write: Writer, runs: str) -> None:
    """A hook that cannot tell what it runs cannot be listed by a project."""
    space: dict[str, object] = {}
    exec(f"def runs(self):\n    {runs}", space)
    monkeypatch.setattr(Runs, "runs", space["runs"])
    write("trimtab.yaml", "extends: minimal\nhooks: [runs]")
    assert told().startswith("trimtab.yaml:2: hook 'runs': runs() failed: ")
