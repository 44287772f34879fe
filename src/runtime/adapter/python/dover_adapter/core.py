"""The core that all adapters share: serves one run of one `Backend` by the protocol.

A thread reads requests; the framework runs in the main thread's event loop. So `pause` and `shutdown` are heard even while a framework
blocks the loop, and a request that needs a standing run is refused at once while it moves. Requests are otherwise answered in order.
Not here: any framework. See `backend.Backend` for what a framework file implements, and `minimal.py` for a whole one.
"""

import asyncio
import importlib
import inspect
import json
import os
import re
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, Awaitable

from . import entry as entries
from .backend import Backend, Description, Host, Message, Saved
from .canon import canonical, code_of, masked, masked_text, plain, sha256
from .effects import Call, Effects, effect_of
from .wire import (
    DIVERGED, EDIT_CONFLICT, EFFECT_BLOCKED, FRAMEWORK, INCOMPATIBLE, INVALID_PARAMS, NO_ENTRY, NO_METHOD, NOT_PAUSED, NOT_QUIESCENT,
    OPAQUE, UNSUPPORTED, RpcError, Wire,
)  # fmt: skip

__all__ = [
    "Backend", "Call", "Description", "Effects", "Host", "Message", "RpcError", "Saved", "Server", "canonical", "code_of", "effect_of", "masked", "plain",
    "sha256", "DIVERGED", "EDIT_CONFLICT", "EFFECT_BLOCKED", "FRAMEWORK", "INCOMPATIBLE", "INVALID_PARAMS", "NO_ENTRY", "NOT_PAUSED",
    "NOT_QUIESCENT", "OPAQUE", "UNSUPPORTED",
]  # fmt: skip

PROTOCOL = 1
FORMAT = 1
"""Of checkpoints."""
RUNS = ("start", "step", "resume")
"""Methods that move the run."""
CLOSING = 2.0
"""Seconds that a backend has to close."""


def backend_class(name: str) -> type[Backend]:
    """The adapter of this name: a file of this package, or a file of one's own."""
    here = Path(__file__).parent
    if name.endswith(".py"):
        module = entries._module(name, name)
    else:
        file = name.replace("-", "_")
        known = sorted(f.stem for f in here.glob("*.py") if re.search(r"^BACKEND = ", f.read_text("utf-8"), re.M))
        if file not in known:
            raise RpcError(NO_ENTRY, f"there is no adapter {name}. There are: {', '.join(known)}; or give a file NAME.py of your own")
        try:
            module = importlib.import_module(f".{file}", __package__)
        except ImportError as error:
            raise RpcError(NO_ENTRY, f"adapter {name}: its framework cannot be imported by {sys.executable}: {error}. Install the versions of its lock file") from None
    backend = getattr(module, "BACKEND", None)
    if not (inspect.isclass(backend) and issubclass(backend, Backend)):
        raise RpcError(NO_ENTRY, f"adapter {name} has no BACKEND, a class derived from dover_adapter.core.Backend")
    return backend


