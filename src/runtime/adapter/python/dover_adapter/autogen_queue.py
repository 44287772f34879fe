"""The message queue of an AutoGen AgentChat team, delivered by hand, one message at a time.

AgentChat's own `run_stream` starts a task that drains the queue as fast as it fills. Here nobody starts the runtime: `settle` waits until
no handler is in flight, `deliver` hands over the first message. In between the team stands still, and what is pending can be saved.

Invariants: a chat message is delivered only by `deliver`, in the order of the queue; while a handler runs, only what it may itself wait
for goes out of turn (its calls to other agents and their answers) and what merely reports (the output topic).
Addresses are written as roles ("group", "manager", "agent:NAME"), because AgentChat's topics carry an id that is new in every process.

Written against autogen-agentchat 0.7.5, whose private parts it uses. Not here: agents' state (autogen_state), the protocol (autogen).
"""

import asyncio
import uuid

from autogen_agentchat.base import Response, TaskResult
from autogen_agentchat.teams._group_chat import _events as events
from autogen_core import AgentId, CancellationToken, TopicId
from autogen_core._single_threaded_agent_runtime import PublishMessageEnvelope, ResponseMessageEnvelope, SendMessageEnvelope

GROUP, MANAGER, OUTPUT, AGENT = "group", "manager", "output", "agent:"


