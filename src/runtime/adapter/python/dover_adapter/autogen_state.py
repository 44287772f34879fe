"""What a checkpoint of an AutoGen AgentChat team holds, part by part, and how it is put back.

`team.save_state()` is the smaller half: it knows nothing of the pending messages, of who is asked to speak (without it most restores of a
RoundRobin fail), of termination conditions, nor of what an agent keeps beside its model context. Each part says how far it can be
trusted: full, partial (something of it is in no saved state), opaque (nothing is).

Written against autogen-agentchat 0.7.5, whose private parts it uses. Not here: delivering messages (autogen_queue), edits (autogen_edit).
"""

import inspect
import time

from autogen_agentchat.agents import BaseChatAgent, MessageFilterAgent, SocietyOfMindAgent, UserProxyAgent
from autogen_agentchat.conditions import FunctionalTermination, TimeoutTermination
from autogen_agentchat.messages import StopMessage
from autogen_agentchat.teams import BaseGroupChat, MagenticOneGroupChat, RoundRobinGroupChat, SelectorGroupChat, Swarm
from autogen_core import AgentId
from autogen_core.memory import ListMemory, MemoryContent
from autogen_core.model_context._chat_completion_context import ChatCompletionContextState
from pydantic_core import PydanticSerializationError, to_jsonable_python

from .backend import Saved

FULL, PARTIAL, OPAQUE = "full", "partial", "opaque"
# Managers whose every moving part is known; the state of others (GraphFlow among them) is saved as far as they say.
KNOWN_TEAMS = (MagenticOneGroupChat, RoundRobinGroupChat, SelectorGroupChat, Swarm)
OWN_PACKAGES = {"autogen_agentchat", "autogen_core", "autogen_ext"}
# They remember nothing between two turns.
STATELESS = (UserProxyAgent, MessageFilterAgent)


def inside(part, path=""):
    """An agent or team and all that are inside it, each with its path: participants, wrapped agents, runners of tools."""
    yield path, part
    inner = [(agent.name, agent) for agent in part._participants] if isinstance(part, BaseGroupChat) else []
    for wrapped in (getattr(part, "_team", None), getattr(part, "_wrapped_agent", None)):
        if isinstance(wrapped, (BaseGroupChat, BaseChatAgent)):
            inner.append((wrapped.name, wrapped))
    for tool in tools_of(part):
        if hasattr(tool, "_task_runner"):
            inner.append((tool.name, tool._task_runner))
    for name, agent in inner:
        yield from inside(agent, f"{path}/{name}" if path else name)


def workbenches(agent):
    """The workbenches of an agent: what it calls tools through."""
    found = getattr(agent, "_workbench", None) or []
    return list(found) if isinstance(found, (list, tuple)) else [found]


def tools_of(agent):
    """The tools that an agent has as objects of this process."""
    return [tool for bench in workbenches(agent) for tool in getattr(bench, "_tools", [])]


def fidelity(agent):
    """How much of an agent's state can be saved."""
    return max((_own_fidelity(part) for _, part in inside(agent)), key=(FULL, PARTIAL, OPAQUE).index)


def _own_fidelity(part):
    if isinstance(part, BaseGroupChat):
        return FULL if type(part) in KNOWN_TEAMS else PARTIAL
    if type(part) in STATELESS:
        return FULL
    if type(part).save_state is BaseChatAgent.save_state:
        return PARTIAL if _has_history(part) else OPAQUE
    whole = all(isinstance(memory, ListMemory) for memory in getattr(part, "_memory", None) or [])
    # The inner team of a tool runs without boundaries and may hold what its own saved state leaves out.
    runs_inside = any(hasattr(tool, "_task_runner") for tool in tools_of(part))
    return FULL if whole and not runs_inside and not _has_more_than_its_base(part) else PARTIAL


def _has_history(agent):
    return getattr(agent, "_model_context", None) is not None or hasattr(agent, "_chat_history")


def _has_more_than_its_base(agent):
    """Whether a class of the user's adds attributes, while the saved state is that of the framework's class."""
    saver = next(cls for cls in type(agent).__mro__ if "save_state" in vars(cls))
    if saver is type(agent) or _of_framework(agent):
        return False
    known = set()
    for cls in saver.__mro__:
        for function in vars(cls).values():
            known.update(function.__code__.co_names if inspect.isfunction(function) else ())
    return not vars(agent).keys() <= known


def _of_framework(thing):
    return type(thing).__module__.partition(".")[0] in OWN_PACKAGES


def plain(value):
    """A value as JSON, and whether all of it could be written."""
    try:
        return to_jsonable_python(value), True
    except PydanticSerializationError:
        return to_jsonable_python(value, fallback=str), False


def conditions(team):
    """Every termination condition of a team and of the teams inside it, with a path that names it."""

    def walk(condition, path):
        if condition is not None:
            yield path, condition
            for index, inner in enumerate(getattr(condition, "_conditions", ())):
                yield from walk(inner, f"{path}.{index}")

    for path, part in inside(team):
        if isinstance(part, BaseGroupChat):
            yield from walk(part._termination_condition, f"{path}/0" if path else "0")


