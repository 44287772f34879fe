"""AutoGen AgentChat 0.7.5: Magentic-One, Selector, RoundRobin, Swarm, and whatever else is a group chat.

A boundary is a chat message at the head of the queue: the task, or what an agent or the orchestrator said. That an agent is asked to speak
is no message of the conversation; it is shown in the queue and goes on by itself. What agents do before they speak is told as output.

The files beside this one: autogen_queue delivers messages one by one, autogen_state saves and restores, autogen_edit changes what is
pending, autogen_watch looks into models, tools and questions, autogen_pin says what a team is made of.
Limits: facts, plan and first ledger of Magentic-One are made inside one handler, so there is no boundary between them; a team used as a
participant or as a tool runs inside one handler too.
"""

import contextlib
import json

from autogen_agentchat.conditions import ExternalTermination
from autogen_agentchat.messages import BaseAgentEvent, HandoffMessage, ModelClientStreamingChunkEvent, TextMessage
from autogen_agentchat.teams import BaseGroupChat, MagenticOneGroupChat
from autogen_core import SingleThreadedAgentRuntime

from . import autogen_edit as edits
from . import autogen_pin as pin
from .autogen_queue import AGENT, GROUP, MANAGER, TeamQueue, chat_messages, is_boundary
from .autogen_state import TeamParts, inside
from .autogen_watch import outputs, text_of, watch
from .core import EDIT_CONFLICT, FRAMEWORK, INCOMPATIBLE, INVALID_PARAMS, OPAQUE, UNSUPPORTED, Backend, Description, Message, RpcError

WRITTEN_FOR = "0.7.5"


