"""docs/hazards.md lists every hazard once and names the tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    "core/": "core/tests/",
    "auto/": "plugins/auto-compact/tests/",
    "budget/": "plugins/tool-result-budget/tests/",
    "collapse/": "plugins/context-collapse/tests/",
    "command/": "hooks/command-hooks/tests/",
    "constraints/": "hooks/constraints/tests/",
    "memory/": "plugins/session-memory/tests/",
    "micro/": "plugins/micro-compact/tests/",
    "memories/": "plugins/relevant-memories/tests/",
    "pins/": "hooks/pins/tests/",
    "project/": "hooks/project-memory/tests/",
    "reactive/": "plugins/reactive-compact/tests/",
    "restore/": "hooks/restore/tests/",
    "snip/": "plugins/snip/tests/",
    "verify/": "hooks/verify/tests/",
    "": "tests/",
}
ROW = re.compile(r"^\| (H\d\d) \| (.+?) \| (.+) \|$", re.MULTILINE)


def rows() -> dict[str, str]:
    """Id to the last column."""
    found = ROW.findall((ROOT / "docs" / "hazards.md").read_text(encoding="utf-8"))
    assert len(found) == len({id for id, _, _ in found})
    return {id: where for id, _, where in found}


def covered() -> dict[str, set[str]]:
    """Id to the files, as the table writes them, that hold a test of it."""
    found: dict[str, set[str]] = {}
    for short, folder in FOLDERS.items():
        for path in (ROOT / folder).glob("test_*.py"):
            for name in re.findall(r"^def test_((?:H\d\d_)+)", path.read_text(encoding="utf-8"), re.MULTILINE):
                for id in re.findall(r"H\d\d", name):
                    found.setdefault(id, set()).add(f"{short}{path.name}")
    return found


def test_every_hazard_has_its_row() -> None:
    """77 hazards, in order, none twice."""
    assert list(rows()) == [f"H{n:02}" for n in range(1, 78)]


def test_rows_and_tests_agree() -> None:
    """A row names exactly the files with a test of that hazard; one without a test says why."""
    found = covered()
    for id, where in rows().items():
        named = set(re.findall(r"`([a-z/_]+\.py)`", where))
        assert named == found.get(id, set()), id
        assert named or where.startswith(("later: ", "cannot occur: ")), id
