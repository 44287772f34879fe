"""Loads what a user's team is made by: `module:factory`, `file.py[:factory]`, or a `.json` file that a framework exported.

Whatever goes wrong there is one sentence with its cause: an entry is somebody's program and may do anything, even end the process.
"""

import importlib
import importlib.util
import inspect
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, Sequence

from .wire import NO_ENTRY, RpcError

USUAL_NAMES = ("build", "make", "main_team", "team", "graph", "agents")
"""What is looked for where an entry names no factory."""


async def load(entry: str, usual: Sequence[str] = USUAL_NAMES) -> Any:
    """The object that the entry makes: the factory's result (awaited if need be), or the object itself if it is no function."""
    place, _, name = entry.rpartition(":") if _names_factory(entry) else (entry, "", "")
    if not place:
        raise _refusal(entry, "it names no module. Give module:factory or file.py[:factory]")
    try:
        if place.endswith(".json"):
            return json.loads(Path(place).read_text("utf-8"))
        module = _module(entry, place)
        made = _member(entry, module, name, usual)
        if inspect.isroutine(made) or inspect.isclass(made):
            made = made()
        return await made if inspect.isawaitable(made) else made
    except RpcError:
        raise
    except SystemExit as end:
        raise _refusal(entry, f"it ended the program (sys.exit({end.code!r})){_place(end)}. Guard such calls by `if __name__ == \"__main__\":`") from None
    except BaseException as error:  # noqa: BLE001 - an entry may raise anything
        if isinstance(error, KeyboardInterrupt):
            raise
        raise _refusal(entry, f"{type(error).__name__}: {error}{_place(error)}{_advice(error)}", traceback=traceback.format_exc()) from None


def _names_factory(entry: str) -> bool:
    name = entry.rpartition(":")[2]
    return ":" in entry and name.isidentifier()


def _module(entry: str, place: str) -> Any:
    sys.path.insert(0, os.getcwd())
    if not place.endswith(".py") and os.sep not in place:
        return importlib.import_module(place)
    path = Path(place).resolve()
    if not path.is_file():
        raise _refusal(entry, f"there is no file {path}. Give its path from {os.getcwd()}")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise _refusal(entry, f"{path} is no Python file. Its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # pickles and dataclasses of the entry look their module up by name
    spec.loader.exec_module(module)
    return module


def _member(entry: str, module: Any, name: str, usual: Sequence[str]) -> Any:
    names = [name] if name else list(usual)
    for candidate in names:
        if hasattr(module, candidate):
            return getattr(module, candidate)
    there = sorted(n for n, v in vars(module).items() if inspect.isfunction(v) and v.__module__ == module.__name__)
    wanted = " or ".join(f"`{candidate}`" for candidate in names)
    raise _refusal(entry, f"{module.__name__} has no {wanted}. Its functions: {', '.join(there) or 'none'}")


def _place(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__ and "importlib" not in f.filename]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def _advice(error: BaseException) -> str:
    text = str(error).lower()
    if isinstance(error, ModuleNotFoundError):
        return ". Install it into the Python environment that the adapter runs in, or start where the module can be found"
    if "key" in text and ("api" in text or "credential" in text) or isinstance(error, KeyError) and "KEY" in str(error).upper():
        return ". Set the key in the environment that dover is started from, or let the entry point at a local model"
    return ""


def _refusal(entry: str, why: str, **data: Any) -> RpcError:
    return RpcError(NO_ENTRY, f"the entry {entry} cannot be used: {why}", entry=entry, **data)