class Server:
    """One run and where it stands."""

    def __init__(self, wire: Wire, name: str, entry: str) -> None:
        self._wire, self._name, self._entry = wire, name, entry
        self._backend: Backend | None = None
        self._about: dict | None = None
        self._step = 0
        self._began = self._over = False
        self._flight: asyncio.Task | None = None
        """The framework on its way to the next boundary; stays while a person is asked."""
        self._flight_steps = 0
        self._moving = False
        """Whether a method of `RUNS` is being answered. Written by both threads: set on reading, cleared before the answer."""
        self._pause = threading.Event()
        self._questions: dict[str, asyncio.Future] = {}
        self._asked = 0
        self._person: dict | None = None
        """What a person is being asked."""
        self._asking: asyncio.Event

    # ---- the two threads

    def run(self) -> int:
        """Serves until shutdown or the end of input. Does not return before the framework's threads are gone with the process."""
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        serving = loop.create_task(self._serve())
        while not serving.done():
            try:
                loop.run_until_complete(serving)
            except SystemExit as end:  # raised in a task of the framework's own: no reason to lose the run's process
                self._wire.event("log", level="error", text=f"the team called sys.exit({end.code!r}); the run goes on without that task")
        os._exit(0)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        self._inbox: asyncio.Queue = asyncio.Queue()
        self._asking = asyncio.Event()
        threading.Thread(target=self._read, args=(loop,), name="dover-requests", daemon=True).start()
        while (request := await self._inbox.get()) is not None:
            await self._handle(request)
        if self._flight is not None:
            self._flight.cancel()
        if self._backend is not None:
            await asyncio.wait_for(self._backend.close(), CLOSING)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        for request in self._wire.requests():
            method, ident = request["method"], request.get("id")
            if method == "shutdown":
                self._wire.answer(ident, {})
                break
            if method == "pause":
                self._pause.set()
                self._wire.answer(ident, {})
            elif method == "respond":
                loop.call_soon_threadsafe(self._respond, ident, request.get("params", {}))
            elif self._moving:
                code = NOT_PAUSED if method in RUNS else NOT_QUIESCENT
                self._wire.refuse(ident, RpcError(code, f"{method}: the run is moving. Send pause and wait for the next boundary"))
            else:
                self._moving = method in RUNS
                loop.call_soon_threadsafe(self._inbox.put_nowait, request)
        threading.Timer(CLOSING + 1, os._exit, (0,)).start()  # a framework that blocks the loop must not outlive dover
        loop.call_soon_threadsafe(self._inbox.put_nowait, None)

    async def _handle(self, request: dict) -> None:
        ident, method = request.get("id"), request["method"]
        try:
            result = await self._dispatch(method, request.get("params", {}))
        except RpcError as error:
            self._moving = False
            self._wire.refuse(ident, error)
        except (Exception, SystemExit) as error:
            self._moving = False
            self._wire.refuse(ident, _framework_error(method, error))
        else:
            self._moving = False
            self._wire.answer(ident, result)

    async def _dispatch(self, method: str, params: dict) -> Any:
        handler = getattr(self, f"on_{method}", None)
        if handler is None:
            raise RpcError(NO_METHOD, f"there is no method {method!r}")
        try:
            inspect.signature(handler).bind(**params)
        except TypeError as error:
            raise RpcError(INVALID_PARAMS, f"{method}: {error}") from None
        if self._backend is None and method != "initialize":
            raise RpcError(NOT_PAUSED, f"{method}: initialize comes first")
        return await handler(**params)

    # ---- what it is

    async def on_initialize(self, protocol: int = PROTOCOL, workdir: str | None = None, tape: Any = None, effects_policy: dict | None = None) -> dict:
        if self._backend is not None:
            raise RpcError(INVALID_PARAMS, "initialize: this process is initialized already")
        if protocol != PROTOCOL:
            raise RpcError(INVALID_PARAMS, f"initialize: this adapter speaks protocol {PROTOCOL}, not {protocol!r}")
        if workdir is not None:
            try:
                os.chdir(workdir)
            except (OSError, TypeError) as error:
                raise RpcError(INVALID_PARAMS, f"initialize: workdir {workdir!r} cannot be entered: {error}") from None
        if not isinstance(effects_policy or {}, dict):
            raise RpcError(INVALID_PARAMS, "initialize: effects_policy maps tool names to run, answer_from_record, hold or refuse")
        host = Host(self._wire, self._ask, lambda: self._step)
        host.effects.configure(effects_policy or {}, _record(tape))
        kind = backend_class(self._name)
        target = await entries.load(self._entry, (*kind.usual_names, *entries.USUAL_NAMES))
        try:
            self._backend = kind(target, host)
        except (ValueError, TypeError) as error:
            raise RpcError(NO_ENTRY, f"the entry {self._entry} makes no team for adapter {kind.name}: {error}", traceback=_trace()) from None
        capabilities = {**Backend.NO_CAPABILITIES, **kind.capabilities}
        runtime = f"python {sys.version.split()[0]}"
        return {"protocol": PROTOCOL, "adapter": kind.name, "framework": kind.framework(), "runtime": runtime, "capabilities": capabilities}

    async def on_describe(self) -> dict:
        if self._about is None:
            told = await self._backend.describe()
            pinned = masked(plain({"adapter": self._backend.name, "framework": self._backend.framework(), "team": told.pinned}))
            agents, tools = masked(plain(told.agents)), masked(plain(told.tools))
            self._about = {"topology": told.topology, "agents": agents, "tools": tools, "pinned": pinned, "config_pin": sha256(pinned)}
        return self._about

    # ---- moving

    async def on_start(self, task: str | None = None, state: Any = None) -> dict:
        """`state`: what the framework itself saved; with it, the task may be left out."""
        if self._began:
            raise RpcError(NOT_PAUSED, "start: this process has a run already. A branch is a new process")
        if not isinstance(task, str) and (task is not None or state is None):
            raise RpcError(INVALID_PARAMS, "start: the task is text")
        self._began = True
        self._pause.clear()
        return await self._move(self._backend.start(task) if state is None else self._backend.start_from(task, state), 0)

    async def on_step(self, count: int = 1) -> dict:
        if not isinstance(count, int) or count < 1:
            raise RpcError(INVALID_PARAMS, "step: count is a whole number from 1")
        self._standing("step")
        self._pause.clear()
        position: dict = {}
        for _ in range(count):
            position = await self._onward()
            if position["status"] != "paused" or self._pause.is_set():
                break
        return position

    async def on_resume(self, until: Any = None) -> dict:
        """`until`: a step index, or `{step}` or `{agent}`: stop where that message is pending."""
        wanted = {"step": until} if isinstance(until, int) else until or {}
        if not isinstance(wanted, dict) or not wanted.keys() <= {"step", "agent"}:
            raise RpcError(INVALID_PARAMS, "resume: until is a step index, {step} or {agent}")
        self._standing("resume")
        self._pause.clear()
        while True:
            position = await self._onward()
            if position["status"] != "paused" or self._pause.is_set():
                return position
            if position["step"] == wanted.get("step") or "agent" in wanted and position["pending"]["from"] == wanted["agent"]:
                return position

    def _standing(self, method: str) -> None:
        if not self._began:
            raise RpcError(NOT_PAUSED, f"{method}: there is no run yet. Send start or restore")
        if self._over:
            raise RpcError(NOT_PAUSED, f"{method}: the run is over. Fork from a checkpoint in a new process")

    def _quiescent(self, method: str) -> None:
        self._standing(method)
        if self._flight is not None:
            raise RpcError(NOT_QUIESCENT, f"{method}: a person is being asked in the middle of a turn. Answer with respond, or fork from the boundary before it")

    async def _onward(self) -> dict:
        if self._flight is None and self._backend.pending() is None:
            return self._position()  # the last message was dropped, and none was put in its place
        return await self._move(None if self._flight is not None else self._backend.advance(), 1)

    async def _move(self, way: Awaitable | None, steps: int) -> dict:
        """Runs to the next boundary, the end, or a question for a person. A flight under way (`way` None) is taken up again."""
        if way is not None:
            self._flight, self._flight_steps = asyncio.ensure_future(_guarded(way)), steps
        flight = self._flight
        asking = asyncio.ensure_future(self._asking.wait())
        await asyncio.wait({flight, asking}, return_when=asyncio.FIRST_COMPLETED)
        asking.cancel()
        if not flight.done():
            return {"status": "input", "step": self._step, "request": self._person}
        self._flight = None
        self._over = True  # unless a message is pending
        try:
            flight.result()
        except RpcError as error:
            self._wire.event("run.failed", step=self._step, message=error.message)
            raise
        except Exception as error:
            failure = _framework_error("run", error)
            self._wire.event("run.failed", step=self._step, message=failure.message)
            raise failure from None
        self._step += self._flight_steps
        return self._position()

    def _position(self) -> dict:
        message = self._backend.pending()
        self._over = message is None
        if message is not None:
            told = plain(message.wire())
            self._wire.event("step.boundary", step=self._step, pending=told)
            return {"status": "paused", "step": self._step, "pending": told}
        result = plain(self._backend.result())
        failed = result.get("failed")
        self._wire.event("run.failed" if failed else "run.finished", step=self._step, result=result)
        return {"status": "failed" if failed else "done", "step": self._step, "result": result}

    # ---- questions

    async def _ask(self, about: str, **fields: Any) -> Any:
        self._asked += 1
        request_id = f"r{self._asked}"
        answer = self._questions[request_id] = asyncio.get_running_loop().create_future()
        question = {**fields, "request_id": request_id, "about": about}
        self._wire.event("input.requested", **{"step": self._step, **question})
        if about == "person":
            self._person = masked(plain(question))
            self._asking.set()
        try:
            return await answer
        finally:
            if about == "person":
                self._person = None
                self._asking.clear()

    def _respond(self, ident: Any, params: dict) -> None:
        request_id = params.get("request_id")
        answer = self._questions.get(request_id) if isinstance(request_id, str) else None
        if answer is None:
            known = [name for name, future in self._questions.items() if not future.done()]
            self._wire.refuse(ident, RpcError(INVALID_PARAMS, f"respond: there is no request {request_id!r}", known=known))
        elif answer.done():
            self._wire.refuse(ident, RpcError(EDIT_CONFLICT, f"respond: {request_id} is answered already. To answer otherwise, fork from the boundary before it"))
        elif "value" not in params:
            self._wire.refuse(ident, RpcError(INVALID_PARAMS, "respond: value is missing"))
        else:
            answer.set_result(params["value"])
            self._asking.clear()  # a step sent right behind must not see the question again
            self._wire.answer(ident, {})

    # ---- checkpoints

    async def on_checkpoint(self) -> dict:
        self._quiescent("checkpoint")
        if self._backend.pending() is None:
            raise RpcError(NOT_PAUSED, "checkpoint: nothing is pending, the last message was dropped. Insert or send one first")
        about = await self.on_describe()
        envelope = {
            "format": FORMAT, "adapter": self._backend.name, "framework": self._backend.framework(), "config_pin": about["config_pin"],
            "step": self._step, "pending": plain(self._backend.pending().wire()), "state": await self._saved(),
        }  # fmt: skip
        return {**envelope, "sha256": sha256(envelope)}

    async def _saved(self) -> dict[str, dict]:
        saved = {}
        for key, part in (await self._backend.save()).items():
            value = plain(part.value)
            fingerprint = sha256(value)
            saved[key] = {"value": value, "fidelity": part.fidelity, "revision": part.revision or fingerprint[:12], "fingerprint": fingerprint}
        return saved

    async def on_restore(self, checkpoint: dict, allow_pin_mismatch: bool = False) -> dict:
        if self._began:
            raise RpcError(NOT_QUIESCENT, "restore: this process has a run already, and a live run is never rewound. Start a new process")
        warnings = await self._compatible(checkpoint, allow_pin_mismatch)
        state = checkpoint["state"]
        pending = dict(checkpoint["pending"])
        pending["sender"] = pending.pop("from")
        self._began, self._step = True, checkpoint["step"]
        values = {key: part.get("value") for key, part in state.items() if part.get("fidelity") != "opaque"}
        try:
            warnings += await self._backend.load(values, Message(**pending)) or []
        except (KeyError, TypeError, ValueError) as error:
            raise RpcError(INCOMPATIBLE, f"restore: the saved state does not fit this team: {type(error).__name__}: {error}", traceback=_trace()) from error
        return {**self._position(), "keys": await self._compared(state, checkpoint["pending"]), "warnings": warnings}

    async def _compared(self, recorded: dict, pending: dict) -> dict[str, str]:
        """What was loaded, read back and compared with what was recorded, key by key."""
        loaded, results = await self._saved(), {}
        for key in {**recorded, **loaded}:
            if key not in recorded or key not in loaded:
                results[key] = "missing"
            elif "full" != recorded[key]["fidelity"] or "full" != loaded[key]["fidelity"]:
                results[key] = "untested"
            else:
                results[key] = "exact" if recorded[key]["fingerprint"] == loaded[key]["fingerprint"] else "drifted"
        now = self._backend.pending()
        results["pending"] = "missing" if now is None else "exact" if plain(now.wire()) == pending else "drifted"
        return results

    async def _compatible(self, checkpoint: dict, allow: bool) -> list[str]:
        """Refuses what cannot be loaded here. Returns what was allowed and is worth knowing."""
        flaw = _checkpoint_flaw(checkpoint)
        if flaw:
            raise RpcError(INCOMPATIBLE, f"restore: {flaw}")
        about, warnings = await self.on_describe(), []
        if checkpoint["adapter"] != self._backend.name:
            raise RpcError(INCOMPATIBLE, f"restore: the checkpoint is of adapter {checkpoint['adapter']}, this is {self._backend.name}")
        known = {agent["name"] for agent in about["agents"]}
        gone = sorted({key.split("/")[1] for key in checkpoint["state"] if key.startswith("agents/") and key.split("/")[1] not in known})
        differences = []
        if checkpoint["framework"] != self._backend.framework():
            differences.append(f"framework {checkpoint['framework']} was recorded, {self._backend.framework()} runs here")
        if gone:
            differences.append(f"the checkpoint has agents {', '.join(gone)}, this team has {', '.join(sorted(known))}")
        if checkpoint["config_pin"] != about["config_pin"]:
            differences.append("the pinned configuration differs")
        if differences and not allow:
            hint = "Restore with the configuration it was recorded with, or allow the difference on purpose"
            raise RpcError(INCOMPATIBLE, f"restore: {'; '.join(differences)}. {hint}", recorded=checkpoint["config_pin"], here=about["config_pin"])
        return warnings + differences

    # ---- edits

    async def on_edit(self, ops: list) -> dict:
        self._quiescent("edit")
        if not isinstance(ops, list) or not all(isinstance(op, dict) and op.get("op") in EDITS for op in ops):
            raise RpcError(INVALID_PARAMS, f"edit: ops is a list of objects, each with an op of {', '.join(EDITS)}")
        applied: list[dict] = []
        for op in ops:
            try:
                copies = await self._edit(op)
            except RpcError as error:
                error.data = {**error.data, "applied": applied}
                raise
            applied.append({"op": op["op"], "copies": copies})
        pending = self._backend.pending()
        pending = None if pending is None else plain(pending.wire())
        self._wire.event("edit.applied", step=self._step, applied=applied, pending=pending)
        return {"applied": applied, "pending": pending}

    async def _edit(self, op: dict) -> int:
        backend, word = self._backend, op["op"]
        if word == "replace_pending":
            return await backend.replace_pending(self._uncommitted(op), _needed(op, "content"))
        if word == "insert":
            sender, to = _needed(op, "from"), _needed(op, "to")
            return await backend.insert(_needed(op, "content"), sender, to, int(op.get("at", 0)))
        if word == "drop":
            return await backend.drop(self._uncommitted(op))
        if word == "set_state":
            return await backend.set_state(_needed(op, "key"), _needed(op, "value"))
        return await backend.regenerate()

    def _uncommitted(self, op: dict) -> str:
        """The id of the message that an edit means; the pending one if it names none."""
        waiting = [message.message_id for message in self._backend.queue()]
        wanted = op.get("message_id", waiting[0] if waiting else None)
        if wanted not in waiting:
            raise RpcError(EDIT_CONFLICT, f"edit: message {wanted} is consumed already. Restore a checkpoint before it in a new process", queue=waiting)
        return wanted

    async def on_export(self, commit: bool = False) -> dict:
        """The run as the framework's own saved state, also at its end. `commit`: with the pending message said; the run is over then."""
        if not self._began or self._flight is not None:
            raise RpcError(NOT_QUIESCENT, "export: the run stands at no boundary. Start or restore one, and answer what is asked")
        commit = commit and not self._over
        state = plain(await self._backend.export(commit))
        self._over = self._over or commit
        return {"adapter": self._backend.name, "framework": self._backend.framework(), "state": state}

    async def on_queue(self) -> list:
        self._quiescent("queue")
        return [message.wire() for message in self._backend.queue()]

    async def on_send(self, content: Any, to: str | None = None, topic: str | None = None) -> dict:
        self._quiescent("send")
        if not {**Backend.NO_CAPABILITIES, **self._backend.capabilities}["send"]:
            raise self._backend.unsupported("send")
        known, name = self._backend.recipients(), to if to is not None else topic
        if name not in known:
            raise RpcError(INVALID_PARAMS, f"send: there is no recipient {name!r}. There are: {', '.join(known)}", known=known)
        return {"message_id": await self._backend.send(name, content)}

    async def on_get_state(self, keys: list | None = None) -> dict:
        self._quiescent("get_state")
        saved = await self._backend.save()
        unknown = [key for key in keys or [] if key not in saved]
        if unknown:
            raise RpcError(INVALID_PARAMS, f"get_state: there is no key {', '.join(map(str, unknown))}", known=sorted(saved))
        opaque = [key for key in keys or [] if saved[key].fidelity == "opaque"]
        if opaque:
            raise RpcError(OPAQUE, f"get_state: the framework does not give out {', '.join(opaque)}")
        return {key: {"value": saved[key].value, "fidelity": saved[key].fidelity} for key in keys or saved}


