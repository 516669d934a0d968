"""A provider to test agents against: a local server that speaks the vendors' APIs and keeps their rules.

It needs ``pip install 'trimtab[provider]'`` (Starlette and uvicorn) and nothing else of trimtab: any client that takes
a base URL works, over real sockets, in any language.

    import anthropic
    from trimtab.testing.provider import FakeProvider, Settings, Text, Use

    def test_my_agent_lists_the_folder():
        script = [Use("bash", {"command": "ls"}), Text("Two files.")]
        with FakeProvider(script, Settings(window=30_000)) as provider:
            client = anthropic.Anthropic(base_url=provider.url, api_key="any")
            assert my_agent(client, "What is here?") == "Two files."
            assert not provider.refused        # the agent sent nothing that the vendor would refuse
            assert provider.billed.fresh < 500  # what was not read from the cache

What it answers is up to the ``script``: None echoes the user, a list is given in order, a function gets a `Call`. An
answer is a str, a part (`Text`, `Think`, `Use`), a list of parts, a `Reply` (usage, delay, a stream that is `Cut`) or
a `Fail`. What it refuses, counts and bills is up to the request, as with the vendor:

* Anthropic (``base_url=provider.url``): Messages as JSON and as a stream, with and without beta, counting, models.
  Rules of messages and fields, overflow, prompt caching by breakpoints with times to live, thinking signatures (with
  ``prefix_check`` bound to all that precedes them), ``context_management``, on-demand compaction, ``cache_edits``.
* OpenAI (``base_url=provider.url + "/v1"``): Chat Completions and Responses.

``provider.served`` is the log of all requests, ``provider.clock.advance(600)`` lets a cache expire. For pytest there is
a fixture: `trimtab.testing.provider.fixture`. On the command line: ``trimtab fake-provider``.

Not everything is modelled. Tokens are estimated (``Settings.count`` replaces that) and media have a fixed size.
Signatures are known to the server that made them, for as long as it runs. ``compact_20260112`` and ``diagnostics`` are
not there: the first is answered 400, the second ignored. Where vendors' documents leave a point open, a setting says.
"""

from __future__ import annotations

from trimtab.testing.provider.script import Call, Cut, Fail, Reply, Text, Think, Use
from trimtab.testing.provider.served import Billed, Served
from trimtab.testing.provider.settings import Settings

try:
    from trimtab.testing.provider.server import FakeProvider
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
        raise
    what = f"trimtab.testing.provider needs {error.name}: pip install 'trimtab[provider]'"
    raise ImportError(what, name=error.name) from error

__all__ = ["Billed", "Call", "Cut", "Fail", "FakeProvider", "Reply", "Served", "Settings", "Text", "Think", "Use"]
