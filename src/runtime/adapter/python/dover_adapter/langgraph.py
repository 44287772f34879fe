"""The adapter for LangGraph 1.2: any compiled graph, whatever its nodes, edges and state.

LangGraph runs superstep by superstep and commits what all nodes of one wrote at once. So a run is held *between* a superstep and its commit:
the checkpoint before it plus its pending writes. From these two the framework itself makes the state after, without running a node again,
and they are all that is saved. Every message among the writes is a boundary of its own; a node that writes none has one for its update.

A node that asks with `interrupt()` runs from its top again once it is answered: what its tools did the first time is then answered
from that (`Call.again`). A node that changes its input in place makes the saved writes stale: it is told, and the state reported `partial`.
"""

import base64
import uuid
from typing import Any, Callable, NamedTuple

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage, messages_from_dict, messages_to_dict
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel
from langgraph.types import Command, StateUpdate

from .core import INCOMPATIBLE, UNSUPPORTED, Backend, Call, Description, Host, Message, RpcError, Saved, canonical, code_of, effect_of, plain, sha256

READABLE = ("messages", "json", "set")
"""Types of packed values that are plain JSON."""
START, SENDS, ROOT = "__start__", "__pregel_tasks", ""
BRANCH = "branch:to:"
"""What a channel that leads to a node is called."""


class Write(NamedTuple):
    """What a task wrote to a channel."""

    task_id: str
    path: str
    channel: str
    value: Any


class Saver(InMemorySaver):
    """Counts versions, so that equal runs have equal checkpoints, and names every message before it is stored, so that it keeps its name."""

    def get_next_version(self, current: int | None, channel: Any) -> int:
        return 1 if current is None else current + 1

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        for _, value in writes:
            for message in messages_in(value):
                message.id = message.id or str(uuid.uuid4())
        super().put_writes(config, writes, task_id, task_path)

    def pack(self, value: Any) -> dict:
        """A value as JSON: readable where nothing is lost by it, else by the saver's own serialiser."""
        messages = messages_in(value)
        if messages and messages == value and messages_from_dict(messages_to_dict(messages)) == messages:
            return {"type": "messages", "value": messages_to_dict(messages)}
        if _is_json(value):
            return {"type": "json", "value": value}
        if type(value) is set and all(type(item) is str for item in value):
            return {"type": "set", "value": sorted(value)}  # the serialiser keeps no order
        kind, data = self.serde.dumps_typed(value)
        return {"type": kind, "value": base64.b64encode(data).decode("ascii")}

    def unpack(self, packed: dict) -> Any:
        """The value again."""
        if packed["type"] == "messages":
            return messages_from_dict(packed["value"])
        if packed["type"] == "set":
            return set(packed["value"])
        return packed["value"] if packed["type"] == "json" else self.serde.loads_typed((packed["type"], base64.b64decode(packed["value"])))


def _versions(checkpoint: dict, change: Callable[[Any], Any]) -> dict:
    """The checkpoint with its channels' versions written in another way."""
    seen = {node: {channel: change(version) for channel, version in of.items()} for node, of in checkpoint["versions_seen"].items()}
    return {**checkpoint, "channel_versions": {channel: change(version) for channel, version in checkpoint["channel_versions"].items()}, "versions_seen": seen}


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return type(value) is dict and all(type(key) is str and _is_json(item) for key, item in value.items())
    if isinstance(value, list):
        return type(value) is list and all(map(_is_json, value))
    return value is None or type(value) in (bool, int, float, str) and plain(value) == value


def messages_in(value: Any) -> list[BaseMessage]:
    """The messages of a written value."""
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, BaseMessage)]


