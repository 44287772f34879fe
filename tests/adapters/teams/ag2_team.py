"""AG2 1.x teams over a local model: a discussion with tools, a dialogue, a workflow with a handoff, and a person among agents."""

import os

from ag2 import Agent
from ag2.config import OpenAIConfig
from ag2.network import Handoff, TransitionGraph
from ag2.network.transitions import AgentTarget, FromSpeaker, TerminateTarget, Transition
from ag2.tools import tool

LLM = OpenAIConfig(model="literal", api_key=os.environ["OPENAI_API_KEY"], base_url=os.environ["MODEL_URL"], temperature=0)


@tool
def price(item: str) -> str:
    """Looks an item's price up."""
    return {"widget": "10", "gadget": "4"}.get(item, "0")


price.effect = "read_only"


@tool
def book(total: float) -> str:
    """Books an order."""
    return f"booked {total}"


book.effect = "permanent"


def solver():
    """Who works a journey out."""
    return Agent("solver", "You solve journeys.", config=LLM)


def verifier():
    """Who checks what was worked out."""
    return Agent("verifier", "You check.", config=LLM)


def build():
    """Four in a round: who looks prices up, who works out, who books, who checks. The first says the task."""
    buyer = Agent("buyer", "You look up prices.", config=LLM, tools=[price])
    clerk = Agent("clerk", "You book.", config=LLM, tools=[book])
    return [buyer, solver(), clerk, verifier()], {"channel": "discussion", "max_turns": 6}


def dialogue():
    """Two agents until one of them has checked."""
    return [verifier(), solver()], {"channel": "conversation", "max_turns": 8, "until": lambda text: "FINAL" in text}


@tool
def compute(expression: str) -> Handoff:
    """Hands a sum on to who checks."""
    return Handoff(target="verifier", reason=expression)


compute.effect = "read_only"


def workflow():
    """A desk that hands sums on by a tool, and else lets somebody solve first."""
    desk = Agent("desk", "You are the desk.", config=LLM, tools=[compute])
    graph = TransitionGraph(
        "user",
        [
            Transition(FromSpeaker("user"), AgentTarget("desk")),
            Transition(FromSpeaker("desk"), AgentTarget("solver")),
            Transition(FromSpeaker("solver"), AgentTarget("verifier")),
        ],
        TerminateTarget("checked"),
    )
    return ["user", desk, solver(), verifier()], {"channel": "workflow", "knobs": {"graph": graph}}


def person():
    """A person and an agent in conversation."""
    return ["user", solver()], {"channel": "conversation", "max_turns": 4}
