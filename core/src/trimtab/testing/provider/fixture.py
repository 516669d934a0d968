"""For pytest: ``pytest_plugins = ["trimtab.testing.provider.fixture"]`` in a test module or the top conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from trimtab.testing.provider import FakeProvider, Settings
from trimtab.testing.provider.script import Script

__all__ = ["fake_provider"]


@pytest.fixture
def fake_provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., FakeProvider]]:
    """A factory: ``fake_provider(script, window=30_000, …)`` with the fields of `Settings`; all close with the test.

    What trimtab stores meanwhile goes to a folder of the test's own, not to the user's.
    """
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with ExitStack() as stack:

        def make(script: Script = None, **settings: Any) -> FakeProvider:
            return stack.enter_context(FakeProvider(script, Settings(**settings)))

        yield make
