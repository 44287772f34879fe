"""An agent and a person who take turns until the person is content."""

from autogen_agentchat.agents import AssistantAgent, UserProxyAgent
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_model import model


def build():
    guesser = AssistantAgent("Guesser", model(), system_message="WHEN LAST /it is (\\w+)/ SAY So it is \\1\nWHEN LAST /(.+)/ SAY Is it red?")
    return RoundRobinGroupChat([guesser, UserProxyAgent("Person")], termination_condition=TextMentionTermination("thanks") | MaxMessageTermination(9))
