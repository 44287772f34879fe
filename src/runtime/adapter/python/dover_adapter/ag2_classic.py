"""The adapter for AG2 0.14 ("classic", `import autogen`): two agents in dialogue, or a group chat under its manager.

The entry makes `(initiator, recipient)` or `(initiator, recipient, {"max_turns": n})`; where the recipient is a GroupChatManager it is a
group chat. The framework is synchronous, so it runs in a worker thread. A boundary is the hook before a message is sent to the manager
(or to the other of the two): the thread waits there while the message is pending, and nothing else of the framework runs.

What decides the rest of a run is in the agents' message lists, counters and flags, and in the rounds that are left. The round limit that
counts is on a copy of the group chat inside the manager; it is found there and lowered by the rounds already made.
"""

import asyncio
import copy
import functools
import inspect
import threading
from typing import Any, Callable

from autogen import ConversableAgent, GroupChat, GroupChatManager
from autogen.coding.base import CodeResult
from autogen.io import IOStream

from .core import INCOMPATIBLE, Backend, Call, Description, Host, Message, RpcError, Saved, code_of, effect_of, plain

CODE = "execute_code"
"""What running a model's code is called among the tools."""


class Console:
    """Where the framework prints and asks."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def print(self, *values: Any, **_: Any) -> None:
        """To the run's log."""
        print(*values)

    def send(self, event: Any) -> None:
        """An event of the framework: as it would print it."""
        event.print(lambda *values, **_: print(*values))

    def input(self, prompt: str = "", *, password: bool = False) -> str:
        """A question for a person."""
        return str(self._host.ask_person_blocking("human", prompt))


