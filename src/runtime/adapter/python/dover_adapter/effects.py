"""The gate before every tool call: run it, answer it from a record, hold it for a decision, or refuse it.

What the policy does not name is held unless its tool only reads. A framework file passes each call through `call` (or, from a
worker thread, `call_blocking`); nothing runs before it is admitted, and whatever became of it is told.
"""

import asyncio
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Any, Awaitable, Callable

from .canon import plain, sha256
from .wire import EFFECT_BLOCKED, INVALID_PARAMS, RpcError, Wire

CLASSES = ("read_only", "idempotent", "compensable", "permanent", "unknown")
POLICIES = ("run", "answer_from_record", "hold", "refuse")


def effect_of(tool: Any) -> str:
    """What a tool may do, where its maker said so: an attribute `effect`, an entry `effect` of its `metadata`, or of the function within. Else unknown."""
    for thing in (tool, getattr(tool, "func", None), getattr(tool, "coroutine", None), getattr(tool, "_func", None)):
        metadata = getattr(thing, "metadata", None)
        for word in (getattr(thing, "effect", None), metadata.get("effect") if isinstance(metadata, dict) else None):
            if word in CLASSES:
                return word
    return "unknown"


@dataclass
class Call:
    """A tool call about to happen."""

    agent: str
    tool: str
    args: Any
    effect: str = "unknown"
    again: bool = False
    """Whether the framework runs the same call anew on its own account (a node from its top after a question)."""


