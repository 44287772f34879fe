"""Teams whose agents hold others: a society of mind around a selector, a filter around an agent, and a graph with parallel nodes."""

from autogen_agentchat.agents import AssistantAgent, MessageFilterAgent, MessageFilterConfig, PerSourceFilter, SocietyOfMindAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import DiGraphBuilder, GraphFlow, RoundRobinGroupChat, SelectorGroupChat
from autogen_model import model


def agent(name):
    return AssistantAgent(name, model(), system_message=f"WHEN LAST /(\\w+)\\W*$/ SAY {name} adds to \\1", description=name)


def build():
    inner = SelectorGroupChat([agent("Left"), agent("Right")], model_client=model(), termination_condition=MaxMessageTermination(2))
    society = SocietyOfMindAgent("Society", team=inner, model_client=model())
    heard = MessageFilterConfig(per_source=[PerSourceFilter(source="user", position="first", count=1)])
    return RoundRobinGroupChat([society, MessageFilterAgent("Filtered", agent("Wrapped"), heard)], max_turns=4)


def build_graph():
    first, left, right, last = (agent(name) for name in ("First", "Left", "Right", "Last"))
    graph = DiGraphBuilder()
    for node in (first, left, right, last):
        graph.add_node(node)
    for before, after in ((first, left), (first, right), (left, last), (right, last)):
        graph.add_edge(before, after)
    return GraphFlow(graph.get_participants(), graph=graph.build())
