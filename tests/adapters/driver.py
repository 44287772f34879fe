"""An adapter process and its answers: what dover does, in a few lines. Standard library only."""

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = HERE.parents[1] / "src/runtime/adapter/python"


class Refused(Exception):
    """A JSON-RPC error."""

    def __init__(self, error: dict) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code, self.message, self.data = error["code"], error["message"], error.get("data", {})


class Adapter:
    """One process. Held tool calls are answered by `decide(question) -> value`; a question for a person by `answer(question) -> value`."""

    def __init__(self, python, name, entry, env=None, decide=None, patience=60.0):
        self.errors = tempfile.TemporaryFile("w+")
        inherited = [str(MODULES), str(HERE / "teams")]
        environment = {**os.environ, **(env or {}), "PYTHONPATH": os.pathsep.join(inherited)}
        command = [python, "-m", "dover_adapter", name, entry]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=environment, start_new_session=True)
        self.decide, self.patience = decide or (lambda question: {"decision": "run"}), patience
        self.events, self.lines, self.last = [], queue.Queue(), 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def write(self, line):
        self.process.stdin.write(line if isinstance(line, bytes) else line.encode())
        self.process.stdin.flush()

    def ask(self, method, **params):
        """Sends a request; its id."""
        self.last += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}) + "\n")
        return self.last

    def hear(self):
        """The next line, events answered and kept; None for an event."""
        line = self.lines.get(timeout=self.patience)
        if line is None:
            raise EOFError(f"the adapter ended: {self.complaint()}")
        told = json.loads(line)
        if told.get("method") != "event":
            return told
        event = told["params"]
        self.events.append(event)
        if event["kind"] == "input.requested" and event["about"] == "effect":
            self.ask("respond", request_id=event["request_id"], value=self.decide(event))
        return None

    def answer(self, ident):
        """The answer to a request."""
        while True:
            told = self.hear()
            if told is not None and told["id"] == ident:
                if "error" in told:
                    raise Refused(told["error"])
                return told["result"]

    def __call__(self, method, **params):
        return self.answer(self.ask(method, **params))

    def complaint(self):
        """What it printed, the end of it."""
        self.errors.seek(0)
        return self.errors.read()[-2000:]

    def kill(self):
        """Ends it at once, with whatever it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def close(self):
        """Ends it politely; whether it went."""
        self("shutdown")
        try:
            return self.process.wait(5) == 0
        finally:
            self.kill()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
