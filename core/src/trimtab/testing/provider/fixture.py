"""For pytest: ``pytest_plugins = ["trimtab.testing.provider.fixture"]`` in a test module or the top conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from trimtab.testing.provider import FakeProvider, Settings
from trimtab.testing.provider.script import Script

__all__ = ["fake_provider"]


@pytest.fixture
def fake_provider() -> Iterator[Callable[..., FakeProvider]]:
    """A factory: ``fake_provider(script, window=30_000, …)`` with the fields of `Settings`; all close with the test."""
    with ExitStack() as stack:

        def make(script: Script = None, **settings: Any) -> FakeProvider:
            return stack.enter_context(FakeProvider(script, Settings(**settings)))

        yield make