class Ag2Classic(Backend):
    """Drives a dialogue or a group chat."""

    name = "ag2-classic"
    packages = ("ag2",)
    capabilities = {"human_input": True, "start_state": True, "export": True}

    def __init__(self, target: Any, host: Host) -> None:
        super().__init__(target, host)
        parts = list(target) if isinstance(target, (tuple, list)) else []
        if len(parts) not in (2, 3) or not all(isinstance(agent, ConversableAgent) for agent in parts[:2]):
            raise ValueError("it must make (initiator, recipient) or (initiator, recipient, {'max_turns': n}), both agents of autogen")
        self._initiator, self._recipient = parts[:2]
        self._turns: int | None = parts[2].get("max_turns") if len(parts) == 3 else None
        self._manager = self._recipient if isinstance(self._recipient, GroupChatManager) else None
        self._chat: GroupChat | None = self._manager.groupchat if self._manager else None
        members = [self._initiator, *(self._chat.agents if self._chat else []), self._recipient]
        self._agents: dict[str, ConversableAgent] = {agent.name: agent for agent in members}
        if len(self._agents) != len({id(agent) for agent in members}):
            raise ValueError("two of its agents have the same name")
        self._rounds = self._chat.max_round if self._chat else 0
        self._boundaries: asyncio.Queue = asyncio.Queue()
        self._go: threading.Semaphore = threading.Semaphore(0)
        self._pending: Message | None = None
        self._raw: Any = None
        """The pending message as the framework has it."""
        self._filling = False
        """Whether messages of a saved state are being put back: they were sent once."""
        self._again: Any = None
        """The message that is sent anew after a load: hooks have seen it before."""
        IOStream.set_global_default(Console(host))
        for agent in self._agents.values():
            if agent is not self._manager:
                agent.register_hook("process_message_before_send", self._before_send)
            gate_tools(agent, host)

    # ---- what it is

    async def describe(self) -> Description:
        agents, tools, pinned = [], [], {}
        for name, agent in self._agents.items():
            agents.append({"name": name, "class": type(agent).__name__, "description": agent.description, "state": self._fidelity(agent)})
            schemas = {tool["function"]["name"]: tool["function"] for tool in (agent.llm_config or {}).get("tools") or []} if agent.llm_config else {}
            mine = [{"agent": name, "name": tool, "schema": None, "effect": effect_of(function)} for tool, function in agent.function_map.items()]
            if agent.code_executor is not None or agent._code_execution_config:
                mine.append({"agent": name, "name": CODE, "schema": None, "effect": "unknown"})
            tools += mine
            pinned[name] = {
                "class": type(agent).__name__, "system": agent.system_message, "description": agent.description, "model": _model(agent), "schemas": schemas,
                "tools": mine, "code": {tool: code_of(function) for tool, function in agent.function_map.items()}, "human": agent.human_input_mode,
                "replies": agent._max_consecutive_auto_reply if agent is not self._manager else None,
            }  # fmt: skip
        chat = self._chat
        if chat is None:
            return Description("dialogue", agents, {"agents": pinned, "max_turns": self._turns}, tools)
        method = chat.speaker_selection_method
        transitions = {source.name: sorted(agent.name for agent in targets) for source, targets in (chat.allowed_speaker_transitions_dict or {}).items()}
        routing = {"rounds": self._rounds, "selection": code_of(method) if callable(method) else method, "transitions": transitions, "order": [agent.name for agent in chat.agents]}
        return Description("group chat", agents, {"agents": pinned, "routing": routing}, tools)

    def _fidelity(self, agent: ConversableAgent) -> str:
        """A class of somebody's own may keep what nobody here knows of."""
        return "full" if type(agent).__module__.split(".")[0] == "autogen" else "partial"

    # ---- the run

    async def start(self, task: str) -> None:
        await self._run(lambda: self._initiator.initiate_chat(self._recipient, message=task, max_turns=self._turns))

    async def start_from(self, task: str | None, state: Any) -> None:
        fill = self._fill_dialogue if self._chat is None else self._fill_chat
        self._filling = True
        try:
            sender, last = fill(task, state)
        finally:
            self._filling = False
        if self._chat is None:
            self._again = last
            await self._run(lambda: self._go_on(sender))
        else:
            await self._run(lambda: sender.initiate_chat(self._manager, message=last, clear_history=False))

    def _fill_chat(self, task: str | None, state: Any) -> tuple[ConversableAgent, Any]:
        """Puts `groupchat.messages` back, as the framework's own `resume` does: the last of them is sent anew."""
        if not isinstance(state, list) or not state or not all(isinstance(message, dict) and "content" in message for message in state):
            raise self._unfit("this is no saved group chat of AG2: it is no list of messages, as `groupchat.messages` is")
        told = {message.get("name", self._manager.name) for message in state}
        if foreign := sorted(told - set(self._agents)):
            raise self._unfit(f"the saved messages are of another team: {', '.join(foreign)} spoke in it, and this team has {', '.join(self._agents)}")
        more = [] if task is None else [{"content": task, "role": "user", "name": self._initiator.name}]
        sender, last = self._manager.resume(messages=[*state, *more], silent=True)
        for reply in self._manager._reply_func_list:
            if isinstance(reply["config"], GroupChat):
                reply["config"].send_introductions = False
        return sender, last

    def _fill_dialogue(self, task: str | None, state: Any) -> tuple[ConversableAgent, Any]:
        """Puts `{name: {peer: messages}}` back, what each of the two has of it."""
        one, other = self._initiator, self._recipient
        try:
            told = {(agent, peer): list(state[agent.name][peer.name]) for agent, peer in ((one, other), (other, one))}
            said = told[one, other]
            sender = {"assistant": one, "user": other}.get(said[-1]["role"], self._agents.get(said[-1].get("name")))
        except (TypeError, KeyError, IndexError):
            names = f"{one.name} and {other.name}"
            raise self._unfit(f"this is no saved dialogue of {names}: for both of them it has the messages with the other, {{name: {{peer: [...]}}}}") from None
        if sender is None:
            raise self._unfit("nobody here said the last of the saved messages")
        last: Any = task
        if task is None:
            last = {name: value for name, value in said[-1].items() if name != "role" or value in ("tool", "function")}
            told = {pair: messages[:-1] for pair, messages in told.items()}
        one._prepare_chat(other, clear_history=False)
        for (agent, peer), messages in told.items():
            agent._oai_messages[peer][:] = messages
        return (sender if task is None else one), last

    def _unfit(self, why: str) -> RpcError:
        return RpcError(INCOMPATIBLE, why)

    async def advance(self) -> None:
        self._go.release()
        await self._arrive()

    async def _run(self, work: Callable[[], Any]) -> None:
        """Starts the framework's thread, up to its first boundary."""

        def run() -> None:
            try:
                work()
                self._tell(None)
            except BaseException as error:  # noqa: BLE001 - a thread must not end without a word
                self._tell(RuntimeError(f"the team called sys.exit({error.code!r})") if isinstance(error, SystemExit) else error)

        threading.Thread(target=run, name="ag2-classic", daemon=True).start()
        await self._arrive()

    def _tell(self, what: Any) -> None:
        self.host.loop.call_soon_threadsafe(self._boundaries.put_nowait, what)

    async def _arrive(self) -> None:
        arrived = await self._boundaries.get()
        if isinstance(arrived, BaseException):
            raise arrived
        self._pending = None
        if arrived is not None:
            sender, self._raw = arrived
            self._pending = self._message(sender)

    def _before_send(self, sender: ConversableAgent, message: Any, recipient: Any, silent: bool) -> Any:
        """The boundary, in the framework's thread."""
        if self._filling or recipient is not self._other(sender):
            return message
        if self._again is not None:
            message, self._again = self._again, None
        self._tell((sender, copy.deepcopy(message)))
        self._go.acquire()
        return self._raw

    def _other(self, sender: ConversableAgent) -> ConversableAgent:
        """Who hears what this agent says: the manager, or the other of the two."""
        return self._manager or (self._recipient if sender is self._initiator else self._initiator)

    def _said(self) -> list:
        """The messages committed so far."""
        return self._chat.messages if self._chat else self._initiator._oai_messages[self._recipient]

    def _message(self, sender: ConversableAgent) -> Message:
        said, raw = len(self._said()), self._raw if isinstance(self._raw, dict) else {"content": self._raw}
        kind, tool = "task" if said == 0 else "message", None
        if raw.get("tool_calls"):
            call = raw["tool_calls"][0]
            kind, tool = "tool_call", {"name": call["function"]["name"], "call_id": call["id"], "arguments": call["function"]["arguments"]}
        elif raw.get("tool_responses"):
            kind, tool = "tool_result", {"name": self._called(raw["tool_responses"][0].get("tool_call_id")), "call_id": raw["tool_responses"][0].get("tool_call_id")}
        elif said and (said + 1 == self._rounds or self._ends(sender, raw)):
            kind = "answer"
        return Message(f"m{said}", sender.name, self._other(sender).name, raw.get("content"), kind, tool)

    def _called(self, call_id: str | None) -> str:
        calls = [call for message in self._said() for call in message.get("tool_calls") or []]
        return next((call["function"]["name"] for call in calls if call["id"] == call_id), "")

    def _ends(self, sender: ConversableAgent, raw: dict) -> bool:
        try:
            return bool(self._other(sender)._is_termination_msg(raw))
        except Exception:  # noqa: BLE001 - somebody's own function, asked for a label only
            return False

    def pending(self) -> Message | None:
        return self._pending

    def result(self) -> dict:
        said = self._said()
        return {"final": said[-1].get("content") if said else None, "reason": f"{len(said)} messages"}

    # ---- its state

    async def save(self) -> dict[str, Saved]:
        state = {}
        for name, agent in self._agents.items():
            memory = {
                "messages": self._named(agent._oai_messages), "replies": self._named(agent._consecutive_auto_reply_counter),
                "replies_at_receive": self._named(agent.reply_at_receive), "context": agent.context_variables.to_dict(),
                "human_input": agent._human_input, "system": agent.system_message,
            }  # fmt: skip
            state[f"agents/{name}/memory"] = Saved(memory, self._fidelity(agent), str(sum(map(len, agent._oai_messages.values()))))
        state["orchestrator/pending"] = Saved(self._raw)
        if self._chat:
            last = getattr(self._manager, "_last_speaker", None)
            state["orchestrator/thread"] = Saved(self._chat.messages, revision=str(len(self._chat.messages)))
            state["orchestrator/ledger"] = Saved({"last_speaker": last and last.name})
        return state

    def _named(self, by_agent: dict) -> dict:
        """By name, and only of this team: the framework's helpers for choosing a speaker do not outlive a turn."""
        return {peer.name: value for peer, value in by_agent.items() if self._agents.get(peer.name) is peer}

    async def load(self, state: dict[str, Any], pending: Message) -> None:
        for name, agent in self._agents.items():
            memory = state.get(f"agents/{name}/memory")
            if memory is None:
                continue
            for kept, saved in (
                (agent._oai_messages, "messages"), (agent._consecutive_auto_reply_counter, "replies"), (agent.reply_at_receive, "replies_at_receive"),
            ):  # fmt: skip
                kept.clear()
                kept.update({self._agents[peer]: value for peer, value in memory[saved].items() if peer in self._agents})
            agent._human_input = list(memory["human_input"])
            agent.context_variables.data = dict(memory["context"])
            if memory["system"] != agent.system_message:
                agent.update_system_message(memory["system"])
        sender = self._agents.get(pending.sender)
        if sender is None:
            raise ValueError(f"nobody here is called {pending.sender}")
        self._again = state["orchestrator/pending"]
        if self._chat is None:
            await self._run(lambda: self._go_on(sender))
            return
        self._chat.messages[:] = state["orchestrator/thread"]
        self._manager._last_speaker = self._agents.get(state["orchestrator/ledger"]["last_speaker"])
        for reply in self._manager._reply_func_list:
            if isinstance(reply["config"], GroupChat):
                reply["config"].max_round = self._rounds - len(self._chat.messages)
                reply["config"].send_introductions = reply["config"].send_introductions and not self._chat.messages
        await self._run(lambda: sender.send(self._again, self._manager, request_reply=True))

    async def export(self, commit: bool) -> Any:
        if self._chat is not None:
            return [*self._chat.messages, *([self._stored("user")] if commit else [])]
        one, other = self._initiator, self._recipient
        told = {(agent, peer): list(agent._oai_messages[peer]) for agent, peer in ((one, other), (other, one))}
        if commit:
            for (agent, _), messages in told.items():
                messages.append(self._stored("assistant" if agent.name == self._pending.sender else "user"))
        return {agent.name: {peer.name: messages} for (agent, peer), messages in told.items()}

    def _stored(self, role: str) -> dict:
        """The pending message as the framework keeps one."""
        raw = self._raw if isinstance(self._raw, dict) else {"content": self._raw}
        content = raw.get("content")
        if self._chat is not None and not isinstance(content, (str, list)):
            content = str(content)
        if raw.get("tool_calls") or raw.get("function_call"):
            role = "assistant"  # whoever keeps it: only an assistant calls
        return {**raw, "content": content, "role": raw["role"] if raw.get("role") in ("tool", "function") else role, "name": self._pending.sender}

    def _go_on(self, sender: ConversableAgent) -> None:
        """A dialogue from its pending message on, as `initiate_chat` would lead it."""
        one, other = self._initiator, self._recipient
        if self._turns is None:
            return sender.send(self._again, self._other(sender))
        done = sum(message["role"] == "assistant" for message in one._oai_messages[other])
        sender.send(self._again, self._other(sender), request_reply=sender is one)
        done += sender is one
        while done < self._turns and one._consecutive_auto_reply_counter[other] < other._max_consecutive_auto_reply:
            last = one.chat_messages[other][-1]
            if one._should_terminate_chat(other, last):
                break
            message = one.generate_reply(messages=one.chat_messages[other], sender=other)
            if message is None:
                break
            one.send(message, other, request_reply=True)
            done += 1

    # ---- edits

    async def replace_pending(self, message_id: str, content: Any) -> int:
        copies = 1
        if isinstance(self._raw, dict):
            self._raw = {**self._raw, "content": content}
            answers = self._raw.get("tool_responses") or []
            if len(answers) == 1:  # a tool's answer stands twice in its message
                self._raw["tool_responses"], copies = [{**answers[0], "content": content}], 2
        else:
            self._raw = content
        self._pending.content = content
        return copies


