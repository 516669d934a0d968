"""A trimtab hook that starts the user's executables, in the protocol of Claude Code's hooks."""

from __future__ import annotations

from trimtab_command_hooks.hook import CommandHooks
from trimtab_command_hooks.options import Command, Group, Options

__all__ = ["Command", "CommandHooks", "Group", "Options"]
