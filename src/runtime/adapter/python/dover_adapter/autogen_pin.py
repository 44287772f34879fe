"""What an AutoGen AgentChat team is made of: for a person to read, and for a fork to be held to.

`dump_component()` says most of it: models, prompts, the source of tools, conditions. What it leaves out is added: the functions that a team
is given (a selector's, for one), settings that a condition's dump forgets, the classes behind the names. A part that cannot be dumped is pinned by its class and source.

Not here: secrets (core takes them out), state (autogen_state).
"""

import hashlib
import inspect
import logging
import textwrap
import warnings

from autogen_agentchat.teams import BaseGroupChat

from .autogen_state import FULL, KNOWN_TEAMS, PARTIAL, conditions, fidelity, inside, plain, settings, tool_schemas, tools_of
from .core import effect_of


def load_component(exported):
    """A team exported as JSON. A key that was masked in the export is left to the environment."""
    if exported.get("component_type") != "team":
        raise ValueError("it is no exported team: its component_type is not `team`. Export one with team.dump_component()")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that tools are made from source is why a person opens it
            return BaseGroupChat.load_component(_without_masked(exported))
    except Exception as error:  # a component's maker may raise anything
        raise ValueError(f"the exported team cannot be made: {type(error).__name__}: {error}") from error


def _without_masked(value):
    if isinstance(value, dict):
        masked = {name for name, held in value.items() if isinstance(held, str) and len(held) > 3 and set(held) == {"*"}}
        return {name: _without_masked(held) for name, held in value.items() if name not in masked}
    if isinstance(value, list):
        return [_without_masked(held) for held in value]
    return value


async def pinned(team):
    """The configuration of a team. To be asked before anything in it is replaced."""
    return {
        "team": configuration(team),
        "classes": {path or team.name: _class(part) for path, part in inside(team)},
        "functions": dict(_functions(team)),
        "conditions": {path: settings(condition) for path, condition in conditions(team)},
        "tools": {path: await tool_schemas(part) for path, part in inside(team) if tools_of(part)},
    }


def configuration(part):
    """A part as AutoGen dumps it; else by its class, its source, and what is inside it."""
    logger = logging.getLogger("autogen_core")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(part.dump_component().model_dump(mode="json"))[0]
    except Exception as error:  # each part may refuse in a way of its own
        logger.debug("%s cannot be dumped: %s", _class(part), error)
    told = {"class": _class(part), "source": _source(type(part))}
    for name in ("name", "description", "_max_turns", "_system_messages", "_selector_prompt", "_final_answer_prompt"):
        if hasattr(part, name):
            told[name.strip("_")] = plain(getattr(part, name))[0] if not callable(getattr(part, name)) else None
    parts = [getattr(part, name, None) for name in ("_model_client", "_termination_condition", "_team", "_wrapped_agent")]
    parts += [*getattr(part, "_conditions", ()), *getattr(part, "_participants", ()), *tools_of(part)]
    told["parts"] = [configuration(inner) for inner in parts if inner is not None]
    return told


def _functions(team):
    """The source of every function that an agent, a team or a condition was given."""
    owners = [(path or team.name, part) for path, part in inside(team)]
    owners += [(f"termination/{path}", condition) for path, condition in conditions(team)]
    for path, owner in owners:
        for name, held in vars(owner).items():
            if inspect.isfunction(held) or inspect.ismethod(held):
                yield f"{path}.{name.strip('_')}", _source(held)


def _source(thing):
    """A digest of source text; of the name where there is no text (a class made in a shell)."""
    try:
        text = textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError):
        text = getattr(thing, "__qualname__", repr(type(thing)))
    return hashlib.sha256(text.encode()).hexdigest()


def _class(part):
    return f"{type(part).__module__}.{type(part).__qualname__}"


def topology(team):
    """How a team is built, in a line."""
    inner = [f"{part.name} ({topology(part)})" if isinstance(part, BaseGroupChat) else part.name for part in team._participants]
    return f"{type(team).__name__}: {team._group_chat_manager_name} with {', '.join(inner)}"


def agents(team):
    """The agents of a team and how much of their state can be saved."""
    told = [
        {"name": part.name, "class": type(part).__name__, "description": part.description, "state": fidelity(part)}
        for part in team._participants
    ]
    manager = {"name": team._group_chat_manager_name, "class": team._base_group_chat_manager_class.__name__}
    state = FULL if type(team) in KNOWN_TEAMS else PARTIAL
    return [*told, {**manager, "description": f"Manages the {type(team).__name__}", "state": state}]


async def tools(team):
    """The tools of all agents, also of those inside another."""
    told = []
    for _, part in inside(team):
        effects = {tool.name: effect_of(tool) for tool in tools_of(part)}
        for schema in await tool_schemas(part):
            effect = effects.get(schema["name"], "unknown")
            told.append({"agent": part.name, "name": schema["name"], "schema": schema, "effect": effect})
    return told