class LangGraph(Backend):
    """Drives a compiled graph, a builder, or a pair of either and a function that makes the input from the task."""

    name = "langgraph"
    packages = ("langgraph", "langchain-core")
    capabilities = {"granularity": "message", "human_input": True, "start_state": True, "export": True}
    usual_names = ("graph", "app", "make_graph")

    def __init__(self, target: Any, host: Host) -> None:
        super().__init__(target, host)
        graph, make = target if isinstance(target, tuple) and len(target) == 2 else (target, None)
        graph = graph.compile() if isinstance(graph, StateGraph) else graph
        if not isinstance(graph, Pregel):
            raise ValueError(f"it makes a {type(target).__name__}, not a LangGraph graph")
        if make is None and "messages" not in graph.channels:
            raise ValueError("its state has no channel `messages`; return (graph, function from the task to the graph's input)")
        self._graph, self._make = graph, make or (lambda task: {"messages": [HumanMessage(task, id=str(uuid.uuid4()))]})
        self._saver = graph.checkpointer = Saver()
        self._thread = uuid.uuid4().hex
        self._before: dict = {}
        """Where the checkpoint before the superstep is."""
        self._units: list[tuple[str, str, BaseMessage | dict]] = []
        """What the superstep wrote, one boundary each: task id, node, and the message or the update."""
        self._place = 0
        self._ended = False
        self._watch = Watch(self)
        self.again: set[str] = set()
        """Nodes that run from their top again."""
        gate_tools(self)

    # ---- what it is

    async def describe(self) -> Description:
        nodes = {name: node for name, node in self._graph.nodes.items() if name != START}
        tools = [(name, tool) for name, node in nodes.items() for tool in getattr(node.bound, "tools_by_name", {}).values()]
        agents = [{"name": name, "class": type(node.bound).__name__, "description": "", "state": "full"} for name, node in nodes.items()]
        told = [{"agent": name, "name": tool.name, "schema": tool.args, "effect": effect_of(tool)} for name, tool in tools]
        drawn = self._graph.get_graph()
        edges = sorted([edge.source, edge.target, edge.conditional] for edge in drawn.edges)
        pinned = {"edges": edges, "nodes": {name: pin(node.bound) for name, node in nodes.items()}, "channels": sorted(self._graph.channels), "tools": told}
        return Description(type(self._graph).__name__, agents, pinned, told)

    # ---- the run

    async def start(self, task: str) -> None:
        await self._run(self._make(task), self._config())

    async def start_from(self, task: str | None, state: Any) -> None:
        checkpoint = self._loaded(state)
        known = {*self._graph.channels, *(BRANCH + node for node in self._graph.nodes)}
        if foreign := sorted(set(checkpoint["channel_values"]) - known):
            raise RpcError(INCOMPATIBLE, f"the saved state is of another graph: it has {', '.join(foreign)}, and this graph has {', '.join(sorted(self._graph.channels))}")
        at = self._saver.put(self._config(), checkpoint, state["metadata"], checkpoint["channel_versions"])
        if task is None and not self._graph.get_state(at).next:
            raise RpcError(INCOMPATIBLE, "the graph had come to its end in the saved state, so there is nothing to go on with. Give a task")
        await self._run(None if task is None else self._make(task), at if task is None else self._config())

    async def advance(self) -> None:
        if self._place + 1 < len(self._units):
            self._place += 1  # committed together with the rest of its superstep
            return
        after = self._graph.get_state(self._config())
        if after.next:
            await self._run(None, after.config)
        else:
            self._ended = True

    async def _run(self, value: Any, config: dict) -> None:
        """One superstep, with a question for every interrupt in it."""
        self._watch.stale = False
        self.again = set()
        while True:
            await self._graph.ainvoke(value, {**config, "callbacks": [self._watch]}, interrupt_before="*", durability="sync")
            state = self._graph.get_state(self._config())
            asked = [(task.name, question) for task in state.tasks for question in task.interrupts]
            if not asked:
                return self._look(state)
            answers = {question.id: await self.host.ask_person(node, _text(question.value)) for node, question in asked}
            self.again = {node for node, _ in asked}
            value, config = Command(resume=answers), state.config

    def _look(self, after: Any) -> None:
        """Reads what the superstep wrote before the state `after`."""
        self._before = {"configurable": {**after.parent_config["configurable"]}}
        self._units, self._place = [], 0
        tasks = {task.id: task.name for task in self._graph.get_state(self._before).tasks}
        written = self._writes()
        for task_id, node in tasks.items():
            update = self._updates(task_id, written)
            messages = {message.id: message for value in update.values() for message in messages_in(value)}
            packed = {channel: self._saver.pack(value) for channel, value in update.items()}
            self._units += [(task_id, node, message) for message in messages.values()] or [(task_id, node, packed)]
        self._next = ",".join(after.next) or "end"

    def _config(self) -> dict:
        return {"configurable": {"thread_id": self._thread, "checkpoint_ns": ROOT}}

    def _writes(self) -> list[Write]:
        """The pending writes, in the order in which the framework applies them."""
        at = self._before["configurable"]
        stored = self._saver._ordered_writes(at["thread_id"], ROOT, at["checkpoint_id"])
        return [Write(task_id, path, channel, self._saver.serde.loads_typed(value)) for task_id, channel, value, path in stored]

    def _updates(self, task_id: str, writes: list[Write]) -> dict[str, Any]:
        """What a task wrote to the graph's state, apart from where it leads."""
        mine = [write for write in writes if write.task_id == task_id and write.channel in self._graph.channels]
        return {write.channel: write.value for write in mine if not write.channel.startswith((BRANCH, "join:", "__"))}

    def pending(self) -> Message | None:
        return None if self._ended else self._message(self._place)

    def _message(self, place: int) -> Message:
        task_id, node, unit = self._units[place]
        last = self._next == "end" and place + 1 == len(self._units)
        if isinstance(unit, dict):
            values = {channel: packed["value"] for channel, packed in unit.items()}
            return Message(task_id, "user" if node == START else node, self._next, canonical(plain(values)), "task" if node == START else "control")
        kind, tool = "answer" if last and isinstance(unit, AIMessage) else "message", None
        if node == START:
            kind = "task" if isinstance(unit, HumanMessage) else "message"
        elif isinstance(unit, ToolMessage):
            kind, tool = "tool_result", {"name": unit.name, "call_id": unit.tool_call_id, "failed": unit.status == "error"}
        elif isinstance(unit, AIMessage) and unit.tool_calls:
            call = unit.tool_calls[0]
            kind, tool = "tool_call", {"name": call["name"], "call_id": call["id"], "arguments": call["args"]}
        elif isinstance(unit, RemoveMessage):
            kind = "control"
        return Message(unit.id, "user" if node == START else unit.name if isinstance(unit, AIMessage) and unit.name else node, self._next, unit.content, kind, tool)

    def queue(self) -> list[Message]:
        return [] if self._ended else [self._message(place) for place in range(self._place, len(self._units))]

    def result(self) -> dict:
        values = self._graph.get_state(self._config()).values
        messages = values.get("messages") if isinstance(values, dict) else None
        return {"final": messages[-1].content if messages else canonical(plain(values)), "reason": "the graph ended"}

    # ---- its state

    async def save(self) -> dict[str, Saved]:
        saved = self._saver.get_tuple(self._before)
        checkpoint = dict(saved.checkpoint)
        values = {channel: self._saver.pack(value) for channel, value in checkpoint.pop("channel_values").items()}
        writes = [[*write[:3], self._saver.pack(write.value)] for write in self._writes()]
        metadata = {name: saved.metadata[name] for name in ("source", "step", "parents") if name in saved.metadata}
        state = {
            "orchestrator/thread": Saved(values, revision=checkpoint["id"]),
            "orchestrator/ledger": Saved({"checkpoint": checkpoint, "metadata": metadata, "place": self._place}),
            "orchestrator/writes": Saved(writes, "partial" if self._watch.stale else "full"),
        }
        if self._graph.store is not None:
            state["orchestrator/store"] = Saved(None, "opaque")
        return state

    async def load(self, state: dict[str, Any], pending: Message) -> list[str]:
        ledger = state["orchestrator/ledger"]
        checkpoint = dict(ledger["checkpoint"])
        checkpoint["channel_values"] = {channel: self._saver.unpack(packed) for channel, packed in state["orchestrator/thread"].items()}
        await self._rebuild(checkpoint, ledger["metadata"], [Write(*write[:3], self._saver.unpack(write[3])) for write in state["orchestrator/writes"]])
        self._place = ledger["place"]
        if self._units and self._message(self._place).message_id != pending.message_id:
            raise ValueError("the saved writes do not hold the pending message")
        return ["the graph's store is not in the checkpoint; it begins empty"] if self._graph.store is not None else []

    async def _rebuild(self, checkpoint: dict, metadata: dict, writes: list[Write]) -> None:
        """Puts the checkpoint and its pending writes into a thread of their own and lets the framework make the state after; no node runs.

        A fresh thread each time: resumed from a checkpoint that has a successor, the framework would run the nodes again.
        """
        self._thread = uuid.uuid4().hex
        self._before = self._saver.put(self._config(), checkpoint, metadata, checkpoint["channel_versions"])
        for task_id, path in dict.fromkeys(write[:2] for write in writes):
            self._saver.put_writes(self._before, [write[2:] for write in writes if write.task_id == task_id], task_id, path)
        await self._graph.ainvoke(None, self._config(), interrupt_before="*", durability="sync")
        self._look(self._graph.get_state(self._config()))

    async def export(self, commit: bool) -> Any:
        # A superstep is committed as a whole: with the pending message all that was written beside it.
        saved = self._saver.get_tuple(self._config() if commit or self._ended else self._before)
        metadata = {name: saved.metadata[name] for name in ("source", "step", "parents") if name in saved.metadata}
        packed = {channel: self._saver.pack(value) for channel, value in saved.checkpoint["channel_values"].items()}
        if bound := [channel for channel, value in packed.items() if value["type"] not in READABLE]:
            raise RpcError(UNSUPPORTED, f"export: {', '.join(bound)} holds what JSON cannot: values of a class. Keep messages, text, numbers, lists and objects in the state")
        # The framework's savers write versions as text, and cannot order them beside the numbers that are counted here.
        return {"checkpoint": {**_versions(saved.checkpoint, lambda number: f"{number:032}.{0:016}"), "channel_values": packed}, "metadata": metadata}

    def _loaded(self, state: Any) -> dict:
        """The checkpoint in what `export` gave. Nothing in it may name a class to make."""
        try:
            checkpoint, metadata = state["checkpoint"], state["metadata"]
            whole = {"channel_values", "channel_versions", "versions_seen", "id"} <= checkpoint.keys() and isinstance(metadata, dict)
            values = checkpoint["channel_values"] if whole else {}
            if whole and all(value["type"] in READABLE for value in values.values()):
                counted = _versions(checkpoint, lambda version: int(str(version).partition(".")[0]))
                return {**counted, "channel_values": {channel: self._saver.unpack(value) for channel, value in values.items()}}
        except (TypeError, KeyError, AttributeError, ValueError):
            pass
        raise RpcError(INCOMPATIBLE, "this is no saved state of a graph: it has {checkpoint, metadata}, the values of the channels as {type, value}, as dover exports it")

    # ---- edits

    async def replace_pending(self, message_id: str, content: Any) -> int:
        place = next(place for place in range(self._place, len(self._units)) if self._message(place).message_id == message_id)
        if isinstance(self._units[place][2], dict):
            raise self.unsupported("a rewrite of an update that holds no message")
        kept, copies, writes = self._place, 0, []
        for write in self._writes():
            values = write.value if isinstance(write.value, list) else [write.value]
            edited = [item.model_copy(update={"content": content}) if isinstance(item, BaseMessage) and item.id == message_id else item for item in values]
            copies += sum(one is not other for one, other in zip(values, edited))
            writes.append(write._replace(value=edited if isinstance(write.value, list) else edited[0]))
        saved = self._saver.get_tuple(self._before)
        await self._rebuild(saved.checkpoint, saved.metadata, self._routed_again(saved, writes))
        self._place = kept
        return copies

    def _routed_again(self, saved: Any, writes: list[Write]) -> list[Write]:
        """The writes, their ways chosen anew where an edge of the node depends on what was written."""
        conditional = getattr(getattr(self._graph, "builder", None), "branches", {})
        tasks = {task.id: task.name for task in self._graph.get_state(self._before).tasks if conditional.get(task.name)}
        if not tasks:
            return writes
        elsewhere = {"configurable": {"thread_id": uuid.uuid4().hex, "checkpoint_ns": ROOT}}
        at = self._saver.put(elsewhere, saved.checkpoint, saved.metadata, saved.checkpoint["channel_versions"])
        at = self._graph.bulk_update_state(at, [[StateUpdate(self._updates(task_id, writes), node, task_id) for task_id, node in tasks.items()]])
        after = self._saver.get_tuple(at).checkpoint["channel_values"]
        task_id, path = next(write[:2] for write in writes if write.task_id in tasks)
        kept = [write for write in writes if write.task_id not in tasks or not write.channel.startswith((BRANCH, SENDS))]
        ways = [(channel, value) for channel, value in after.items() if channel.startswith(BRANCH)] + [(SENDS, send) for send in after.get(SENDS, [])]
        return kept + [Write(task_id, path, *way) for way in ways]