class Effects:
    """The policy, the record, and what was done so far in this process."""

    def __init__(self, wire: Wire, ask: Callable[..., Awaitable[Any]], step: Callable[[], int]) -> None:
        self._wire, self._ask, self._step = wire, ask, step
        self._policy: dict[str, str] = {}
        self._record: dict[tuple[str, str], list[Any]] = {}
        self._done: dict[tuple[str, str, str], Any] = {}
        """What calls came to since the last boundary, answered and refused ones too: nobody is asked twice for one call."""
        self._count: Counter = Counter()
        self._seq = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    def configure(self, policy: dict, record: list) -> None:
        """Takes the policy by tool name, and recorded answers as `{tool, args_sha256, result}`."""
        for tool, word in policy.items():
            if word not in POLICIES:
                raise RpcError(INVALID_PARAMS, f"effects_policy of tool {tool}: {word!r} is none of {', '.join(POLICIES)}")
        self._policy = dict(policy)
        for entry in record:
            if not isinstance(entry, dict) or not {"tool", "args_sha256", "result"} <= entry.keys():
                raise RpcError(INVALID_PARAMS, "tape: every entry needs tool, args_sha256 and result")
            self._record.setdefault((entry["tool"], entry["args_sha256"]), []).append(entry["result"])
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()

    async def call(self, call: Call, run: Callable[[], Awaitable[Any]]) -> Any:
        """The tool's result, or what stands for it."""
        ticket = await self._admit(call)
        if not ticket.runs:
            return ticket.result
        try:
            return self._settle(call, ticket, await run())
        except Exception as error:
            self._broke(call, ticket, error)
            raise

    def call_blocking(self, call: Call, run: Callable[[], Any]) -> Any:
        """The same from a worker thread."""
        if threading.get_ident() == self._thread or self._loop is None:
            ticket = self._admit_at_once(call)
        else:
            ticket = asyncio.run_coroutine_threadsafe(self._admit(call), self._loop).result()
        if not ticket.runs:
            return ticket.result
        try:
            return self._settle(call, ticket, run())
        except Exception as error:
            self._broke(call, ticket, error)
            raise

    async def _admit(self, call: Call) -> "_Ticket":
        ticket = self._ticket(call)
        if ticket.policy != "hold":
            return ticket
        asked = self._entry(call, ticket, "held")
        prompt = f"{call.agent} calls {call.tool} ({call.effect}): may it run?"
        decision = await self._ask("effect", prompt=prompt, args=call.args, **asked)
        word, told = (decision.get("decision"), decision) if isinstance(decision, dict) else (decision, {})
        if word in ("run", "allow", True):
            ticket.runs, ticket.disposition = True, "approved"
        elif word == "answer" and "result" in told:
            self._answered(call, ticket, told["result"])
        else:
            self._refused(call, ticket)
        return ticket

    def _admit_at_once(self, call: Call) -> "_Ticket":
        ticket = self._ticket(call)
        if ticket.policy == "hold":
            self._refused(call, ticket)
            raise RpcError(EFFECT_BLOCKED, f"tool {call.tool} is held and its framework blocks while it waits, so nobody can be asked. Name it in effects_policy")
        return ticket

    def _ticket(self, call: Call) -> "_Ticket":
        call.args = plain(call.args)
        digest = sha256(call.args)
        count = self._count[call.tool, digest]
        self._count[call.tool, digest] += 1
        self._seq += 1
        policy = self._policy.get(call.tool) or ("run" if call.effect == "read_only" else "hold")
        ticket = _Ticket(self._seq, digest, f"{call.tool}-{digest[:16]}-{count}", policy)
        key = (call.agent, call.tool, digest)
        self._wire.event("tool.request", step=self._step(), agent=call.agent, tool=call.tool, args=call.args, args_sha256=digest, effect=call.effect)
        if call.again and call.effect != "read_only" and key in self._done:
            ticket.policy = "again"
            self._answered(call, ticket, self._done[key])
        elif policy == "run":
            ticket.runs = True
        elif policy == "refuse":
            self._refused(call, ticket)
        elif policy == "answer_from_record":
            answers = self._record.get((call.tool, digest))
            if answers:
                self._answered(call, ticket, answers.pop(0))
            else:  # another call than the recorded one is a new effect: report it, never guess
                self._wire.event("tape.diverged", step=self._step(), agent=call.agent, tool=call.tool, args_sha256=digest, message="no recorded answer for these arguments; the call is held")
                ticket.policy = "hold"
        return ticket

    def settled(self) -> None:
        """A boundary is reached: no call of before it is run again on the framework's own account."""
        self._done.clear()

    def _settle(self, call: Call, ticket: "_Ticket", result: Any) -> Any:
        self._tell(call, ticket, result)
        return result

    def _broke(self, call: Call, ticket: "_Ticket", error: Exception) -> None:
        if not ticket.told:  # a call that raised may have had its effect all the same
            self._tell(call, ticket, f"Error: {type(error).__name__}: {error}")

    def _answered(self, call: Call, ticket: "_Ticket", result: Any) -> None:
        ticket.result, ticket.disposition = result, "replayed"
        self._tell(call, ticket, result)

    def _refused(self, call: Call, ticket: "_Ticket") -> None:
        ticket.result, ticket.disposition = f"Error: the call of {call.tool} was refused by the operator; it did not happen.", "blocked"
        self._tell(call, ticket, ticket.result)

    def _tell(self, call: Call, ticket: "_Ticket", result: Any) -> None:
        self._done[call.agent, call.tool, ticket.args_sha256] = result
        result, ticket.told = plain(result), True
        self._wire.event("tool.result", step=self._step(), agent=call.agent, tool=call.tool, args_sha256=ticket.args_sha256, result=result)
        entry = self._entry(call, ticket, ticket.disposition)
        self._wire.event("effect.recorded", **{**entry, "entry_seq": ticket.seq, "result": result, "result_sha256": sha256(result)})

    def _entry(self, call: Call, ticket: "_Ticket", disposition: str) -> dict:
        return {
            "step": self._step(), "agent": call.agent, "tool": call.tool, "args_sha256": ticket.args_sha256,
            "effect": call.effect, "operation_key": ticket.operation_key, "disposition": disposition,
        }  # fmt: skip


@dataclass
class _Ticket:
    seq: int
    args_sha256: str
    operation_key: str
    policy: str
    runs: bool = False
    result: Any = None
    disposition: str = "executed"
    told: bool = False
