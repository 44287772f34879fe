"""A Swarm: the desk hands over to whoever gives refunds, who hands back."""

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.teams import Swarm
from autogen_model import model


async def refund(amount: int) -> str:
    """Pays money back."""
    return f"refunded {amount}"


refund.effect = "compensable"


def build():
    desk = AssistantAgent(
        "Desk",
        model(),
        handoffs=["Refunds"],
        description="Talks to customers.",
        system_message="WHEN ANY /refunded (\\d+)/ SAY You have your \\1 back. TERMINATE\n"
        "WHEN ANY /refused/ SAY We cannot help. TERMINATE\n"
        "WHEN LAST /(.+)/ CALL transfer_to_refunds",
    )
    refunds = AssistantAgent(
        "Refunds",
        model(),
        tools=[refund],
        handoffs=["Desk"],
        description="Gives refunds.",
        system_message='WHEN LAST /(refunded|refused)/ CALL transfer_to_desk\nWHEN ANY /paid (\\d+)/ CALL refund {"amount": \\1}',
    )
    return Swarm([desk, refunds], termination_condition=TextMentionTermination("TERMINATE") | MaxMessageTermination(12))