class Watch(BaseCallbackHandler):
    """Tells model calls, and whether a node changed its input in place."""

    run_inline = True

    def __init__(self, backend: LangGraph) -> None:
        self._backend, self.stale = backend, False
        self._inputs: dict[Any, tuple[str, Any, str]] = {}

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, metadata: dict | None = None, name: str | None = None, **_: Any) -> None:
        if name and name == (metadata or {}).get("langgraph_node"):
            self._inputs[run_id] = (name, inputs, sha256(inputs))

    def on_chain_end(self, outputs: Any, *, run_id: Any, **_: Any) -> None:
        node, inputs, before = self._inputs.pop(run_id, (None, None, ""))
        if node and sha256(inputs) != before:
            self.stale = True
            text = f"node {node} changed its input in place; such a change is in no checkpoint. Return the change from the node instead"
            self._backend.host.event("state.changed", agent=node, key="orchestrator/writes", message=text)

    def on_chat_model_start(self, serialized: Any, messages: Any, *, metadata: dict | None = None, **_: Any) -> None:
        self._backend.host.event("llm.request", agent=(metadata or {}).get("langgraph_node"), messages=messages_to_dict(messages[0]) if messages else [])

    def on_llm_end(self, response: Any, **_: Any) -> None:
        message = getattr(response.generations[0][0], "message", None) if response.generations and response.generations[0] else None
        usage = getattr(message, "usage_metadata", None) or {}
        counted = {"prompt_tokens": usage.get("input_tokens", 0), "completion_tokens": usage.get("output_tokens", 0)}
        self._backend.host.event("llm.response", content=getattr(message, "content", None), usage=counted)