class AutoGen(Backend):
    """One run of one team."""

    name = "autogen"
    packages = ("autogen-agentchat", "autogen-core", "autogen-ext")
    usual_names = ("build", "team", "build_team", "create_team", "make_team")
    capabilities = {
        "insert": True, "drop": True, "send": True, "human_input": True, "set_state": True, "regenerate": True, "start_state": True, "export": True,
    }  # fmt: skip

    def __init__(self, target, host):
        super().__init__(target, host)
        team = pin.load_component(target) if isinstance(target, dict) else target
        if not isinstance(team, BaseGroupChat):
            raise ValueError(f"it makes a {type(team).__name__}. A team of AgentChat is wanted, such as RoundRobinGroupChat([agent], max_turns=1)")
        if not isinstance(team._runtime, SingleThreadedAgentRuntime):
            raise ValueError(f"the team runs on a {type(team._runtime).__name__}; only SingleThreadedAgentRuntime can be stopped at a message")
        if team._runtime._run_context is not None:
            raise ValueError("the team's runtime is running already. Leave out runtime.start(): dover delivers the messages")
        versions = set(self.framework().values())
        if versions != {WRITTEN_FOR}:
            host.log(f"this adapter is written for AutoGen {WRITTEN_FOR} and uses its private parts; here is {', '.join(sorted(versions))}")
        self.team = team
        self.queue_ = TeamQueue(team, self._heard)
        self.parts = TeamParts(self.queue_)
        self._pinned = None
        self._is_plan = lambda entry: False
        self._known = set()  # ids of messages that are or were at a boundary, or the task
        self._untold = []  # said since the last boundary
        self._here = self._before = None  # the state saved at this boundary, and at the one before

    async def describe(self):
        await self._open()
        agents, tools = pin.agents(self.team), await pin.tools(self.team)
        return Description(pin.topology(self.team), agents, self._pinned, tools)

    async def _open(self):
        if self._pinned is None:
            self._pinned = await pin.pinned(self.team)
            await self.queue_.open()
            watch(self.team, self.host)
            if isinstance(self.team, MagenticOneGroupChat):
                manager = await self.queue_.manager()
                self._is_plan = lambda entry: edits.is_plan(manager, entry)

    # Moving.

    async def start(self, task):
        await self._open()
        self.queue_.start([TextMessage(content=task, source="user")])
        await self._to_boundary()

    async def start_from(self, task, state):
        await self._open()
        try:
            await self.parts.load_team_state(state)
        except ValueError as error:
            raise RpcError(INCOMPATIBLE, str(error)) from None
        if task is not None:
            self.queue_.start([TextMessage(content=task, source="user")])
        elif isinstance(self.team, MagenticOneGroupChat):
            await edits.go_on(self.queue_)
        else:
            self.queue_.start(None)
        await self._to_boundary()

    async def advance(self):
        self._before, self._here = self._here, None
        if self.queue_.entries():
            self.parts.start_clocks()
            await self.queue_.deliver()
        await self._to_boundary()

    async def _to_boundary(self):
        while True:
            await self.queue_.settle()
            entries = self.queue_.entries()
            if not entries or is_boundary(entries[0]):
                break
            await self.queue_.deliver()
        self._stand(entries)

    def _stand(self, entries):
        """Tells what was said on the way here and is not itself pending."""
        self.parts.stop_clocks()
        for entry in entries:
            self._known.update([edits.address(entry)])
            if entry["body"]["type"] == "GroupChatStart" and not entry["inserted"]:
                self._known.update(message["id"] for message in chat_messages(entry))
        untold, self._untold = self._untold, []
        for message in untold:
            if message.id not in self._known:
                self._tell(message)

    def _heard(self, message):
        if isinstance(message, ModelClientStreamingChunkEvent):
            self.host.event("output.delta", agent=message.source, text=message.content, message_id=message.full_message_id)
            return
        if not isinstance(message, BaseAgentEvent):
            if message.id in self._known:
                return
            self.parts.outputs += 1
            self.parts.last = {"id": message.id, "source": message.source, "content": text_of(message)}
        if self._untold or not isinstance(message, BaseAgentEvent):
            self._untold.append(message)  # it may turn out to be the next pending message
        else:
            self._tell(message)

    def _tell(self, message):
        for told in outputs(message):
            self.host.output(told)

    # What is pending.

    def queue(self):
        entries = self.queue_.entries()
        return [self._message(entries, index) for index in range(len(entries))]

    def pending(self):
        entries = self.queue_.entries()
        return self._message(entries, 0) if entries else None

    def _message(self, entries, index):
        entry = entries[index]
        body, messages = entry["body"], chat_messages(entry)
        sender, to = self._name(entry["sender"]) or "user", self._name(entry["to"])
        if not messages:
            own = {"GroupChatRequestPublish": f"asks {to} to speak", "GroupChatStart": "goes on from the saved state"}
            content = own.get(body["type"], body["type"])
            return Message(entry["id"], sender, to, content, "control")
        last = messages[-1]
        sender = body.get("name") or last["source"]
        kind = "message"
        if body["type"] == "GroupChatStart" and not entry["inserted"]:
            kind = "task"
        elif sender == self.team._group_chat_manager_name:
            asked = [it for it in entries[index + 1 :] if it["body"]["type"] == "GroupChatRequestPublish"]
            kind = "plan" if self._is_plan(entry) else "instruction" if asked else "answer"
            to = self._name(asked[0]["to"]) if kind == "instruction" else to
        elif last.get("type") == HandoffMessage.__name__:
            to = last["target"]
        return Message(last["id"], sender, to, _readable(last["content"]), kind)

    def _name(self, role):
        if role is None:
            return ""
        return self.team._group_chat_manager_name if role == MANAGER else role.removeprefix(AGENT)

    def _role(self, name):
        if name == self.team._group_chat_manager_name:
            return MANAGER
        return GROUP if name == GROUP else AGENT + name

    def result(self):
        ended, failure = self.queue_.ended, self.queue_.failure
        final = self.parts.last["content"] if self.parts.last else None
        if ended is not None and ended.error is None:
            return {"final": final, "reason": ended.message.content}
        if ended is not None:
            error = ended.error
            trace = (error.traceback or "")[-4000:]
            return {"final": None, "failed": f"{error.error_type}: {error.error_message}", "reason": "an agent raised", "traceback": trace}
        if failure is not None:
            return {"final": None, "failed": f"{type(failure).__name__}: {failure}", "reason": "a handler raised"}
        return {"final": None, "failed": "nothing is pending and the team has not ended: whoever was asked to speak was not heard", "reason": "stuck"}

    # State.

    async def save(self):
        saved = await self.parts.save()
        self._here = {key: part.value for key, part in saved.items() if part.value is not None}
        return saved

    async def load(self, state, pending):
        await self._open()
        warnings = await self.parts.put(state)
        self._stand(self.queue_.entries())
        return warnings

    async def export(self, commit):
        if commit:
            await self._stop_behind_pending()
        return await self.team.save_state()

    async def _stop_behind_pending(self):
        """Delivers the pending message and ends the team there, as `ExternalTermination` does: before anybody is chosen to speak next."""
        manager, first = await self.queue_.manager(), True
        if isinstance(self.team, MagenticOneGroupChat) and self.queue_.entries()[0]["body"]["type"] == "GroupChatStart":
            why = "Magentic-One plans as soon as it has the task, so there is no state with the task alone"
            raise RpcError(UNSUPPORTED, f"export: {why}. Take a later step, or start with the task")
        own, stop = manager._termination_condition, ExternalTermination()
        stop.set()
        manager._termination_condition = stop
        try:
            while entries := self.queue_.entries():
                if entries[0]["body"]["type"] == "GroupChatRequestPublish" or not first and is_boundary(entries[0]):
                    break
                first = False
                await self.queue_.deliver()
                await self.queue_.settle()
        finally:
            manager._termination_condition = own

    # Edits.

    async def _values(self):
        return {key: part.value for key, part in (await self.parts.save()).items() if part.value is not None}

    async def _edited(self, values):
        self._here = None
        for warning in await self.parts.put(values):
            raise RpcError(FRAMEWORK, f"the edit went in, but {warning}. Fork from a checkpoint instead")
        self._stand(self.queue_.entries())

    async def replace_pending(self, message_id, content):
        values = await self._values()
        index = edits.find(values["pending"], message_id)
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        if self._is_plan(values["pending"][index]):
            await self._replan(edits.read_plan(await self.queue_.manager(), text), text)
            return 2  # the thread's and the queue's
        try:
            copies = edits.replace(values, index, text)
        except edits.Conflict as error:
            raise RpcError(EDIT_CONFLICT, f"edit: {error}") from None
        except ValueError as error:
            raise RpcError(INVALID_PARAMS, f"edit: the message is structured, and the new content is no JSON: {error}") from None
        await self._edited(values)
        return copies

    async def drop(self, message_id):
        values = await self._values()
        copies = edits.drop(values, edits.find(values["pending"], message_id))
        await self._edited(values)
        return copies

    async def insert(self, content, sender, to, at):
        if to not in self.recipients():
            raise RpcError(INVALID_PARAMS, f"edit: there is no recipient {to!r}. There are: {', '.join(self.recipients())}", known=self.recipients())
        values = await self._values()
        at = max(0, min(at, len(values["pending"])))
        edits.insert(values, at, _as_text(content), self._role(to), sender, self.team._participant_names)
        await self._edited(values)
        return 1

    def recipients(self):
        return [*self.team._participant_names, self.team._group_chat_manager_name, GROUP]

    async def send(self, to, content):
        values = await self._values()
        # Before the next agent is asked to speak, so that it is heard in this turn.
        controls = [index for index, entry in enumerate(values["pending"]) if not is_boundary(entry)]
        at = controls[0] if controls else len(values["pending"])
        message_id = edits.insert(values, at, _as_text(content), self._role(to), "user", self.team._participant_names)
        await self._edited(values)
        return message_id

    async def set_state(self, key, value):
        values = await self._values()
        if key not in values:
            known = ", ".join(sorted(values))
            opaque = key in await self.parts.save()
            why = "keeps its state to itself" if opaque else f"is no state key. There are: {known}"
            raise RpcError(OPAQUE if opaque else INVALID_PARAMS, f"edit: {key} {why}")
        if key == edits.LEDGER:
            if not isinstance(value, dict):
                raise RpcError(INVALID_PARAMS, f"edit: {key} is an object; give the names that change")
            changes = {name: value[name] for name in ("task", "facts", "plan") if name in value and value[name] != values[key].get(name)}
            value = {**values[key], **value}
            if changes and isinstance(self.team, MagenticOneGroupChat):
                await self._replan(changes)
                return 1
        values[key] = value
        try:
            await self._edited(values)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RpcError(INVALID_PARAMS, f"edit: {key} cannot have that value: {type(error).__name__}: {error}") from error
        return 1

    async def _replan(self, changes, text=None):
        self._here = None
        await edits.replan(self.queue_, changes, text)
        await self._to_boundary()

    async def regenerate(self):
        if self._before is None:
            raise RpcError(UNSUPPORTED, "edit: regenerate needs the state before the message was made, which this process has not saved. Fork from the step before")
        await self.parts.put(self._before)
        self._here = None
        self.parts.start_clocks()
        await self.queue_.deliver()
        await self._to_boundary()
        return 1

    async def close(self):
        for _, part in inside(self.team):
            if hasattr(part, "close"):
                with contextlib.suppress(Exception):
                    await part.close()


def _readable(content):
    """A chat message's content as JSON for a person: text as text, images left out."""
    if isinstance(content, list):
        return "\n".join(item if isinstance(item, str) else "[image]" for item in content)
    return "" if content is None else content


def _as_text(content):
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


BACKEND = AutoGen
