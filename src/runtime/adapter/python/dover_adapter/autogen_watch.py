"""Looks into a running AutoGen AgentChat team: model calls, tool calls, questions to a person, and what agents say between messages.

Nothing is subclassed or configured in the user's team. The objects it is made of are found by walking it, and the one method that
matters is replaced on each: `create` of a model client, `call_tool` of a workbench, `input_func` of a UserProxyAgent.

Not here: what becomes of a held call or a question (core), messages of the conversation (autogen_queue).
"""

import ast
import functools
import json
import logging
import time

from autogen_agentchat import TRACE_LOGGER_NAME
from autogen_agentchat import messages as said
from autogen_agentchat.agents import UserProxyAgent
from autogen_core import MessageHandlerContext
from autogen_core.models import CreateResult
from autogen_core.tools import TextResultContent, ToolResult

from .autogen_state import inside, plain, workbenches

LEDGER = "Progress Ledger: "


def watch(team, backend):
    """Connects a team with the backend's `emit`, `tool` and `ask`."""
    for _, part in inside(team):
        for client in _clients(part):
            _watch_model(client, backend)
        name = getattr(part, "name", "")
        for bench in workbenches(part):
            _watch_tools(bench, name, backend)
        if isinstance(part, UserProxyAgent):
            part.input_func = functools.partial(_ask, backend, name)
            part._is_async = True
    log = logging.getLogger(TRACE_LOGGER_NAME)
    log.setLevel(logging.DEBUG)
    log.addHandler(_Ledgers(team._group_chat_manager_name, backend))


def speaker():
    """The agent whose handler runs. AgentChat makes an agent's type from its name and the team's id."""
    try:
        return MessageHandlerContext.agent_id().type.rpartition("_")[0]
    except RuntimeError:
        return ""


# Models.


def _clients(part):
    client = getattr(part, "_model_client", None)
    return [client] if client is not None and hasattr(client, "create") else []


def _watch_model(client, backend):
    if getattr(client, "_dover_watched", False):
        return  # one client often serves the whole team
    client._dover_watched = True
    create, create_stream = client.create, client.create_stream

    def asked(messages, options):
        backend.emit("llm.request", agent=speaker(), messages=len(messages), tools=len(options.get("tools") or []))
        return time.monotonic()

    def answered(result, since):
        usage = {"prompt_tokens": result.usage.prompt_tokens, "completion_tokens": result.usage.completion_tokens}
        seconds = round(time.monotonic() - since, 3)
        backend.emit("llm.response", agent=speaker(), usage=usage, seconds=seconds, finish_reason=result.finish_reason)

    async def watched_create(messages, **options):
        since = asked(messages, options)
        result = await create(messages, **options)
        answered(result, since)
        return result

    async def watched_stream(messages, **options):
        since = asked(messages, options)
        async for piece in create_stream(messages, **options):
            if isinstance(piece, CreateResult):
                answered(piece, since)
            yield piece

    client.create, client.create_stream = watched_create, watched_stream


# Tools.


def _watch_tools(bench, agent, backend):
    call, stream = bench.call_tool, getattr(bench, "call_tool_stream", None)

    async def through_policy(name, arguments, call_id, run):
        """Runs the call, or takes the answer from where the policy says."""

        async def execute():
            result = await run()
            return result.to_text(), result.is_error

        text, failed = await backend.tool(agent, name, plain(dict(arguments or {}))[0], call_id, execute)
        return ToolResult(name=name, result=[TextResultContent(content=text)], is_error=failed)

    async def gated_call(name, arguments=None, cancellation_token=None, call_id=None):
        return await through_policy(name, arguments, call_id, lambda: call(name, arguments, cancellation_token, call_id))

    async def gated_stream(name, arguments=None, cancellation_token=None, call_id=None):
        shown = []

        async def run():
            result = None
            async for piece in stream(name, arguments, cancellation_token, call_id):
                if isinstance(piece, ToolResult):
                    result = piece
                else:
                    shown.append(piece)
            return result

        result = await through_policy(name, arguments, call_id, run)
        for piece in shown:
            yield piece
        yield result

    bench.call_tool = gated_call
    if stream is not None:
        bench.call_tool_stream = gated_stream


# A person.


async def _ask(backend, agent, prompt, cancellation_token=None):
    return str(await backend.ask(agent, prompt))


# What is said between messages.


def outputs(message):
    """A message or event of AgentChat as messages of the protocol."""

    def one(kind, content, **more):
        return {"message_id": message.id, "from": message.source, "kind": kind, "content": content, **more}

    match message:
        case said.ToolCallRequestEvent():
            return [one("tool_call", call.arguments, tool={"name": call.name, "call_id": call.id, "arguments": call.arguments}) for call in message.content]
        case said.ToolCallExecutionEvent():
            return [
                one("tool_result", result.content, tool={"name": result.name, "call_id": result.call_id, "failed": bool(result.is_error)})
                for result in message.content
            ]
        case said.CodeGenerationEvent():
            return [one("tool_call", message.content, tool={"name": "code", "arguments": message.content})]
        case said.CodeExecutionEvent():
            return [one("tool_result", message.result.output, tool={"name": "code", "failed": message.result.exit_code != 0})]
        case said.SelectSpeakerEvent():
            return [one("control", ", ".join(message.content))]
        case said.UserInputRequestedEvent():
            return []  # the question itself follows, with an id to answer to
        case said.BaseAgentEvent():
            return [one("thought", text_of(message))]
        case _:
            return [one("message", text_of(message))]


def text_of(message):
    """What a message says, as text."""
    content = getattr(message, "content", "")
    if isinstance(content, str):
        return content
    if hasattr(message, "to_text"):
        return message.to_text()
    return json.dumps(plain(content)[0], ensure_ascii=False)


class _Ledgers(logging.Handler):
    """Magentic-One writes its progress ledger nowhere but into a log."""

    def __init__(self, orchestrator, backend):
        super().__init__(logging.DEBUG)
        self.orchestrator, self.backend = orchestrator, backend

    def emit(self, record):
        line = record.getMessage()
        if not line.startswith(LEDGER):
            self.backend.emit("log", level=record.levelname.lower(), text=line)
            return
        try:
            ledger = json.dumps(ast.literal_eval(line[len(LEDGER) :]), ensure_ascii=False)
        except (ValueError, SyntaxError):
            ledger = line[len(LEDGER) :]
        self.backend.emit("output", message={"from": self.orchestrator, "kind": "ledger", "content": ledger})
