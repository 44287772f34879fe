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
from .core import Call, Message, effect_of

LEDGER = "Progress Ledger: "


def watch(team, host):
    """Connects a team with the host."""
    for _, part in inside(team):
        for client in _clients(part):
            _watch_model(client, host)
        name = getattr(part, "name", "")
        for bench in workbenches(part):
            _watch_tools(bench, name, host)
        if isinstance(part, UserProxyAgent):
            part.input_func = functools.partial(_ask, host, name)
            part._is_async = True
    log = logging.getLogger(TRACE_LOGGER_NAME)
    log.setLevel(logging.DEBUG)
    log.addHandler(_Ledgers(team._group_chat_manager_name, host))


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


def _watch_model(client, host):
    if getattr(client, "_dover_watched", False):
        return  # one client often serves the whole team
    client._dover_watched = True
    create, create_stream = client.create, client.create_stream

    def asked(messages, options):
        host.event("llm.request", agent=speaker(), messages=len(messages), tools=len(options.get("tools") or []))
        return time.monotonic()

    def answered(result, since):
        usage = {"prompt_tokens": result.usage.prompt_tokens, "completion_tokens": result.usage.completion_tokens}
        seconds = round(time.monotonic() - since, 3)
        host.event("llm.response", agent=speaker(), usage=usage, seconds=seconds, finish_reason=result.finish_reason)

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


def _watch_tools(bench, agent, host):
    call, stream = bench.call_tool, getattr(bench, "call_tool_stream", None)
    effects = {tool.name: effect_of(tool) for tool in getattr(bench, "_tools", [])}

    async def through_policy(name, arguments, run):
        """Runs the call, or takes the answer from where the policy says."""

        async def execute():
            result = await run()
            return {"error": result.to_text()} if result.is_error else result.to_text()

        told = await host.effects.call(Call(agent, name, dict(arguments or {}), effects.get(name, "unknown")), execute)
        failed = isinstance(told, dict) and told.keys() == {"error"}
        text = told["error"] if failed else told
        text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
        return ToolResult(name=name, result=[TextResultContent(content=text)], is_error=failed)

    async def gated_call(name, arguments=None, cancellation_token=None, call_id=None):
        return await through_policy(name, arguments, lambda: call(name, arguments, cancellation_token, call_id))

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

        result = await through_policy(name, arguments, run)
        for piece in shown:
            yield piece
        yield result

    bench.call_tool = gated_call
    if stream is not None:
        bench.call_tool_stream = gated_stream


# A person.


async def _ask(host, agent, prompt, cancellation_token=None):
    return str(await host.ask_person(agent, prompt))


# What is said between messages.


def outputs(message):
    """A message or event of AgentChat as messages of the protocol."""

    def one(kind, content, tool=None):
        return Message(message.id, message.source, "", content, kind, tool)

    match message:
        case said.ToolCallRequestEvent():
            calls = [(call, {"name": call.name, "call_id": call.id, "arguments": call.arguments}) for call in message.content]
            return [one("tool_call", call.arguments, tool) for call, tool in calls]
        case said.ToolCallExecutionEvent():
            results = [(it, {"name": it.name, "call_id": it.call_id, "failed": bool(it.is_error)}) for it in message.content]
            return [one("tool_result", result.content, tool) for result, tool in results]
        case said.CodeGenerationEvent():
            return [one("tool_call", message.content, {"name": "code", "arguments": message.content})]
        case said.CodeExecutionEvent():
            return [one("tool_result", message.result.output, {"name": "code", "failed": message.result.exit_code != 0})]
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

    def __init__(self, orchestrator, host):
        super().__init__(logging.DEBUG)
        self.orchestrator, self.host = orchestrator, host

    def emit(self, record):
        if not isinstance(record.msg, str):
            return  # agents' events: told as outputs
        line = record.getMessage()
        if not line.startswith(LEDGER):
            self.host.log(line, record.levelname.lower())
            return
        try:
            ledger = json.dumps(ast.literal_eval(line[len(LEDGER) :]), ensure_ascii=False)
        except (ValueError, SyntaxError):
            ledger = line[len(LEDGER) :]
        self.host.output(Message("", self.orchestrator, "", ledger, "ledger"))