def gate_tools(backend: LangGraph) -> None:
    """Passes every tool call of this process through the gate, however a node makes it."""
    effects, run, arun = backend.host.effects, BaseTool.run, BaseTool.arun

    def call_of(tool: BaseTool, given: Any) -> Call:
        try:
            agent = get_config()["metadata"]["langgraph_node"]
        except (KeyError, RuntimeError):
            agent = "graph"
        named = {name: value for name, value in given.items() if name in tool.args} if isinstance(given, dict) else given  # what is injected is no argument
        return Call(agent, tool.name, named, effect_of(tool), agent in backend.again)

    def shaped(tool: BaseTool, made: list, content: Any, more: dict) -> Any:
        if made:
            return made[0]
        ident = more.get("tool_call_id")
        return content if ident is None else ToolMessage(content if isinstance(content, str) else canonical(plain(content)), tool_call_id=ident, name=tool.name)

    def told(made: Any) -> Any:
        return made.content if isinstance(made, ToolMessage) else made

    def gated(tool: BaseTool, tool_input: Any, *rest: Any, **more: Any) -> Any:
        made: list = []

        def go() -> Any:
            made.append(run(tool, tool_input, *rest, **more))
            return told(made[0])

        return shaped(tool, made, effects.call_blocking(call_of(tool, tool_input), go), more)

    async def agated(tool: BaseTool, tool_input: Any, *rest: Any, **more: Any) -> Any:
        made: list = []

        async def go() -> Any:
            made.append(await arun(tool, tool_input, *rest, **more))
            return told(made[0])

        return shaped(tool, made, await effects.call(call_of(tool, tool_input), go), more)

    BaseTool.run, BaseTool.arun = gated, agated


