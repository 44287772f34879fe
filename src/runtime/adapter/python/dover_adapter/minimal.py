"""A whole adapter without any framework, to read before writing one's own: agents that speak in turn, each with its own memory.

The entry makes a `Team`. An agent is a function `reply(memory, use) -> str`: `memory` is what it has heard, in order; `use(tool, **args)`
calls a tool of the team through the gate. The run ends after `rounds` replies; the last one is the result.

Invariant: everything that decides what happens next is in `save()`. Nothing else is kept between two boundaries.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Callable

from .core import Backend, Call, Description, Host, Message, Saved, code_of, effect_of


@dataclass
class Team:
    """Agents in the order they speak, their tools, and how many replies there are."""

    agents: dict[str, Callable[..., str]]
    rounds: int = 4
    tools: dict[str, Callable[..., Any]] = field(default_factory=dict)


class Minimal(Backend):
    """Drives a `Team`. The pending message is the first of the queue; committing it means that every agent hears it."""

    name = "minimal"
    capabilities = {"send": True, "insert": True, "drop": True, "set_state": True, "regenerate": True}

    def __init__(self, target: Any, host: Host) -> None:
        super().__init__(target, host)
        if not isinstance(target, Team) or not target.agents:
            raise ValueError(f"it makes a {type(target).__name__}, not a dover_adapter.minimal.Team with agents")
        self._team = target
        self._memory: dict[str, list[dict]] = {name: [] for name in target.agents}
        self._waiting: list[Message] = []
        self._made = 0
        """How many messages there were so far; the next one's id."""
        self._replies = 0
        self._last = ""

    async def describe(self) -> Description:
        agents = [
            {"name": name, "class": "function", "description": (reply.__doc__ or "").strip(), "state": "full"} for name, reply in self._team.agents.items()
        ]
        tools = [{"agent": "*", "name": name, "schema": None, "effect": effect_of(tool)} for name, tool in self._team.tools.items()]
        code = {name: code_of(function) for name, function in {**self._team.agents, **self._team.tools}.items()}  # another text is another configuration
        return Description("turns", agents, {"agents": agents, "tools": tools, "rounds": self._team.rounds, "code": code}, tools)

    # ---- the run

    async def start(self, task: str) -> None:
        self._put("user", "all", task, "task")

    async def advance(self) -> None:
        message = self._waiting.pop(0)
        for memory in self._memory.values():
            memory.append({"from": message.sender, "content": message.content})
        self._last = message.content
        if not self._waiting and self._replies < self._team.rounds:
            await self._speak()

    async def _speak(self) -> None:
        """The next agent says what will be pending."""
        names = list(self._team.agents)
        name = names[self._replies % len(names)]
        # In a thread, so that neither a slow agent nor a question about its tools holds up the protocol.
        text = await asyncio.to_thread(self._team.agents[name], list(self._memory[name]), lambda tool, **args: self._use(name, tool, args))
        self._replies += 1
        self._put(name, "all", text, "answer" if self._replies == self._team.rounds else "message")

    def _use(self, agent: str, tool: str, args: dict) -> Any:
        function = self._team.tools[tool]
        return self.host.effects.call_blocking(Call(agent, tool, args, effect_of(function)), lambda: function(**args))

    def _put(self, sender: str, to: str, content: Any, kind: str = "message", at: int | None = None) -> str:
        message = Message(f"m{self._made}", sender, to, content, kind)
        self._made += 1
        self._waiting.insert(len(self._waiting) if at is None else at, message)
        return message.message_id

    def pending(self) -> Message | None:
        return self._waiting[0] if self._waiting else None

    def queue(self) -> list[Message]:
        return list(self._waiting)

    def result(self) -> dict:
        return {"final": self._last, "reason": f"{self._replies} replies"}

    # ---- its state

    async def save(self) -> dict[str, Saved]:
        state = {f"agents/{name}/memory": Saved(list(memory), revision=str(len(memory))) for name, memory in self._memory.items()}
        state["orchestrator/turn"] = Saved({"made": self._made, "replies": self._replies, "last": self._last}, revision=str(self._replies))
        state["orchestrator/queue"] = Saved([message.wire() for message in self._waiting])
        return state

    async def load(self, state: dict[str, Any], pending: Message) -> None:
        for name in self._memory:
            self._memory[name] = list(state.get(f"agents/{name}/memory", []))
        turn = state["orchestrator/turn"]
        self._made, self._replies, self._last = turn["made"], turn["replies"], turn["last"]
        queue = [dict(message) for message in state["orchestrator/queue"]]
        self._waiting = [Message(sender=message.pop("from"), **message) for message in queue]
        if self.pending() != pending:
            raise ValueError("the saved queue does not begin with the pending message")

    # ---- edits

    async def replace_pending(self, message_id: str, content: Any) -> int:
        self._find(message_id).content = content
        return 1  # a message stands in the queue only, until it is heard

    async def insert(self, content: Any, sender: str, to: str, at: int) -> int:
        self._put(sender, to, content, at=at)
        return 1

    async def drop(self, message_id: str) -> int:
        self._waiting.remove(self._find(message_id))
        if not self._waiting and self._replies < self._team.rounds:
            await self._speak()
        return 1

    async def set_state(self, key: str, value: Any) -> int:
        name = key.removeprefix("agents/").removesuffix("/memory")
        if name not in self._memory or not isinstance(value, list):
            raise self.unsupported(f"set_state of {key} (agents/NAME/memory takes a list)")
        self._memory[name] = value
        return 1

    async def regenerate(self) -> int:
        if self.pending().sender not in self._team.agents:
            raise self.unsupported("regenerate of a message that no agent made")
        self._waiting.pop(0)
        self._replies -= 1
        await self._speak()
        return 1

    def recipients(self) -> list[str]:
        return ["all"]

    async def send(self, to: str, content: Any) -> str:
        return self._put("user", to, content)

    def _find(self, message_id: str) -> Message:
        return next(message for message in self._waiting if message.message_id == message_id)


BACKEND = Minimal
