"""The watch over AG2's agents: every tool call through the gate, every model call told, every question brought to a person.

It is set around the turns of all agents of the process, also of those that a tool or a sub-task makes, innermost of their middleware: what
a user's own middleware answers itself is not held, for it does not happen.
"""

import inspect
from typing import Any

from ag2 import Agent
from ag2.events import (
    DataInput, HumanInputRequest, HumanMessage, ModelMessage, ModelRequest, ModelResponse, TextInput, ToolErrorEvent, ToolResultEvent, ToolResultsEvent,
)  # fmt: skip
from ag2.events._serialization import deserialize_value, serialize_value
from ag2.events.tool_events import ToolResult
from ag2.middleware import BaseMiddleware

from .core import Call, Host, code_of, effect_of, plain

NETWORK_TOOLS = ("say", "delegate", "peers", "channels", "tasks", "context")
"""The network's own: what they do is in the hub, and so in the checkpoint."""


def described(agent: str, tool: Any) -> list[dict]:
    """A tool, or those of a kit, as the pin has them."""
    if hasattr(tool, "tools"):
        return [told for member in tool.tools for told in described(agent, member)]
    model, schema = getattr(tool, "model", None), getattr(getattr(tool, "schema", None), "function", None)
    function = inspect.unwrap(model.call) if model is not None else tool
    return [{"agent": agent, "name": tool.name, "schema": plain(schema.parameters) if schema else None, "effect": effect(tool), "code": code_of(function)}]


def effect(tool: Any) -> str:
    """What a tool may do, said on the tool or on the function within."""
    said = effect_of(tool)
    model = getattr(tool, "model", None)
    return said if said != "unknown" or model is None else effect_of(inspect.unwrap(model.call))


class Watch(BaseMiddleware):
    """Innermost around every agent's turn: passes tool calls through the gate, tells of model calls, brings questions to a person."""

    def __init__(self, event: Any, context: Any, agent: Agent, host: Host) -> None:
        super().__init__(event, context)
        self._agent, self._host = agent, host

    async def on_tool_execution(self, call_next: Any, event: Any, context: Any) -> Any:
        """Runs a tool if it may run."""
        if event.name in NETWORK_TOOLS and (event.source or "").startswith("function:ag2.network."):
            return await call_next(event, context)
        made: list = []

        async def run() -> Any:
            try:
                made.append(await call_next(event, context))
            except SystemExit as end:  # would end the link's task, and the run would stand for ever
                made.append(ToolErrorEvent.from_call(event, RuntimeError(f"the tool called sys.exit({end.code!r})")))
            return recorded(made[0])

        flat = [member for tool in self._agent.tools for member in getattr(tool, "tools", (tool,))]
        tool = next((tool for tool in flat if getattr(tool, "name", None) == event.name), None)
        told = await self._host.effects.call(Call(self._agent.name, event.name, event.serialized_arguments, effect(tool)), run)
        return made[0] if made else ToolResultEvent.from_call(event, rebuilt(told))

    async def on_llm_call(self, call_next: Any, events: Any, context: Any) -> Any:
        """Tells what a model is asked and what it answers."""
        system = [{"role": "system", "content": "\n".join(context.prompt)}] if context.prompt else []
        self._host.event("llm.request", agent=self._agent.name, messages=system + [heard for event in events for heard in as_heard(event)])
        answer = await call_next(events, context)
        usage = {"prompt_tokens": answer.usage.prompt_tokens or 0, "completion_tokens": answer.usage.completion_tokens or 0}
        self._host.event("llm.response", agent=self._agent.name, content=answer.content, usage=usage, finish_reason=answer.finish_reason)
        return answer

    async def on_human_input(self, call_next: Any, event: Any, context: Any) -> Any:
        """An agent's own way to ask, unless it asks a console, which there is none of."""
        try:
            return await call_next(event, context)
        except EOFError:
            return HumanMessage.ensure_message(str(await self._host.ask_person(self._agent.name, event.content)), parent_id=event.id)


def watch(host: Host) -> None:
    """Sets the watch around the turns of every agent of this process, also those that a tool makes."""
    drive = Agent._drive_scope

    async def ask(event: HumanInputRequest) -> str:
        return str(await host.ask_person("human", event.content))

    def watched(self: Agent, event: Any, *, hitl_hook: Any = None, plugin_hitl_hook: Any = None, additional_middleware: Any = (), **more: Any) -> Any:
        asked = plugin_hitl_hook or (None if self.has_hitl_hook or hitl_hook else ask)
        inner = (*additional_middleware, lambda event, context: Watch(event, context, self, host))
        return drive(self, event, hitl_hook=hitl_hook, plugin_hitl_hook=asked, additional_middleware=inner, **more)

    Agent._drive_scope = watched


def as_heard(event: Any) -> list[dict]:
    """An event of an agent's stream as a model hears it."""
    if isinstance(event, ModelRequest):
        return [{"role": "user", "content": "\n".join(str(getattr(part, "content", plain(part))) for part in event.parts)}]
    if isinstance(event, (ModelResponse, ModelMessage)):
        calls = [call.to_api() for call in getattr(event, "tool_calls", None).calls] if getattr(event, "tool_calls", None) else []
        return [{"role": "assistant", "content": event.content, **({"tool_calls": calls} if calls else {})}]
    if isinstance(event, ToolResultsEvent):
        return [{"role": "tool", "tool_call_id": result.parent_id, "content": plain(recorded(result))} for result in event.results]
    return []


def recorded(made: Any) -> Any:
    """What a tool gave, as a record keeps it: text or data as they are, all else by the framework's own serialiser."""
    if isinstance(made, ToolErrorEvent):
        return f"Error: {type(made.error).__name__}: {made.error}"
    result = getattr(made, "result", None)
    if result is None:
        return plain(made)
    if len(result.parts) == 1 and not result.final:
        part = result.parts[0]
        if isinstance(part, (TextInput, DataInput)):
            return part.content if isinstance(part, TextInput) else serialize_value(part.data)
    return {"parts": serialize_value(result.parts), "final": result.final}


def rebuilt(told: Any) -> ToolResult:
    """The same again from a record, or from what an operator answers."""
    made = deserialize_value(told)
    return ToolResult(parts=made["parts"], final=made["final"]) if isinstance(made, dict) and made.keys() == {"parts", "final"} else ToolResult(made)
