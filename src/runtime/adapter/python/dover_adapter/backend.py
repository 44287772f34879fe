"""What a framework file implements: `Backend`, in terms of `Message` and `Saved`, with a `Host` to talk to.

A *boundary* is a moment when exactly one message is about to be committed and no handler is in flight. `start`, `advance` and `load`
return only at a boundary, or at the end of the run.
"""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Awaitable, Callable, ClassVar

from .effects import Effects
from .wire import UNSUPPORTED, RpcError, Wire


@dataclass
class Message:
    """A message about to be committed. `kind` is a step's kind: task, plan, ledger, instruction, thought, message, tool_call, tool_result, answer, control."""

    message_id: str
    sender: str
    to: str
    content: Any
    kind: str = "message"
    tool: dict | None = None
    """Of a call or its result: `{name, call_id, arguments, effect}`."""

    def wire(self) -> dict:
        """As the protocol writes it."""
        told = {"message_id": self.message_id, "from": self.sender, "to": self.to, "kind": self.kind, "content": self.content}
        return told if self.tool is None else {**told, "tool": self.tool}


@dataclass
class Saved:
    """One state key: its value as plain JSON, whether that is all of it, and the framework's own name for the version."""

    value: Any = None
    fidelity: str = "full"
    """`full`, `partial` (a restore is `untested`), or `opaque` (no value at all)."""
    revision: str = ""


@dataclass
class Description:
    """The team, as far as it can be known before it runs."""

    topology: str
    agents: list[dict]
    """`{name, class, description, state}`, state being full, partial or opaque."""
    pinned: Any
    """All that makes the team what it is: prompts, models, tool schemas, routing. Versions are added, secrets masked."""
    tools: list[dict] = field(default_factory=list)
    """`{agent, name, schema, effect}`."""


class Host:
    """What a backend may ask of the core."""

    def __init__(self, wire: Wire, ask: Callable[..., Awaitable[Any]], step: Callable[[], int]) -> None:
        self.loop = asyncio.get_running_loop()
        self.effects = Effects(wire, ask, step)
        self._wire, self._ask, self._step = wire, ask, step

    def event(self, kind: str, **fields: Any) -> None:
        """Tells something, from any thread: `output`, `output.delta`, `llm.request`, `llm.response`, `state.changed`, `log`."""
        self._wire.event(kind, **{"step": self._step(), **fields})

    def output(self, message: Message) -> None:
        """Tells a message that is said between two boundaries, so that it can be seen and not edited."""
        self.event("output", agent=message.sender, message=message.wire())

    def log(self, text: str, level: str = "warning") -> None:
        """Tells something for the log."""
        self.event("log", level=level, text=text)

    async def ask_person(self, agent: str, prompt: str) -> Any:
        """Asks a person for a word; the run stands with status `input` until `respond`."""
        return await self._ask("person", agent=agent, prompt=prompt)

    def ask_person_blocking(self, agent: str, prompt: str) -> Any:
        """The same from a worker thread."""
        return asyncio.run_coroutine_threadsafe(self.ask_person(agent, prompt), self.loop).result()


class Backend(ABC):
    """One run of one framework. Made once a process; either started or loaded, once."""

    name: ClassVar[str]
    """The adapter's name, as checkpoints say it."""
    packages: ClassVar[tuple[str, ...]] = ()
    """The distributions whose versions make a checkpoint compatible."""
    capabilities: ClassVar[dict] = {}
    """What differs from `NO_CAPABILITIES`."""
    usual_names: ClassVar[tuple[str, ...]] = ()
    """What an entry's factory is usually called, before the names that any adapter looks for."""

    NO_CAPABILITIES: ClassVar[dict] = {
        "granularity": "message", "fresh_process_restore": "exact", "mid_turn_restore": False, "insert": False, "drop": False,
        "send": False, "human_input": False, "set_state": False, "regenerate": False, "start_state": False,
        "export": False,
    }  # fmt: skip

    def __init__(self, target: Any, host: Host) -> None:
        """Takes what the entry made. Raise ValueError if it is not what this adapter drives."""
        self.host = host

    @classmethod
    def framework(cls) -> dict[str, str]:
        """The packages and their versions."""
        found = {}
        for package in cls.packages:
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                found[package] = "unknown"
        return found

    @abstractmethod
    async def describe(self) -> Description:
        """The team. Must be the same in every process for the same entry."""

    @abstractmethod
    async def start(self, task: str) -> None:
        """Begins a run, up to its first boundary: the task pending."""

    async def start_from(self, task: str | None, state: Any) -> None:
        """Begins a run from what the framework itself saved. Raise ValueError if it is of another team."""
        raise self.unsupported("start from a saved state")

    @abstractmethod
    async def advance(self) -> None:
        """Commits the pending message and runs to the next boundary, or to the end."""

    @abstractmethod
    def pending(self) -> Message | None:
        """The message about to be committed; None at the end of the run."""

    @abstractmethod
    def result(self) -> dict:
        """How the run ended: `{final, reason}`, and `failed` with the cause if the framework gave up."""

    @abstractmethod
    async def save(self) -> dict[str, Saved]:
        """The state before the pending message, key by key: `agents/<name>/memory`, `orchestrator/thread`, `termination/...`, `tools/<name>`, ..."""

    @abstractmethod
    async def load(self, state: dict[str, Any], pending: Message) -> list[str] | None:
        """Rebuilds the run from saved values, the given message pending again. May return warnings. Keys of fidelity `opaque` are left out."""

    @abstractmethod
    async def replace_pending(self, message_id: str, content: Any) -> int:
        """Rewrites a message of the queue, wherever the framework keeps it. Returns how many copies were rewritten."""

    def queue(self) -> list[Message]:
        """Messages not committed yet, in order; the first is the pending one."""
        message = self.pending()
        return [] if message is None else [message]

    def recipients(self) -> list[str]:
        """Whom `send` may name."""
        return []

    async def send(self, to: str, content: Any) -> str:
        """Puts a further message on the queue; returns its id. `to` is one of `recipients()`."""
        raise self.unsupported("send")

    async def insert(self, content: Any, sender: str, to: str, at: int) -> int:
        """Puts a message at a place of the queue. Returns how many copies there are."""
        raise self.unsupported("insert")

    async def drop(self, message_id: str) -> int:
        """Takes a message off the queue."""
        raise self.unsupported("drop")

    async def set_state(self, key: str, value: Any) -> int:
        """Replaces the value of a state key."""
        raise self.unsupported("set_state")

    async def regenerate(self) -> int:
        """Lets the pending message be made again by the agent that made it."""
        raise self.unsupported("regenerate")

    async def export(self, commit: bool) -> Any:
        """The run as the framework itself would save it, for use without dover. `commit`: as if it had been stopped right after the pending
        message: that is said, nobody is asked to speak after it, and the run is over."""
        raise self.unsupported("export")

    async def close(self) -> None:
        """Gives back what the run holds: browsers, child processes."""

    def unsupported(self, what: str) -> RpcError:
        """The refusal of something this framework cannot do."""
        return RpcError(UNSUPPORTED, f"adapter {self.name} cannot do {what}; see its capabilities")
