"""AG2 1.x teams in which something is out of the ordinary, each agent's every turn by a script."""

import sys

from ag2 import Agent, Context, KnowledgeConfig
from ag2.config import OpenAIConfig
from ag2.events import ToolCallEvent
from ag2.knowledge import MemoryKnowledgeStore
from ag2.testing import TestConfig
from ag2.tools import tool

TALK = {"channel": "conversation", "max_turns": 4}


def scripted(name, *turn, **more):
    """An agent whose every turn is the same."""
    return Agent(name, config=TestConfig(*turn, raise_tool_errors=False), **more)


def call(name, arguments="{}"):
    """The model's call of a tool."""
    return ToolCallEvent(name, arguments=arguments)


@tool
def leave() -> str:
    """Ends the program."""
    sys.exit(3)


@tool
def breaks() -> str:
    """Raises."""
    raise ValueError("no such order")


@tool
def mail(to: str) -> str:
    """Sends a mail."""
    return f"sent to {to}"


@tool
async def ask(context: Context) -> str:
    """Asks whoever is there."""
    return await context.input("Which colour?")


def unreachable():
    """Nobody answers at the model's address."""
    return [scripted("a", "hello"), Agent("b", config=OpenAIConfig(model="m", api_key="x", base_url="http://127.0.0.1:9/v1", max_retries=0))], TALK


def leaving():
    """A tool that ends the program."""
    return [scripted("a", "hello"), scripted("b", call("leave"), "still here", tools=[leave])], TALK


def breaking():
    """A tool that raises."""
    return [scripted("a", "hello"), scripted("b", call("breaks"), "went on", tools=[breaks])], TALK


def asking():
    """A tool that asks a person, and no agent that has a way to ask."""
    return [scripted("a", "hello"), scripted("b", call("ask"), "thanks", tools=[ask])], TALK


def console():
    """The same with an agent that asks at a console, which there is none of."""
    return [scripted("a", "hello"), scripted("b", call("ask"), "thanks", tools=[ask], hitl_hook=lambda event: input(event.content))], TALK


def nested():
    """An agent as a tool of another, with a tool of its own that must be held."""
    clerk = scripted("clerk", call("mail", '{"to": "bob"}'), "mailed", tools=[mail])
    desk = call("task_clerk", '{"objective": "mail bob"}')
    return [scripted("a", "hello"), scripted("b", desk, "done", tools=[clerk.as_tool(description="Mails.")])], TALK


def saying():
    """An agent that speaks in the middle of its turn."""
    return [scripted("a", "hello"), scripted("b", call("say", '{"content": "wait a moment"}'), "here it is")], {**TALK, "max_turns": 3}


def silent():
    """An agent that says nothing."""
    return [scripted("a", "hello"), scripted("b", "")], TALK


def knowing():
    """An agent with a store of its own, to which it writes in every turn."""
    note = call("knowledge", '{"action": "write", "path": "/notes/seen.md", "content": "seen"}')
    return [scripted("a", "hello"), scripted("b", note, "noted", knowledge=KnowledgeConfig(MemoryKnowledgeStore(), write_event_log=False))], TALK
