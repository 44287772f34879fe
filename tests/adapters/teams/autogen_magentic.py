"""Magentic-One with two agents and tools. It plans to ask for wall paint where floor paint is needed, so its answer is wrong."""

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import MagenticOneGroupChat
from autogen_model import model

COVERS = {"wall paint": 6, "floor paint": 12}


async def coverage(paint: str) -> str:
    """How many square metres a tin of a paint covers."""
    return f"covers {COVERS[paint]} square metres" if paint in COVERS else f"no paint is called {paint}"


async def divide(dividend: float, divisor: float) -> str:
    """Divides two numbers."""
    return f"{dividend / divisor:g}"


coverage.effect = divide.effect = "read_only"


def build():
    storekeeper = AssistantAgent(
        "Storekeeper",
        model(),
        tools=[coverage],
        reflect_on_tool_use=True,
        description="Find the coverage of a tin of wall paint.",
        system_message="WHEN LAST /covers (\\d+)/ SAY A tin covers COVERS=\\1 square metres\n"
        'WHEN ANY /tin of (\\w+ paint)/ CALL coverage {"paint": "\\1"}\n'
        "WHEN LAST /(.+)/ SAY Nothing is known of that",
    )
    surveyor = AssistantAgent(
        "Surveyor",
        model(),
        tools=[divide],
        reflect_on_tool_use=True,
        description="Divide the area of 96 by the coverage.",
        system_message="WHEN LAST /^([\\d.]+)$/ SAY RESULT=\\1\n"
        'WHEN ANY /COVERS=(\\d+)/ CALL divide {"dividend": 96, "divisor": \\1}\n'
        "WHEN LAST /(.+)/ SAY There is nothing to divide by",
    )
    return MagenticOneGroupChat([storekeeper, surveyor], model_client=model(), max_turns=8)
