"""LangGraph teams over a local model: a line of nodes, and one with parallel nodes, tools and a question for a person."""

import os

from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt


def model():
    """The local model."""
    return ChatOpenAI(model="literal", base_url=os.environ["MODEL_URL"], api_key=os.environ["OPENAI_API_KEY"], temperature=0)


def speaker(name, prompt, llm):
    """A node that answers what was said so far."""

    def node(state):
        print(f"{name} speaks")  # standard output is not ours
        answer = llm.invoke([SystemMessage(prompt), *state["messages"]])
        answer.name = name
        return {"messages": [answer]}

    return node


def line():
    """Solver, coder, verifier, one after the other."""
    llm, graph, before = model(), StateGraph(MessagesState), START
    for name, prompt in (("solver", "You solve journeys."), ("second", "You note."), ("verifier", "You check.")):
        graph.add_node(name, speaker(name, prompt, llm))
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph.compile()


@tool
def price(item: str) -> str:
    """Looks an item's price up."""
    return {"widget": "10", "gadget": "4"}.get(item, "0")


price.metadata = {"effect": "read_only"}


@tool
def book(total: float) -> str:
    """Books an order."""
    return f"booked {total}"


book.metadata = {"effect": "permanent"}


def parallel():
    """A buyer with a price tool, two reckoners side by side, one who adds up, and a clerk with a booking tool."""
    llm, graph = model(), StateGraph(MessagesState)
    graph.add_node("buyer", speaker("buyer", "You look up prices.", llm.bind_tools([price])))
    graph.add_node("tools", ToolNode([price]))
    graph.add_node("left", speaker("left", "You check.", llm))
    graph.add_node("right", speaker("right", "You solve.", llm))
    graph.add_node("adder", speaker("adder", "You add up.", llm))
    graph.add_node("clerk", speaker("clerk", "You book.", llm.bind_tools([book])))
    graph.add_node("books", ToolNode([book]))
    graph.add_edge(START, "buyer")
    graph.add_conditional_edges("buyer", tools_condition_of("tools", ["left", "right"]), ["tools", "left", "right"])
    graph.add_edge("tools", "buyer")
    graph.add_edge(["left", "right"], "adder")
    graph.add_edge("adder", "clerk")
    graph.add_conditional_edges("clerk", tools_condition_of("books", [END]), ["books", END])
    graph.add_edge("books", END)
    return graph.compile()


def tools_condition_of(tools, otherwise):
    """To the tools where one is called, else on."""

    def route(state):
        return tools if tools_condition(state) == "tools" else otherwise

    return route


def asking():
    """A node that books and then asks a person: it runs from its top again, and must not book twice."""

    def ask(state):
        booked = book.invoke({"total": 3.0})
        word = interrupt("May I go on?")
        return {"messages": [AIMessage(f"{booked}, and you said {word}", name="ask")]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    return graph


def mutating():
    """A node that changes its input in place beside what it returns."""

    def node(state):
        state["messages"][0].content += " (scribbled on)"
        return {"messages": [AIMessage("done", name="node")]}

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_node("next", lambda state: {"messages": [AIMessage("heard: " + state["messages"][0].content, name="next")]})
    graph.add_edge(START, "node")
    graph.add_edge("node", "next")
    return graph
