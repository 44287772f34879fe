"""Teams with agents of the user's own, and teams that end badly."""

import os
import sys

from autogen_agentchat.agents import AssistantAgent, BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.conditions import FunctionalTermination, MaxMessageTermination
from autogen_agentchat.messages import TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_agentchat.tools import AgentTool
from autogen_core.memory import ListMemory, MemoryContent, MemoryMimeType
from autogen_model import model


class Counter(BaseChatAgent):
    """Counts its turns and saves nothing of it."""

    produced_message_types = (TextMessage,)

    def __init__(self, name, fails_at=None):
        super().__init__(name, "Counts")
        self.turns, self.fails_at = 0, fails_at

    async def on_messages(self, messages, cancellation_token):
        self.turns += 1
        if self.turns == self.fails_at:
            raise RuntimeError("the abacus broke")
        return Response(chat_message=TextMessage(content=f"turn {self.turns}", source=self.name))

    async def on_reset(self, cancellation_token):
        self.turns = 0


class Saver(Counter):
    """Counts its turns and saves them."""

    async def save_state(self):
        return {"turns": self.turns}

    async def load_state(self, state):
        self.turns = state["turns"]


class Odd(BaseChatAgent):
    """Does something odd in its turn, and keeps nothing."""

    produced_message_types = (TextMessage,)

    def __init__(self, name, deed):
        super().__init__(name, "Does as it likes")
        self.deed = deed

    async def on_messages(self, messages, cancellation_token):
        self.deed()
        return Response(chat_message=TextMessage(content=f"{self.name} is done", source=self.name))

    async def on_reset(self, cancellation_token):
        pass

    async def save_state(self):
        return {}

    async def load_state(self, state):
        pass


class Noted(AssistantAgent):
    """Has something beside what the framework's class saves."""

    def __init__(self, name):
        super().__init__(name, model(), system_message="WHEN LAST /turn (\\d+)/ SAY I note \\1")
        self.notes = []


def build():
    """Three agents whose state is saved not at all, wholly, and in part; and one with a memory of its own."""
    memory = ListMemory()
    memory._contents.append(MemoryContent(content="Always note", mime_type=MemoryMimeType.TEXT))
    helped = AssistantAgent("Helped", model(), tools=[AgentTool(Saver("Helper"))], system_message="WHEN LAST /(.+)/ SAY Heard \\1")
    minded = AssistantAgent("Minded", model(), memory=[memory], system_message="WHEN ANY /turn (\\d+)/ SAY I mind \\1")
    agents = [Counter("Opaque"), Saver("Saver"), Noted("Noted"), helped, minded]
    return RoundRobinGroupChat(agents, termination_condition=FunctionalTermination(lambda messages: False) | MaxMessageTermination(8))


def build_failing():
    return RoundRobinGroupChat([Saver("Calm"), Counter("Abacus", fails_at=2)], max_turns=6)


def build_ended():
    """Its termination condition is met by the task."""
    return RoundRobinGroupChat([Saver("Saver")], termination_condition=MaxMessageTermination(1))


def build_agent():
    """No team."""
    return Saver("Alone")


def build_running():
    """A team whose runtime was started already."""
    from autogen_core import SingleThreadedAgentRuntime

    async def make():
        runtime = SingleThreadedAgentRuntime()
        runtime.start()
        return RoundRobinGroupChat([Saver("Saver")], runtime=runtime, max_turns=1)

    return make()


def odd(deed):
    """A calm agent, then one that does it."""
    return RoundRobinGroupChat([Saver("Calm"), Odd("Odd", deed)], max_turns=2)


def shout():
    """Prints on standard output in every way there is."""
    print('{"jsonrpc": "2.0", "id": 1, "result": {}}', flush=True)
    os.write(1, b"no JSON at all\n")
    os.system("echo from a child")


def build_printing():
    shout()
    return odd(shout)


def build_blocking():
    """An agent that blocks the event loop for good, and a program that it started with it."""
    return odd(lambda: os.system("sleep 3600"))


def build_exiting():
    return odd(lambda: sys.exit(3))


def build_dying():
    return odd(lambda: os._exit(3))


def make_raising():
    raise ValueError("the team has no budget")


def make_exiting():
    sys.exit("no licence")


def make_keyless():
    """A model whose key nobody set."""
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    keyless = OpenAIChatCompletionClient(model="gpt-4o-mini")
    return RoundRobinGroupChat([AssistantAgent("Keyless", keyless)], max_turns=1)
