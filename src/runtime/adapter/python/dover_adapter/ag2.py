"""The adapter for AG2 1.x (`import ag2`): agents of its network in one channel, be it a conversation, a discussion or a workflow.

The entry makes `(agents, options)`: agents of `ag2`, of which the first opens the channel and says the task; a plain name among them is a
person, who is asked when it is their turn. Options: `channel` (its type, else `discussion`), `knobs` (of the channel; a workflow's graph
names the agents by name), `max_turns` (messages with the task), `until` (a function of a message's text: whether the run ends with it).

A boundary is the hub's own gate before its write-ahead log: whoever sends waits there. It is reached once nothing else of the hub moves,
which is counted on the links between hub and agents. An agent has no memory of its own beyond the log, so log, identities and what waits at
the gate are the state; a restore opens a new hub over a copy of its files, attaches the agents and sends anew what waited.

The hub's clockwork (time to live, expectations) is off: a run that stands for an hour would break it. What an agent's tool says in the
middle of its turn, and what is said in channels that a tool opens, is told as `output`: there is no standing still there.
"""

import asyncio
import dataclasses
import json
import logging
from typing import Any, Awaitable, Callable

from ag2 import Agent
from ag2.knowledge import KnowledgeStore, MemoryKnowledgeStore
from ag2.network import EV_CHANNEL_INVITE, Envelope, Hub, HubClient, NetworkError, Passport, Resume, default_handler

from .ag2_gate import SPOKEN, Failures, Gate, Link, Traffic, Waiting, Withdrawn, words
from .ag2_watch import described, watch
from .core import EDIT_CONFLICT, Backend, Description, Host, Message, RpcError, Saved, code_of, plain

OPTIONS = ("channel", "knobs", "max_turns", "until")
ENDLESS = ("conversation", "discussion")
"""Channels that end only when somebody closes them."""
PASSING = ("inbox.cursors.json", "inbox_nacks.jsonl", "inbox_overflow.jsonl")
"""Files of an agent that only a link over the wire reads again."""


