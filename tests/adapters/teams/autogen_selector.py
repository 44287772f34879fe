"""A Selector team with tools: one agent reads a fare, the other books, which cannot be undone."""

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.teams import SelectorGroupChat
from autogen_model import model

FARES = {"Ulm": 20, "Ulan Bator": 900}


async def fare(town: str) -> str:
    """The fare to a town."""
    return f"fare {FARES[town]}" if town in FARES else f"no train goes to {town}"


async def book(town: str, price: int) -> str:
    """Books a seat. It cannot be given back."""
    return f"booked {town} for {price}"


fare.effect = "read_only"
book.effect = "permanent"


def build():
    clerk = AssistantAgent(
        "Clerk",
        model(),
        tools=[fare],
        reflect_on_tool_use=True,
        model_client_stream=True,
        description="Reads fares.",
        system_message="WHEN LAST /fare (\\d+)/ SAY It costs PRICE=\\1 next: Booker\n"
        'WHEN ANY /to (\\w+(?: Bator)?)/ CALL fare {"town": "\\1"}',
    )
    booker = AssistantAgent(
        "Booker",
        model(),
        tools=[book],
        reflect_on_tool_use=True,
        model_client_stream=True,
        description="Books seats.",
        system_message="WHEN LAST /(booked .+)/ SAY Done: \\1. TERMINATE\n"
        "WHEN LAST /refused/ SAY Nothing was booked. TERMINATE\n"
        'WHEN ANY /PRICE=(\\d+)/ CALL book {"town": "there", "price": \\1}',
    )
    ends = TextMentionTermination("TERMINATE") | MaxMessageTermination(8)
    return SelectorGroupChat([clerk, booker], model_client=model(), termination_condition=ends)