def _model(agent: ConversableAgent) -> Any:
    if not agent.llm_config:
        return None
    config = dict(plain(agent.llm_config))
    config.pop("tools", None)  # pinned apart
    return config


def gate_tools(agent: ConversableAgent, host: Host) -> None:
    """Passes the agent's functions, and the code it runs, through the gate."""

    def gated(name: str, function: Callable) -> Callable:
        @functools.wraps(function)
        def call(**arguments: Any) -> Any:
            def run() -> Any:
                made = function(**arguments)
                return asyncio.run(_awaited(made)) if inspect.isawaitable(made) else made

            return host.effects.call_blocking(Call(agent.name, name, arguments, effect_of(function)), run)

        return call

    agent._function_map = {name: gated(name, function) for name, function in agent._function_map.items()}
    executor = agent.code_executor
    if executor is not None:
        execute = executor.execute_code_blocks

        def blocks(code_blocks: list) -> CodeResult:
            made: list = []

            def run() -> dict:
                made.append(execute(code_blocks))
                return {"exit_code": made[0].exit_code, "output": made[0].output}

            told = host.effects.call_blocking(Call(agent.name, CODE, {"blocks": [[block.language, block.code] for block in code_blocks]}), run)
            if made:
                return made[0]
            return CodeResult(**told) if isinstance(told, dict) else CodeResult(exit_code=1, output=str(told))

        executor.execute_code_blocks = blocks
    elif agent._code_execution_config:
        legacy = agent.execute_code_blocks

        def pairs(code_blocks: list) -> tuple:
            told = host.effects.call_blocking(Call(agent.name, CODE, {"blocks": code_blocks}), lambda: list(legacy(code_blocks)))
            return tuple(told) if isinstance(told, (list, tuple)) else (1, str(told))

        agent.execute_code_blocks = pairs


async def _awaited(made: Any) -> Any:
    return await made


BACKEND = Ag2Classic
