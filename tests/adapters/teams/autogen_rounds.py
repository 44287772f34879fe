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
    ends = MaxMessageTermination(9) | (approved | TextMentionTermination("NEVER"))
    return RoundRobinGroupChat([writer, reviewer, printer], termination_condition=ends)


def build_inner():
    """A team among the participants of another."""
    drafter = agent("Drafter", "WHEN LAST /(\\w+)\\W*$/ SAY A draft on \\1")
    polisher = agent("Polisher", "WHEN LAST /draft on (\\w+)/ SAY A text on \\1")
    writers = RoundRobinGroupChat([drafter, polisher], termination_condition=MaxMessageTermination(2), name="Writers", description="Write.")
    reviewer = agent("Reviewer", "WHEN LAST /text on (\\w+)/ SAY I AGREE on \\1\nWHEN LAST /(.+)/ SAY Write on paper")
    return RoundRobinGroupChat([writers, reviewer], termination_condition=MaxMessageTermination(12) | TextMentionTermination("I AGREE"))


def build_timed():
    """A team that may take a minute."""
    return RoundRobinGroupChat([agent("Writer", "WHEN LAST /(.+)/ SAY More")], termination_condition=TimeoutTermination(60) | MaxMessageTermination(4))