def settings(condition):
    """What a condition is made with, as against what moves."""
    moving = {"_conditions", *_moving(condition)}
    fixed = {name: plain(held)[0] for name, held in vars(condition).items() if name not in moving and not callable(held)}
    return {"class": type(condition).__name__, **fixed}


class TeamParts:
    """Saves the parts of one team and puts them back."""

    def __init__(self, queue):
        self.queue = queue
        self.team = queue.team
        self.outputs = 0  # messages of the conversation so far
        self.last = None  # the last of them
        self._elapsed = {}  # of conditions that watch the clock: it stands while the team does

    async def save(self):
        """All parts by their keys."""
        parts = {}
        for agent in self.team._participants:
            level = fidelity(agent)
            container = await self.queue.container(agent.name)
            parts[f"agents/{agent.name}/inbox"] = Saved([message.dump() for message in container._message_buffer])
            parts[f"agents/{agent.name}/memory"] = Saved(None, OPAQUE) if level == OPAQUE else await self._save_memory(agent, level)
            parts[f"tools/{agent.name}"] = Saved(await tool_schemas(agent))
        manager = await self.queue.manager()
        ledger, whole = plain({**await manager.save_state(), **self._beside_manager(manager)})
        thread = ledger.pop("message_thread", [])
        known = type(self.team) in KNOWN_TEAMS and whole
        parts["orchestrator/ledger"] = Saved(ledger, FULL if known else PARTIAL)
        parts["orchestrator/thread"] = Saved(thread)
        for path, condition in conditions(self.team):
            parts[f"termination/{path}"] = self._save_condition(path, condition)
        parts["pending"] = Saved(self.queue.entries())
        ended = self.queue.ended.model_dump(mode="json") if self.queue.ended else None
        parts["progress"] = Saved({"messages": self.outputs, "last": self.last, "ended": ended})
        return parts

    async def put(self, value):
        """Puts the values of parts back. Returns a warning for each agent whose part could not be."""
        warnings = []
        for agent in self.team._participants:
            try:
                await self._put_memory(agent, value[f"agents/{agent.name}/inbox"], value.get(f"agents/{agent.name}/memory"))
            except KeyError:
                raise
            except Exception as error:  # an agent's own load_state: the others can still be put back
                warnings.append(f"agents/{agent.name}/memory could not be put back: {type(error).__name__}: {error}")
        manager = await self.queue.manager()
        await manager.load_state({**value["orchestrator/ledger"], "message_thread": value["orchestrator/thread"]})
        await self._put_beside_manager(manager, value["orchestrator/ledger"])
        for path, condition in conditions(self.team):
            self._put_condition(path, condition, value.get(f"termination/{path}", {}))
        self.queue.refill(value["pending"])
        progress = value["progress"]
        self.outputs, self.last = progress["messages"], progress["last"]
        self.queue.ended = _termination(progress["ended"])
        return warnings

    # Agents.

    async def _save_memory(self, agent, level):
        beside = {}
        for path, part in inside(agent, agent.name):
            found = await self._save_beside(part)
            if found:
                beside[path] = found
        value, whole = plain({"saved": await agent.save_state(), "beside": beside})
        return Saved(value, level if whole else PARTIAL)

    async def _put_memory(self, agent, inbox, memory):
        saved = memory["saved"] if memory else await agent.save_state()
        container = await self.queue.container(agent.name)
        await container.load_state({"agent_state": saved, "message_buffer": inbox})
        for path, part in inside(agent, agent.name):
            await self._put_beside(part, memory["beside"].get(path, {}) if memory else {})

    async def _save_beside(self, part):
        """What the saved state of an agent leaves out."""
        found = {}
        if isinstance(part, BaseGroupChat):
            manager = await self._inner_manager(part)
            found["manager"] = self._beside_manager(manager)
            return found
        if type(part).save_state is BaseChatAgent.save_state or isinstance(part, SocietyOfMindAgent):
            if getattr(part, "_model_context", None) is not None:
                found["model_context"] = await part._model_context.save_state()
            if hasattr(part, "_chat_history"):
                found["chat_history"] = ChatCompletionContextState(messages=part._chat_history).model_dump(mode="json")
        if isinstance(part, MessageFilterAgent):
            found["wrapped"] = await part._wrapped_agent.save_state()
        memories = getattr(part, "_memory", None) or []
        if memories:
            found["memory"] = [memory._contents if isinstance(memory, ListMemory) else None for memory in memories]
        benches = [await bench.save_state() if hasattr(bench, "_tools") else {} for bench in workbenches(part)]
        if any(state for bench in benches for state in bench.get("tools", {}).values()):
            found["workbench"] = benches
        return found

    async def _put_beside(self, part, found):
        if "manager" in found:
            await self._put_beside_manager(await self._inner_manager(part), found["manager"])
        if "model_context" in found:
            await part._model_context.load_state(found["model_context"])
        if "wrapped" in found:
            await part._wrapped_agent.load_state(found["wrapped"])
        if "chat_history" in found:
            part._chat_history = ChatCompletionContextState.model_validate(found["chat_history"]).messages
        for memory, contents in zip(getattr(part, "_memory", None) or [], found.get("memory", [])):
            if contents is not None:
                memory._contents = [MemoryContent.model_validate(content) for content in contents]
        for bench, state in zip(workbenches(part), found.get("workbench", [])):
            if state:
                await bench.load_state(state)

    # Managers.

    async def _inner_manager(self, team):
        if not team._initialized:
            await team._init(team._runtime)
        manager = AgentId(type=team._group_chat_manager_topic_type, key=team._team_id)
        return await team._runtime.try_get_underlying_agent_instance(manager)

    def _beside_manager(self, manager):
        beside = {"active_speakers": list(manager._active_speakers)}
        context = getattr(manager, "_model_context", None)
        if context is not None:
            beside["context"] = ChatCompletionContextState(messages=context._messages).model_dump(mode="json")
        return beside

    async def _put_beside_manager(self, manager, beside):
        manager._active_speakers = list(beside.get("active_speakers", []))
        if "context" in beside:
            # Selector's own load_state only adds to what is there.
            await manager._model_context.load_state(beside["context"])

    # Termination conditions.

    def _save_condition(self, path, condition):
        value, level = {"class": type(condition).__name__}, FULL
        for name in _moving(condition):
            held = vars(condition)[name]
            if isinstance(condition, TimeoutTermination) and name == "_start_time":
                # The clock of a process means nothing to another; parts of a second never come out the same twice.
                held = int(self._elapsed.get(path, time.monotonic() - held))
            value[name], whole = plain(held)
            same = whole and (isinstance(held, (str, int, float, bool, list, dict, type(None))))
            level = level if same else PARTIAL
        function = getattr(condition, "_func", None) if isinstance(condition, FunctionalTermination) else None
        if function is not None and (getattr(function, "__closure__", None) or not inspect.isfunction(function)):
            level = PARTIAL
        return Saved(value, level)

    def _put_condition(self, path, condition, value):
        for name in _moving(condition):
            if name not in value:
                continue
            held = value[name]
            if isinstance(condition, TimeoutTermination) and name == "_start_time":
                self._elapsed[path] = held
                held = time.monotonic() - held
            elif name == "_stop_messages":
                held = [StopMessage.model_validate(message) for message in held]
            setattr(condition, name, held)

    def stop_clocks(self):
        """At a boundary: time spent there does not count."""
        for path, condition in conditions(self.team):
            if isinstance(condition, TimeoutTermination) and path not in self._elapsed:
                self._elapsed[path] = time.monotonic() - condition._start_time

    def start_clocks(self):
        """Leaving a boundary."""
        for path, condition in conditions(self.team):
            if path in self._elapsed:
                condition._start_time = time.monotonic() - self._elapsed.pop(path)

    # AutoGen's own saved state.

    async def load_team_state(self, state):
        """Loads what `team.save_state()` of another process gave, after a look whether it is of this team."""
        states = state.get("agent_states") if isinstance(state, dict) else None
        if not isinstance(states, dict):
            raise ValueError("this is no saved state of an AutoGen team: there is no `agent_states` in it")
        own = [*self.team._participant_names, self.team._group_chat_manager_name]
        missing, foreign = [name for name in own if name not in states], [name for name in states if name not in own]
        if any(name.partition("/")[0] in own for name in foreign):
            raise ValueError("the saved state is of AutoGen 0.4.0, which adds an id of its own to every name. Save it anew with 0.4.9 or later")
        if missing or foreign:
            raise ValueError(
                f"the saved state is of another team: it has no state for {_list(missing)} and has {_list(foreign)}, "
                f"which this team lacks. This team has {_list(own)}"
            )
        kind = (await (await self.queue.manager()).save_state()).get("type")
        told = states[self.team._group_chat_manager_name].get("type")
        if kind != told:
            raise ValueError(f"the saved state is of another kind of team: its manager's is {told}, this team's is {kind}")
        try:
            await self.team.load_state(state)
        except Exception as error:  # an agent's own load_state may raise anything
            raise ValueError(f"AutoGen cannot load the saved state: {type(error).__name__}: {' '.join(str(error).split())[:300]}") from error


async def tool_schemas(agent):
    """The tools of an agent as the model is told of them."""
    schemas = []
    for bench in workbenches(agent):
        schemas += await bench.list_tools()
    return plain(schemas)[0]


def _moving(condition):
    """The attributes of a condition that change: in the framework's classes, what `reset` sets back."""
    names = [name for name in vars(condition) if name not in ("_conditions", "_func")]
    if _of_framework(condition):
        names = [name for name in names if name in type(condition).reset.__code__.co_names]
    return names


def _termination(ended):
    from autogen_agentchat.teams._group_chat._events import GroupChatTermination

    return GroupChatTermination.model_validate(ended) if ended else None


def _list(names):
    return ", ".join(names) or "none"