class TeamQueue:
    """The queue of one team."""

    def __init__(self, team, on_output):
        self.team = team
        self.runtime = team._runtime
        self.on_output = on_output  # is given each message that the team's own stream would give
        self.ended = None  # the group chat's own word that it is over (GroupChatTermination)
        self.failure = None  # an exception that a handler raised
        self.inserted = set()  # ids of envelopes that a person put here: the manager learns of them on delivery
        self._starts = set()  # futures of GroupChatStart messages that we sent ourselves
        self._changed = asyncio.Event()

    async def open(self):
        """Registers the team's agents with its runtime, which is never started."""
        team = self.team
        if not team._initialized:
            await team._init(self.runtime)
        self._role = {team._group_topic_type: GROUP, team._output_topic_type: OUTPUT, team._group_chat_manager_topic_type: MANAGER}
        for name, topic in zip(team._participant_names, team._participant_topic_types):
            self._role[topic] = AGENT + name
        self._topic = {role: topic for topic, role in self._role.items()}
        put = self._queue.put

        async def put_and_tell(item):
            await put(item)
            self._changed.set()

        self._queue.put = put_and_tell

    @property
    def _queue(self):
        return self.runtime._message_queue

    @property
    def _items(self):
        return self._queue._queue

    def agent_id(self, role):
        """The runtime's id of an agent of this team."""
        return AgentId(type=self._topic[role], key=self.team._team_id)

    async def manager(self):
        """The group chat manager: for Magentic-One, the orchestrator."""
        return await self.runtime.try_get_underlying_agent_instance(self.agent_id(MANAGER), type=self.team._base_group_chat_manager_class)

    async def container(self, name):
        """What stands between a participant and the runtime: it buffers what the participant has not read yet."""
        return await self.runtime.try_get_underlying_agent_instance(self.agent_id(AGENT + name))

    # Delivering.

    async def settle(self):
        """Waits until no handler is in flight."""
        while True:
            self._drain()
            self._keep_failure()
            aside = self._out_of_turn()
            if aside is not None:
                await self._process(aside)
                continue
            running = {task for task in self.runtime._background_tasks if not task.done()}
            if not running:
                # Whoever waited for a future that has just been set has not run yet.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                if self._out_of_turn() is None and all(task.done() for task in self.runtime._background_tasks):
                    self._drain()
                    self._keep_failure()
                    return
                continue
            self._changed.clear()
            more = asyncio.ensure_future(self._changed.wait())
            await asyncio.wait({*running, more}, return_when=asyncio.FIRST_COMPLETED)
            more.cancel()

    async def deliver(self):
        """Hands over the first message."""
        first = self._items[0]
        if first.message_id in self.inserted:
            self.inserted.discard(first.message_id)
            if self._to(first) in (GROUP, MANAGER):
                await (await self.manager()).update_message_thread(first.message.messages)
        await self._process(0)

    def run_beside(self, work):
        """Runs a coroutine of the manager's as if it were a handler, so that `settle` waits for it."""

        async def guarded():
            try:
                await work
            except Exception as error:  # as the manager's own handlers do
                self.failure = error
                await (await self.manager())._signal_termination_with_error(events.SerializableException.from_exception(error))

        task = asyncio.ensure_future(guarded())
        self.runtime._background_tasks.add(task)
        task.add_done_callback(self.runtime._background_tasks.discard)

    def _out_of_turn(self):
        """The index of the first envelope that may go out of turn."""
        for index, item in enumerate(self._items):
            match item:
                case ResponseMessageEnvelope():
                    return index
                case SendMessageEnvelope() if item.future not in self._starts:
                    return index
                case PublishMessageEnvelope() if self._to(item) in (OUTPUT, None):
                    # None: a team inside this one that shares its runtime, run by a handler in flight.
                    return index
        return None

    async def _process(self, index):
        item = self._items[index]
        del self._items[index]
        self._items.appendleft(item)
        await self.runtime._process_next()

    def _keep_failure(self):
        # The runtime would raise it from its next call and shut the queue; the group chat still has to say that it ended.
        error, self.runtime._background_exception = self.runtime._background_exception, None
        self.failure = self.failure or error

    def _drain(self):
        output = self.team._output_message_queue
        while not output.empty():
            message = output.get_nowait()
            if isinstance(message, events.GroupChatTermination):
                self.ended = message
            else:
                self.on_output(message)

    # What is pending.

    def _to(self, item):
        address = item.topic_id if isinstance(item, PublishMessageEnvelope) else item.recipient
        return self._role.get(address.type) if address is not None else None

    def entries(self):
        """The pending messages in order, each as JSON. An answer to a call is none: it lives and dies with its process."""
        return [self._entry(item) for item in self._items if not isinstance(item, ResponseMessageEnvelope)]

    def _entry(self, item):
        return {
            "id": item.message_id,
            "sent": "publish" if isinstance(item, PublishMessageEnvelope) else "send",
            "sender": self._role.get(item.sender.type) if item.sender else None,
            "to": self._to(item),
            "inserted": item.message_id in self.inserted,
            "body": self._dump(item.message),
        }

    def refill(self, entries):
        """Puts these messages in the place of all that is pending."""
        while not self._queue.empty():
            self._queue.get_nowait()
        self._starts.clear()
        self.inserted.clear()
        for entry in entries:
            if entry["inserted"]:
                self.inserted.add(entry["id"])
            self._put(entry["sent"], self._load(entry["body"]), entry["to"], entry["sender"], entry["id"])

    def start(self, messages, message_id=None):
        """Puts the message that begins a run."""
        self._put("send", events.GroupChatStart(messages=messages), MANAGER, None, message_id or str(uuid.uuid4()))

    def _put(self, sent, message, to, sender, message_id):
        common = {
            "message": message,
            "sender": self.agent_id(sender) if sender else None,
            "cancellation_token": CancellationToken(),
            "message_id": message_id,
        }
        if sent == "publish":
            topic = TopicId(type=self._topic[to], source=self.team._team_id)
            self._queue.put_nowait(PublishMessageEnvelope(topic_id=topic, **common))
        else:
            future = asyncio.get_running_loop().create_future()
            # An exception of a handler reaches us as the run's failure too; nobody awaits this future.
            future.add_done_callback(self._start_ended)
            self._starts.add(future)
            self._queue.put_nowait(SendMessageEnvelope(recipient=self.agent_id(to), future=future, **common))

    def _start_ended(self, future):
        self._starts.discard(future)
        if not future.cancelled() and future.exception() is not None:
            self.failure = self.failure or future.exception()

    def _dump(self, message):
        kind = type(message).__name__
        match message:
            case events.GroupChatAgentResponse():
                inner = [part.dump() for part in message.response.inner_messages or []]
                return {"type": kind, "name": message.name, "message": message.response.chat_message.dump(), "inner": inner}
            case events.GroupChatTeamResponse():
                parts = [part.dump() for part in message.result.messages]
                return {"type": kind, "name": message.name, "messages": parts, "stop_reason": message.result.stop_reason}
            case events.GroupChatStart():
                parts = None if message.messages is None else [part.dump() for part in message.messages]
                return {"type": kind, "messages": parts, "output_task_messages": message.output_task_messages}
            case _:
                return {"type": kind, "fields": message.model_dump(mode="json")}

    def _load(self, body):
        read = self.team._message_factory.create
        match body["type"]:
            case "GroupChatAgentResponse":
                response = Response(chat_message=read(body["message"]), inner_messages=[read(part) for part in body["inner"]])
                return events.GroupChatAgentResponse(name=body["name"], response=response)
            case "GroupChatTeamResponse":
                result = TaskResult(messages=[read(part) for part in body["messages"]], stop_reason=body["stop_reason"])
                return events.GroupChatTeamResponse(name=body["name"], result=result)
            case "GroupChatStart":
                parts = None if body["messages"] is None else [read(part) for part in body["messages"]]
                return events.GroupChatStart(messages=parts, output_task_messages=body["output_task_messages"])
            case kind:
                return getattr(events, kind).model_validate(body["fields"])


def chat_messages(entry):
    """The chat messages that an entry carries, as JSON."""
    body = entry["body"]
    if "message" in body:
        return [body["message"]]
    return body.get("messages") or []


def is_boundary(entry):
    """Whether an entry is a message of the conversation; else it is the group chat's own business and goes on by itself."""
    relayed = entry["body"]["type"] == "GroupChatStart" and entry["sender"] == MANAGER and not entry["inserted"]
    return not relayed and entry["body"]["type"] in ("GroupChatAgentResponse", "GroupChatTeamResponse", "GroupChatStart")
