"""A RoundRobin whose termination conditions are nested three deep: it ends when both have approved, or at nine messages."""

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination, TimeoutTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_model import model


def agent(name, rules):
    return AssistantAgent(name, model(), description=f"{name} of a text.", system_message=rules)


def build():
    writer = agent("Writer", "WHEN LAST /shorter than (\\d)/ SAY A text of \\1 words\nWHEN LAST /(.+)/ SAY A text of 9 words")
    reviewer = agent("Reviewer", "WHEN LAST /of [1-5] words/ SAY I AGREE\nWHEN LAST /of (\\d) words/ SAY Make it shorter than 5")
    printer = agent("Printer", "WHEN ANY /I AGREE/ SAY IN PRINT\nWHEN LAST /(.+)/ SAY I wait")
    approved = TextMentionTermination("I AGREE", sources=["Reviewer"]) & TextMentionTermination("IN PRINT", sources=["Printer"])
    ends = MaxMessageTermination(9) | (approved | TimeoutTermination(3600))
    return RoundRobinGroupChat([writer, reviewer, printer], termination_condition=ends)


def build_inner():
    """The same with a team among the participants, and a memory that no saved state holds."""
    inner = RoundRobinGroupChat(
        [agent("Drafter", "WHEN LAST /(.+)/ SAY A draft of 4 words"), agent("Polisher", "WHEN LAST /(.+)/ SAY A text of 4 words")],
        termination_condition=MaxMessageTermination(2),
        name="Writers",
        description="Write.",
    )
    reviewer = agent("Reviewer", "WHEN LAST /of [1-5] words/ SAY I AGREE\nWHEN LAST /(.+)/ SAY Make it shorter than 5")
    return RoundRobinGroupChat([inner, reviewer], termination_condition=MaxMessageTermination(12) | TextMentionTermination("I AGREE"))
