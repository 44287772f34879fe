"""AG2 classic teams over a local model: a group chat with tools, and a maths dialogue with a code executor."""

import os
import tempfile

from autogen import AssistantAgent, ConversableAgent, GroupChat, GroupChatManager, UserProxyAgent
from autogen.coding import LocalCommandLineCodeExecutor

LLM = {"config_list": [{"model": "literal", "api_key": os.environ["OPENAI_API_KEY"], "base_url": os.environ["MODEL_URL"], "price": [0, 0]}], "cache_seed": None, "temperature": 0}


def price(item: str) -> str:
    """Looks an item's price up."""
    return {"widget": "10", "gadget": "4"}.get(item, "0")


price.effect = "read_only"


def book(total: float) -> str:
    """Books an order."""
    return f"booked {total}"


book.effect = "permanent"


def group():
    """Five in a round: who asks, who looks up, who runs the tools, who reckons, who checks."""
    user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False, default_auto_reply="go on")
    buyer = AssistantAgent("buyer", system_message="You look up prices.", llm_config=LLM)
    tools = ConversableAgent("tools", human_input_mode="NEVER", llm_config=False)
    solver = AssistantAgent("solver", system_message="You solve journeys.", llm_config=LLM)
    verifier = AssistantAgent("verifier", system_message="You check.", llm_config=LLM)
    buyer.register_for_llm(name="price", description="Looks a price up.")(price)
    tools.register_for_execution(name="price")(price)
    tools.register_for_execution(name="book")(book)
    chat = GroupChat([user, buyer, tools, solver, verifier], messages=[], max_round=6, speaker_selection_method="round_robin")
    return user, GroupChatManager(chat, llm_config=LLM)


def auto():
    """A group chat whose manager asks the model who speaks next."""
    user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False)
    solver = AssistantAgent("solver", system_message="You solve journeys.", llm_config=LLM)
    verifier = AssistantAgent("verifier", system_message="You check.", llm_config=LLM, description="checks")
    chat = GroupChat([user, solver, verifier], messages=[], max_round=4, send_introductions=True, allow_repeat_speaker=False)
    return user, GroupChatManager(chat, llm_config=LLM, is_termination_msg=lambda message: "FINAL" in (message.get("content") or ""))


def maths():
    """One writes code, the other runs it."""
    writer = AssistantAgent("writer", system_message="You write code.", llm_config=LLM)
    executor = LocalCommandLineCodeExecutor(work_dir=tempfile.mkdtemp(prefix="maths-"))
    runner = UserProxyAgent(
        "runner", human_input_mode="NEVER", code_execution_config={"executor": executor},
        is_termination_msg=lambda message: "TERMINATE" in (message.get("content") or ""),
    )  # fmt: skip
    return runner, writer


def turns():
    """The same with a limit of turns."""
    return *maths(), {"max_turns": 3}