EDITS = ("replace_pending", "insert", "drop", "set_state", "regenerate")


async def _guarded(way: Awaitable) -> None:
    try:
        await way
    except SystemExit as end:
        raise RuntimeError(f"the team called sys.exit({end.code!r})") from end


def _needed(op: dict, name: str) -> Any:
    if name not in op:
        raise RpcError(INVALID_PARAMS, f"edit: {op['op']} needs {name}")
    return op[name]


def _record(tape: Any) -> list:
    """Recorded tool answers: a list, or a file with one JSON object a line."""
    if tape is None or isinstance(tape, list):
        return tape or []
    try:
        return [json.loads(line) for line in Path(tape).read_text("utf-8").splitlines() if line.strip()]
    except (OSError, TypeError, ValueError) as error:
        raise RpcError(INVALID_PARAMS, f"initialize: tape {tape!r} cannot be read: {error}") from None


def _checkpoint_flaw(checkpoint: Any) -> str | None:
    """What makes it no whole checkpoint; None if it is one."""
    if not isinstance(checkpoint, dict):
        return "the checkpoint is no object"
    if checkpoint.get("format") != FORMAT:
        return f"the checkpoint has format {checkpoint.get('format')!r}, this adapter reads {FORMAT}"
    shapes = {"adapter": str, "framework": dict, "config_pin": str, "step": int, "pending": dict, "state": dict, "sha256": str}
    for name, shape in shapes.items():
        if not isinstance(checkpoint.get(name), shape):
            return f"the checkpoint's {name} is missing or of the wrong kind"
    if not {"message_id", "from", "to", "content"} <= checkpoint["pending"].keys() <= {"message_id", "from", "to", "content", "kind", "tool"}:
        return "the checkpoint's pending message is not whole"
    if sha256({name: value for name, value in checkpoint.items() if name != "sha256"}) != checkpoint["sha256"]:
        return "the checkpoint's hash does not match its content; it was changed or damaged"
    for key, part in checkpoint["state"].items():
        if not isinstance(part, dict) or not {"fidelity", "fingerprint"} <= part.keys():
            return f"the checkpoint's state key {key} is not whole"
        if sha256(part.get("value")) != part["fingerprint"]:
            return f"the fingerprint of state key {key} does not match its value"
    return None


def _trace() -> str:
    return masked_text(traceback.format_exc()[-4000:])


def _framework_error(doing: str, error: BaseException) -> RpcError:
    trace = "".join(traceback.format_exception(error))[-4000:]
    return RpcError(FRAMEWORK, f"{doing}: {type(error).__name__}: {error}", traceback=masked_text(trace))