class Ag2(Backend):
    """Drives the agents of one channel."""

    name = "ag2"
    packages = ("ag2",)
    capabilities = {"human_input": True, "insert": True, "drop": True, "regenerate": True}

    def __init__(self, target: Any, host: Host) -> None:
        super().__init__(target, host)
        made, options = target if isinstance(target, tuple) and len(target) == 2 and isinstance(target[1], dict) else (target, {})
        members = list(made) if isinstance(made, (list, tuple)) else []
        if len(members) < 2 or not all(isinstance(member, (Agent, str)) for member in members):
            raise ValueError("it must make (agents, options): a list of at least two agents of ag2, or names of persons, and a dict")
        if unknown := sorted(options.keys() - set(OPTIONS)):
            raise ValueError(f"there is no option {', '.join(unknown)}. There are: {', '.join(OPTIONS)}")
        self._people = {member for member in members if isinstance(member, str)}
        self._agents: dict[str, Agent] = {agent.name: agent for agent in (Agent(m) if isinstance(m, str) else m for m in members)}
        if len(self._agents) != len(members):
            raise ValueError("two of its agents have the same name")
        self._type: str = options.get("channel", ENDLESS[1])
        self._knobs: dict = plain({key: value.to_dict() if hasattr(value, "to_dict") else value for key, value in options.get("knobs", {}).items()})
        self._turns: int | None = options.get("max_turns")
        self._until: Callable[[str], Any] | None = options.get("until")
        if self._type in ENDLESS and self._turns is None and self._until is None:
            raise ValueError(f"a {self._type} never ends by itself: give max_turns, or until")
        self._tools = {name: [tool for tool in agent.tools] for name, agent in self._agents.items()}  # the network adds its own later
        self._traffic = Traffic()
        self._waiting: list[Waiting] = []
        self._mine: dict[int, tuple[Any, str | None]] = {}
        """Envelopes that are sent from here, by identity: who stands still with one, and the id it has already."""
        self._made = self._said = 0
        """How many messages there were, and how many of them are committed."""
        self._ended = False
        self._last: str | None = None
        """What was said last at a boundary."""
        self._failure: BaseException | None = None
        self._tasks: set[asyncio.Task] = set()
        self._channel = ""
        logging.getLogger("ag2.network").setLevel(logging.ERROR)
        watch(host)

    # ---- what it is

    async def describe(self) -> Description:
        agents, tools, pinned = [], [], {}
        for name, agent in self._agents.items():
            mine = [] if name in self._people else [told for tool in self._tools[name] for told in described(name, tool)]
            tools += [{key: told[key] for key in ("agent", "name", "schema", "effect")} for told in mine]
            kind = "person" if name in self._people else type(agent).__name__
            agents.append({"name": name, "class": kind, "description": "", "state": self._fidelity(name)})
            schema = agent.response_schema
            pinned[name] = {
                "class": kind, "prompt": list(agent.system_prompt), "dynamic": [code_of(getattr(hook, "__wrapped__", hook)) for hook in agent.dynamic_prompt],
                "model": plain(agent.config), "tools": mine, "answers": getattr(schema, "json_schema", None) or (schema and type(schema).__name__),
                "middleware": [plain(entry.description) for entry in agent.middleware if type(entry.middleware).__name__[0] != "_"],
                "subtasks": plain(agent.tasks),
            }  # fmt: skip
        routing = {"channel": self._type, "knobs": self._knobs, "max_turns": self._turns, "until": self._until and code_of(self._until), "order": list(self._agents)}
        return Description(self._type, agents, {"agents": pinned, "routing": routing}, tools)

    def _fidelity(self, name: str) -> str:
        """What is somebody's own may keep what nobody here knows of: classes, middleware, observers, objects that tools share, files on disk."""
        agent, knowledge = self._agents[name], self._knowledge(name)
        own = [type(agent), *(getattr(entry.middleware, "cls", type(entry.middleware)) for entry in agent.middleware)]
        shared = [key for key in agent.dependencies if key is not KnowledgeStore]
        variables = dict(agent.variables)
        streams = any(getattr(tool, "agent", None) is not None for tool in self._tools[name])
        whole = all(kind.__module__.split(".")[0] == "ag2" for kind in own) and not (agent.observers or shared or streams)
        return "full" if whole and isinstance(knowledge, (MemoryKnowledgeStore, type(None))) and plain(variables) == variables else "partial"

    def _knowledge(self, name: str) -> Any:
        return self._agents[name].dependencies.get(KnowledgeStore)

    # ---- the run

    async def start(self, task: str) -> None:
        await self._open({})
        opener, *others = self._agents
        client = self._clients[opener]
        opened = await client.open(type=self._type, target=others, knobs=self._knobs_by_id())
        await self._traffic.still()
        self._channel = opened.channel_id
        self._post(self._hub.adapter_for(self._channel).build_text_envelope(self._channel, client.agent_id, task, audience=None, causation_id=None))
        await self._arrive()

    async def _open(self, files: dict[str, str]) -> None:
        """A hub over these files, every agent attached to it."""
        self._store = MemoryKnowledgeStore()
        for path, content in files.items():
            await self._store.write(path, content)
        self._hub = await Hub.open(self._store, ttl_sweep_interval=0, expectation_sweep_interval=0)
        self._hub.register_arbiter(Gate(self))
        self._hub.register_listener(Failures(self))
        self._clients: dict[str, Any] = {}
        for name, agent in self._agents.items():
            client = await HubClient(Link(self._hub, self._traffic)).attach(agent, name, passport=Passport(name=name), resume=Resume())
            if name in self._people:
                client.on_envelope(self._person(client))
            self._clients[name] = client

    def _knobs_by_id(self) -> dict:
        """The channel's knobs with the ids that the hub gave, in place of the agents' names."""
        ids = {name: client.agent_id for name, client in self._clients.items()}

        def put(value: Any, key: str = "") -> Any:
            if isinstance(value, dict):
                return {name: put(item, name) for name, item in value.items()}
            if isinstance(value, list):
                return [put(item) for item in value]
            return ids.get(value, value) if key in ("agent_id", "initial_speaker") else value

        return put(self._knobs)

    async def advance(self) -> None:
        going = self._waiting.pop(0)
        self._said, self._last = self._said + 1, words(going.envelope)
        self._ended = self._turns is not None and self._said >= self._turns or self._wants_end(going.envelope)
        self._release(going)
        for waiting in self._waiting if self._ended else ():  # what was to come after the end is never said
            waiting.withdrawn = True
            self._release(waiting)
        self._waiting = [] if self._ended else self._waiting
        await self._arrive()

    def _release(self, waiting: Waiting) -> None:
        self._traffic.free(waiting.who)
        waiting.go.set()

    async def _arrive(self) -> None:
        """Until all that moves has come to the gate or to its end."""
        await self._traffic.still()
        failure, self._failure = self._failure, None
        if failure is not None and not self._waiting:
            raise failure

    def failed(self, agent_id: str, error: BaseException) -> None:
        if not isinstance(error, Withdrawn):
            self._failure = self._failure or error
            self.host.log(f"the turn of {self._hub.name_for(agent_id)} broke: {type(error).__name__}: {error}", "error")

    async def admitted(self, envelope: Envelope) -> bool:
        """The boundary: holds a message until it is committed (True) or taken back."""
        if envelope.event_type not in SPOKEN:
            return True
        own = self._mine.pop(id(envelope), None)
        who, message_id = own or (envelope.sender_id, None)
        waiting = Waiting(message_id or f"m{self._made}", envelope, who)
        self._made += message_id is None
        if envelope.channel_id != self._channel or not (own or envelope.causation_id):
            self.host.output(self._message(waiting))
            return True
        if self._ended:
            return False
        self._waiting.append(waiting)
        self._traffic.hold(who)
        await waiting.go.wait()
        return not waiting.withdrawn

    def ends_with(self, envelope: Envelope) -> bool:
        """Whether this message is the run's last."""
        return self._ended and envelope.channel_id == self._channel and envelope.event_type in SPOKEN

    def _wants_end(self, envelope: Envelope) -> bool:
        return self._until is not None and bool(self._until(words(envelope)))

    def _post(self, envelope: Envelope, message_id: str | None = None) -> None:
        """Sends a message from here."""
        who = object()
        self._mine[id(envelope)] = who, message_id
        self._move(who, envelope.sender_id, self._hub.post_envelope(envelope))

    def _move(self, who: Any, agent_id: str, work: Awaitable) -> None:
        async def moving() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 - told where the run next arrives
                self.failed(agent_id, error)
            finally:
                self._traffic.end(who)

        self._traffic.begin(who)
        task = asyncio.ensure_future(moving())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _person(self, client: Any) -> Callable[[Envelope], Awaitable[None]]:
        """Hears for a person, and asks them when they may speak."""

        async def hear(envelope: Envelope) -> None:
            if envelope.event_type == EV_CHANNEL_INVITE:
                await default_handler(envelope, client)
            elif envelope.event_type in SPOKEN and self._hub.can_send(envelope.channel_id, client.agent_id):
                said = str(await self.host.ask_person(client.passport.name, words(envelope)))
                if said:  # silence ends a conversation
                    adapter = self._hub.adapter_for(envelope.channel_id)
                    self._post(adapter.build_text_envelope(envelope.channel_id, client.agent_id, said, audience=None, causation_id=envelope.envelope_id))

        return hear

    # ---- its messages

    def pending(self) -> Message | None:
        return self._message(self._waiting[0]) if self._waiting else None

    def queue(self) -> list[Message]:
        return [self._message(waiting) for waiting in self._waiting]

    def _message(self, waiting: Waiting) -> Message:
        envelope = waiting.envelope
        to, closes = self._ahead(envelope)
        main = envelope.channel_id == self._channel
        last = main and (closes or self._said + 1 == self._turns or self._wants_end(envelope))
        kind = "task" if main and not self._said else "answer" if last else "message" if words(envelope) else "control"
        return Message(waiting.message_id, self._hub.name_for(envelope.sender_id), to, words(envelope), kind)

    def _ahead(self, envelope: Envelope) -> tuple[str, bool]:
        """Who is to speak after a message, and whether its channel closes with it."""
        if envelope.audience:
            return ", ".join(map(self._hub.name_for, envelope.audience)), False
        metadata, adapter = self._hub._channels[envelope.channel_id], self._hub.adapter_for(envelope.channel_id)
        state = adapter.fold(dataclasses.replace(envelope, envelope_id="ahead"), self._hub.adapter_state(envelope.channel_id))
        closes = adapter.on_accepted(metadata, envelope, state).next_state is not None
        expected = adapter.expected_next(metadata, state)
        others = [agent_id for agent_id in metadata.participant_ids() if agent_id != envelope.sender_id]
        if closes or expected is None and len(others) != 1:
            return "all", closes
        return self._hub.name_for(expected.agent_id if expected else others[0]), closes

    def result(self) -> dict:
        closed = self._hub._channels[self._channel].close_reason
        return {"final": self._last, "reason": closed or f"{self._said} messages"}

    @property
    def _log(self) -> list[Envelope]:
        lines = self._store._data.get(f"/channels/{self._channel}/wal.jsonl", "").splitlines()
        return [Envelope.from_json(line) for line in lines]

    # ---- its state

    async def save(self) -> dict[str, Saved]:
        files, state = await walk(self._store), {}
        for name, client in self._clients.items():
            own = f"/agents/{client.agent_id}/"
            knowledge = self._knowledge(name)
            memory = {
                "id": client.agent_id, "waiting": self._hub._inbox_pending.get(client.agent_id, 0), "variables": dict(self._agents[name].variables),
                "files": {path.removeprefix(own): text for path, text in files.items() if path.startswith(own) and not path.endswith(PASSING)},
                "knowledge": await walk(knowledge) if knowledge is not None else {},
            }  # fmt: skip
            state[f"agents/{name}/memory"] = Saved(memory, self._fidelity(name))
        channels = [
            {"metadata": json.loads(text), "messages": [json.loads(line) for line in files.get(path.replace("metadata.json", "wal.jsonl"), "").splitlines()]}
            for path, text in files.items() if path.startswith("/channels/") and path.endswith("/metadata.json")
        ]  # fmt: skip
        state["orchestrator/thread"] = Saved(channels, revision=str(sum(len(channel["messages"]) for channel in channels)))
        tasks = {path: text for path, text in files.items() if path.startswith("/tasks/")}
        ledger = {"channel": self._channel, "said": self._said, "made": self._made, "tasks": tasks, "observed": sorted(map(list, self._hub._observed_task_ids))}
        state["orchestrator/ledger"] = Saved(ledger)
        waiting = [[waiting.message_id, waiting.envelope.to_dict()] for waiting in self._waiting]
        state["orchestrator/pending"] = Saved(waiting, "partial" if self._traffic.behind() else "full")  # a notice not seen is in no file
        return state

    async def load(self, state: dict[str, Any], pending: Message) -> None:
        ledger = state["orchestrator/ledger"]
        files = dict(ledger["tasks"])
        for channel in state["orchestrator/thread"]:
            own = f"/channels/{channel['metadata']['channel_id']}/"
            files[own + "metadata.json"] = json.dumps(channel["metadata"])
            files[own + "wal.jsonl"] = "".join(Envelope.from_dict(message).to_json() + "\n" for message in channel["messages"])
        memories = {name: state[f"agents/{name}/memory"] for name in self._agents if f"agents/{name}/memory" in state}
        for name, memory in memories.items():
            files.update({f"/agents/{memory['id']}/{path}": text for path, text in memory["files"].items()})
            self._agents[name]._agent_variables.update(memory["variables"])
            for path, text in memory["knowledge"].items() if isinstance(self._knowledge(name), MemoryKnowledgeStore) else ():
                await self._knowledge(name).write(path, text)
        await self._open(files)
        self._hub._inbox_pending.update({memory["id"]: memory["waiting"] for memory in memories.values()})
        self._hub._observed_task_ids.update((owner, task) for owner, task in ledger["observed"])
        self._channel, self._said, self._made = ledger["channel"], ledger["said"], ledger["made"]
        for message_id, envelope in state["orchestrator/pending"]:
            self._post(Envelope.from_dict(envelope), message_id)
            await self._arrive()
        if not self._waiting or self._waiting[0].message_id != pending.message_id:
            raise ValueError("what waited at the hub does not begin with the pending message")

    # ---- edits

    async def replace_pending(self, message_id: str, content: Any) -> int:
        if not isinstance(content, str):
            raise self.unsupported("a message that is no text")
        envelope = self._find(message_id).envelope
        envelope.event_data = {**envelope.event_data, SPOKEN[envelope.event_type]: content}
        return 1  # a message stands nowhere until it is in the log

    async def drop(self, message_id: str) -> int:
        waiting = self._find(message_id)
        self._waiting.remove(waiting)
        waiting.withdrawn = True
        self._release(waiting)
        await self._traffic.still()
        return 1

    async def insert(self, content: Any, sender: str, to: str, at: int) -> int:
        """All of the channel hear it; `to` is but checked."""
        for name in (sender, to):
            if name not in self._clients and (name != "all" or name is sender):
                raise RpcError(EDIT_CONFLICT, f"insert: nobody here is called {name!r}. There are: {', '.join(self._clients)}")
        metadata, adapter, state = self._hub._channels[self._channel], self._hub.adapter_for(self._channel), self._hub.adapter_state(self._channel)
        log = [envelope for envelope in self._log if envelope.event_type in SPOKEN]
        answered = log[-1].envelope_id if log else None
        envelope = adapter.build_text_envelope(self._channel, self._clients[sender].agent_id, str(content), audience=None, causation_id=answered)
        if adapter.expected_next(metadata, state) is not None and self._waiting:
            raise RpcError(EDIT_CONFLICT, f"insert: a {self._type} takes turns, and the pending message has this one. Drop it first")
        try:
            adapter.validate_send(metadata, envelope, state)
        except NetworkError as error:
            raise RpcError(EDIT_CONFLICT, f"insert: the channel refuses it: {error}") from None
        self._post(envelope)
        await self._arrive()
        self._waiting.insert(at, self._waiting.pop())
        return 1

    async def regenerate(self) -> int:
        envelope = self._waiting[0].envelope
        trigger = next((said for said in self._log if said.envelope_id == envelope.causation_id), None)
        if trigger is None:
            raise self.unsupported("regenerate of a message that answers none")
        client = self._clients[self._hub.name_for(envelope.sender_id)]
        await self.drop(self._waiting[0].message_id)
        self._move(client.agent_id, client.agent_id, client.receive(trigger))
        await self._arrive()
        self._waiting.insert(0, self._waiting.pop())
        return 1

    def _find(self, message_id: str) -> Waiting:
        return next(waiting for waiting in self._waiting if waiting.message_id == message_id)


async def walk(store: Any, at: str = "/") -> dict[str, str]:
    """All files of a store of the framework's."""
    found: dict[str, str] = {}
    for child in await store.list(at):
        path = at.rstrip("/") + "/" + child
        if child.endswith("/"):
            found.update(await walk(store, path))
        else:
            found[path] = await store.read(path) or ""
    return found


BACKEND = Ag2
