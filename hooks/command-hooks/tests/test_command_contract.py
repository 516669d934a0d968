"""The hook passes the contract of all hooks, with commands that say something at every event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from trimtab.testing import HookContract
from trimtab_command_hooks import CommandHooks


class TestContract(HookContract):
    """A guide, an insert, and a line that is shown."""

    hook = CommandHooks
    options: ClassVar[Mapping[str, Any]] = {
        "pre_compact": ["/bin/echo Keep the paths."],
        "post_compact": ["/bin/echo Done."],
        "session_start": ["/bin/echo Never push."],
    }