def pin(thing: Any, depth: int = 4) -> Any:
    """What makes a node what it is: its code, and the prompts, models and functions that the code closes over."""
    if isinstance(thing, BaseLanguageModel):
        return {"model": type(thing).__name__, "parameters": plain(dict(thing._identifying_params))}
    if depth == 0 or thing is None or isinstance(thing, (str, int, float, bool, list, tuple, dict, BaseTool)):
        return {"tool": thing.name, "schema": thing.args} if isinstance(thing, BaseTool) else plain(thing) if _is_json(thing) else f"<{type(thing).__name__}>"
    function = getattr(thing, "func", None) or getattr(thing, "afunc", None) or thing
    if callable(function) and hasattr(function, "__code__"):
        free = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        names = {name: globals_of(function).get(name) for name in function.__code__.co_names if name in globals_of(function)}
        held = {name: cell.cell_contents for name, cell in free.items()} | {n: v for n, v in names.items() if isinstance(v, (str, int, BaseLanguageModel))}
        return {"code": code_of(function), "over": {name: pin(value, depth - 1) for name, value in sorted(held.items())}}
    parts = {name: getattr(thing, name) for name in ("bound", "kwargs", "first", "middle", "last", "steps") if getattr(thing, name, None) is not None}
    return {"class": type(thing).__name__, **{name: pin(part, depth - 1) for name, part in parts.items()}}


def globals_of(function: Any) -> dict:
    """The module that a function stands in."""
    return getattr(function, "__globals__", {})


def _text(value: Any) -> str:
    return value if isinstance(value, str) else canonical(plain(value))


BACKEND = LangGraph
