"""Standard input and output as the protocol's own: one JSON-RPC 2.0 object a line.

File descriptor 1 is moved out of everybody's reach, and what frameworks, entries and child processes print goes to standard error;
standard input is replaced by nothing, so that an `input()` somewhere ends at once instead of eating a request.
Not here: what a method means.
"""

import json
import os
import sys
import threading
import time
from typing import Any, BinaryIO, Iterator

from .canon import masked, plain

LIMIT = 64 * 1024 * 1024
"""The longest line in bytes, either way."""

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_PAUSED = -32001
INCOMPATIBLE, OPAQUE, NOT_QUIESCENT, EDIT_CONFLICT = -32010, -32011, -32012, -32013
EFFECT_BLOCKED, FRAMEWORK, NO_ENTRY, UNSUPPORTED, DIVERGED = -32020, -32030, -32031, -32040, -32050


class RpcError(Exception):
    """A refusal that the other side reads: what failed, where, what to do next."""

    def __init__(self, code: int, message: str, **data: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Wire:
    """The two ends of the pipe. Writing is safe from any thread."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader, self._writer = reader, writer
        self._lock, self._seq = threading.Lock(), 0

    @classmethod
    def take(cls) -> "Wire":
        """Reserves descriptors 0 and 1 of this process."""
        reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return cls(reader, writer)

    def requests(self) -> Iterator[dict]:
        """Every well-formed request. What is no request is answered here, and the next line is read."""
        while line := self._reader.readline(LIMIT + 1):
            if len(line) > LIMIT and not line.endswith(b"\n"):
                while line and not line.endswith(b"\n"):
                    line = self._reader.readline(LIMIT)
                self.refuse(None, RpcError(INVALID_REQUEST, f"a line is longer than {LIMIT} bytes; it was skipped"))
                continue
            if not line.strip():
                continue
            try:
                request = json.loads(line)
            except (ValueError, RecursionError) as error:
                self.refuse(None, RpcError(PARSE_ERROR, f"a line is no JSON: {error}"))
                continue
            flaw = _flaw(request)
            if flaw is None:
                yield request
            else:
                ident = request.get("id") if isinstance(request, dict) else None
                ident = ident if isinstance(ident, (int, str)) else None
                self.refuse(ident, RpcError(INVALID_REQUEST, f"{flaw}; a request is {{jsonrpc: \"2.0\", id, method, params}}"))

    def answer(self, ident: Any, result: Any) -> None:
        """Answers a request. A request without an id asked for no answer."""
        if ident is None:
            return
        line = _line({"jsonrpc": "2.0", "id": ident, "result": plain(result)})
        if len(line) > LIMIT:
            self.refuse(ident, RpcError(FRAMEWORK, f"the answer takes {len(line)} bytes, more than a line may have ({LIMIT}); keep large values out of the agents' state"))
        else:
            self._write(line)

    def refuse(self, ident: Any, error: RpcError) -> None:
        """Answers a request with an error."""
        body: dict[str, Any] = {"code": error.code, "message": error.message}
        if error.data:
            body["data"] = error.data
        self._write(_line({"jsonrpc": "2.0", "id": ident, "error": masked(plain(body))}))

    def event(self, kind: str, **fields: Any) -> None:
        """Tells something unasked."""
        fields = masked(plain(fields))
        with self._lock:
            self._seq += 1
            params = {"seq": self._seq, "t": round(time.time(), 3), "kind": kind, **fields}
            line = _line({"jsonrpc": "2.0", "method": "event", "params": params})
            if len(line) > LIMIT:
                params = {**params, "kind": "log", "level": "warning", "text": f"an event {kind} of {len(line)} bytes was left out"}
                line = _line({"jsonrpc": "2.0", "method": "event", "params": {k: params[k] for k in ("seq", "t", "kind", "level", "text")}})
            self._put(line)

    def _write(self, line: bytes) -> None:
        with self._lock:
            self._put(line)

    def _put(self, line: bytes) -> None:
        try:
            self._writer.write(line)
            self._writer.flush()
        except (BrokenPipeError, ValueError):
            os._exit(0)  # nobody listens any more; a run without dover has no purpose


def _line(value: dict) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def _flaw(request: Any) -> str | None:
    if not isinstance(request, dict):
        return "a line is no JSON object"
    if request.get("jsonrpc") != "2.0":
        return "`jsonrpc` is not \"2.0\""
    if not isinstance(request.get("method"), str):
        return "`method` is no text"
    if not isinstance(request.get("id"), (int, str, type(None))):
        return "`id` is neither number nor text"
    if not isinstance(request.get("params", {}), dict):
        return "`params` is no object"
    return None
