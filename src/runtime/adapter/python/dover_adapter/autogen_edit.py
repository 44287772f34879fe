"""Edits of what an AutoGen AgentChat team is about to do: over the values of the saved parts, which are then put back.

A message stands in several places: in the queue, in the orchestrator's thread, in the memory of whoever wrote it. An edit touches each.
The plan of Magentic-One is the exception: by the time its message is pending, the next instruction has already been made from it. So a
changed plan clears the queue and lets the orchestrator begin its round again.

Not here: how parts are saved (autogen_state), what is pending (autogen_queue).
"""

import json
import re
import uuid

from autogen_agentchat.messages import TextMessage
from autogen_core import CancellationToken, MessageHandlerContext

from .autogen_queue import AGENT, GROUP, MANAGER, chat_messages

LEDGER, THREAD = "orchestrator/ledger", "orchestrator/thread"


class Conflict(Exception):
    """The message is not pending (any more), or has nothing that could be changed."""


def find(entries, message_id):
    """The index of a pending message."""
    for index, entry in enumerate(entries):
        if message_id == address(entry):
            return index
    raise Conflict(f"message {message_id} is not pending. Pending: {', '.join(map(address, entries)) or 'nothing'}")


def address(entry):
    """The id that a person knows an entry by."""
    messages = chat_messages(entry)
    return messages[-1]["id"] if messages else entry["id"]


def replace(parts, index, content):
    """Gives a pending message another content, wherever it stands. Returns the number of copies."""
    messages = chat_messages(parts["pending"][index])
    if not messages:
        raise Conflict("the pending message carries no content: it only asks an agent to speak. Drop it, or edit another")
    old, author = messages[-1], messages[-1]["source"]
    copies = 0

    def walk(value):
        nonlocal copies
        if isinstance(value, dict):
            if value.get("id") == old["id"] and "content" in value and value is not old:
                value["content"] = recast(value["content"], content)
                copies += 1
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(parts)
    said = old["content"]
    old["content"] = recast(said, content)
    copies += 1
    # In its author's own memory it carries no id: it is the last thing the author said.
    memory = parts.get(f"agents/{author}/memory")
    own = [item for item in _assistant_messages(memory) if item["content"] == (said if isinstance(said, str) else json.dumps(said))]
    if own:
        own[-1]["content"] = content
        copies += 1
    return copies


def recast(old, new):
    """A new text in the shape of the old content."""
    if isinstance(old, list):  # text and images
        return [new, *(item for item in old if not isinstance(item, str))]
    if isinstance(old, dict):  # structured
        return json.loads(new)
    return new


def _assistant_messages(value):
    if isinstance(value, dict):
        if value.get("type") == "AssistantMessage":
            yield value
        for inner in value.values():
            yield from _assistant_messages(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _assistant_messages(inner)


def drop(parts, index):
    """Takes a pending message away, and what its sender keeps of it. Returns the number of copies."""
    entry = parts["pending"].pop(index)
    ids = {message["id"] for message in chat_messages(entry)}
    thread = parts[THREAD]
    kept = [message for message in thread if message.get("id") not in ids]
    parts[THREAD] = kept
    return 1 + len(thread) - len(kept)


def insert(parts, index, content, to, source, participants):
    """Puts a new message before the given one. From a participant who is asked to speak it counts as that one's answer."""
    message = TextMessage(content=content, source=source).dump()
    speakers = parts[LEDGER].get("active_speakers", [])
    if source in participants and source in speakers and to == GROUP:
        body, sender, inserted = {"type": "GroupChatAgentResponse", "name": source, "message": message, "inner": []}, AGENT + source, False
    else:
        body, sender, inserted = {"type": "GroupChatStart", "messages": [message], "output_task_messages": True}, MANAGER, True
    entry = {"id": str(uuid.uuid4()), "sent": "publish", "sender": sender, "to": to, "inserted": inserted, "body": body}
    parts["pending"].insert(index, entry)
    return message["id"]


# The plan of Magentic-One.


def read_plan(manager, text):
    """What an edited plan message changes: task, facts and plan if it keeps the frame of the original, else the plan alone."""
    frame = manager._get_task_ledger_full_prompt("\0task\0", "\0team\0", "\0facts\0", "\0plan\0").strip()
    pattern = re.sub("\0(\\w+)\0", lambda found: f"(?P<{found[1]}>.*?)", re.escape(frame).replace("\\\0", "\0"))
    found = re.fullmatch(pattern, text.strip(), re.DOTALL)
    if found is None:
        return {"plan": text}
    return {name: found[name] for name in ("task", "facts", "plan")}


def is_plan(manager, entry):
    """Whether an entry is the message in which Magentic-One states its plan: its thread begins with it."""
    first = manager._message_thread[0].id if manager._message_thread else None
    return entry["body"]["type"] == "GroupChatAgentResponse" and entry["body"]["name"] == manager._name and address(entry) == first


async def replan(queue, changes, text=None):
    """Gives Magentic-One another task, facts or plan and lets it begin its round again, as it does after a stall.

    `text`: what the message that states the plan is to say, word for word.
    """
    manager = await queue.manager()
    if any(is_plan(manager, entry) for entry in queue.entries()):
        manager._n_rounds = max(0, manager._n_rounds - 1)  # the round begun in the same handler is thrown away
    for name, value in changes.items():
        setattr(manager, f"_{name}", value)
    manager._n_stalls = 0
    if text is not None:

        def once(*_):
            del manager._get_task_ledger_full_prompt
            return text

        manager._get_task_ledger_full_prompt = once
    queue.refill([])
    queue.run_beside(_as(manager, manager._reenter_outer_loop(CancellationToken())))


async def go_on(queue):
    """Lets a Magentic-One whose state was saved in the middle of a run take its next round."""
    manager = await queue.manager()
    queue.run_beside(_as(manager, manager._orchestrate_step(CancellationToken())))


async def _as(manager, work):
    with MessageHandlerContext.populate_context(manager.id):
        return await work
