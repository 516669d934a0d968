"""uvicorn in a thread: started when its socket listens, stopped at once."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import Any

import uvicorn
from starlette.types import ASGIApp

__all__ = ["Thread"]

START = 10.0
"""Seconds until a server that does not come up is an error; chosen."""


class Thread:
    """A running server; the constructor returns once it listens. Raises RuntimeError if it does not come up."""

    def __init__(self, app: ASGIApp, listening: socket.socket) -> None:
        self._server = _Server(app, listening)
        self._thread = threading.Thread(target=self._server.go, name="fake-provider", daemon=True)
        self._thread.start()
        if not self._server.up.wait(START):
            raise RuntimeError("the fake provider's server did not start")

    def close(self) -> None:
        """Drop all connections and wait for the thread's end."""
        self._server.stop()
        self._thread.join()


class _Server(uvicorn.Server):
    """Without uvicorn's ticks: it waits for one event, and does not wait for clients that keep connections open."""

    def __init__(self, app: ASGIApp, listening: socket.socket) -> None:
        super().__init__(
            uvicorn.Config(
                app, http="h11", loop="asyncio", ws="none", lifespan="off", log_config=None, log_level="critical"
            )
        )
        self.up = threading.Event()
        self._listening = listening
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None

    def go(self) -> None:
        """Serve until `stop`; the thread's function."""
        self.run(sockets=[self._listening])

    def stop(self) -> None:
        """End `go`; from another thread."""
        assert self._loop is not None
        assert self._over is not None
        self._loop.call_soon_threadsafe(self._over.set)

    async def main_loop(self) -> None:
        """Wait for `stop`."""
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        self.up.set()
        await self._over.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close everything now."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            transport: Any = getattr(connection, "transport", None)
            if transport is not None:
                transport.abort()
        tasks = list(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)
