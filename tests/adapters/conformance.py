"""The walk that every adapter must pass: `python conformance.py [--python PY] NAME ENTRY --task TEXT`.

An uninterrupted run is the yardstick. A second run stops at every boundary, saves, and is killed; every checkpoint is restored in a
process of its own and stepped to the end. At every boundary memory and queue must be, item by item, those of the run that was never
restored. Then edits, refusals, and bad input. Exit status 0 when all of it holds; each failure is one line.
"""

import argparse
import copy
import hashlib
import json
import re
import sys
import time

from driver import Adapter, Refused
from model_server import serve

RANDOM = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|call_[A-Za-z0-9]{20,}|\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+(Z|\+00:00)?|\b1[789]\d{8}\.\d+\b")


def same_names(value):
    """The value with random ids and times named by the order of their appearance, so that two runs can be compared."""
    seen = {}
    text = json.dumps(value, sort_keys=True)
    return json.loads(RANDOM.sub(lambda found: seen.setdefault(found[0], f"<{len(seen)}>"), text))


def difference(one, other, place=""):
    """The first place where two values differ; None if they are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            found = difference(one.get(key, "(absent)"), other.get(key, "(absent)"), f"{place}/{key}")
            if found:
                return found
        return None
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return next(filter(None, (difference(a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(one, other)))), None)
    return None if one == other else f"{place}: {str(one)[:160]!r} is not {str(other)[:160]!r}"


class Walk:
    """One adapter and one team, walked through."""

    def __init__(self, options, url):
        self.options, self.failures, self.checks = options, [], 0
        self.env = {"MODEL_URL": url, "OPENAI_API_KEY": "sk-conformance-secret-0123456789", "PYTHONHASHSEED": "random"}
        self.untested = set(options.untested)

    def adapter(self, initialize=True, **more):
        made = Adapter(self.options.python, self.options.name, self.options.entry, env=self.env, **more)
        if initialize:
            made("initialize", protocol=1)
        return made

    def check(self, holds, what):
        self.checks += 1
        if not holds:
            self.failures.append(what)
            print(f"  FAILS {what}", flush=True)

    def refused(self, code, what, call):
        try:
            got = call()
        except Refused as refusal:
            self.check(refusal.code == code, f"{what}: {refusal.code} {refusal.message}, expected {code}")
            return refusal
        self.check(False, f"{what}: was not refused but answered {str(got)[:200]}")

    def stands(self, adapter, position):
        """What is compared at a boundary."""
        if position["status"] != "paused":
            return {"result": position["result"], "step": position["step"]}
        checkpoint = adapter("checkpoint")
        parts = {key: part["value"] for key, part in checkpoint["state"].items() if part["fidelity"] == "full"}
        return {"state": parts, "pending": checkpoint["pending"], "queue": adapter("queue"), "step": checkpoint["step"]}

    def go(self):
        parts = (self.uninterrupted, self.stepped, self.restored, self.edited, self.refusals, self.junk)
        for part in (self.uninterrupted, self.stepped, self.saved) if self.options.saved else parts:
            begun = time.time()
            part()
            print(f"  {part.__name__}: {time.time() - begun:.1f} s", flush=True)
        print(f"{self.options.name} {self.options.entry}: {self.checks} checks, {len(self.failures)} failures")
        return not self.failures

    def uninterrupted(self):
        """A run that nobody stops, started while somebody shouts into its standard output."""
        with self.adapter() as adapter:
            about = adapter("describe")
            self.pin = about["config_pin"]
            adapter("start", task=self.options.task)
            end = adapter("resume")
            self.check(end["status"] == "done", f"an uninterrupted run ends: {end}")
            self.said = [event["pending"] for event in adapter.events if event["kind"] == "step.boundary"]
            self.result = end["result"]
            seqs = [event["seq"] for event in adapter.events]
            self.check(seqs == list(range(1, len(seqs) + 1)), "events are numbered without a gap")
            text = json.dumps([about, adapter.events])
            self.check("sk-conformance-secret" not in text, "no secret is told")
            self.check(adapter.close(), "shutdown ends the process")

    def stepped(self):
        """The same run, stopped and saved at every boundary; then the process is killed."""
        self.checkpoints, self.boundaries = [], []
        with self.adapter() as adapter:
            self.check(adapter("describe")["config_pin"] == self.pin, "the pin is the same in another process")
            position = adapter("start", task=self.options.task)
            while position["status"] == "paused":
                self.check(position["step"] == len(self.checkpoints), f"boundaries are counted from 0: {position['step']}")
                self.checkpoints.append(adapter("checkpoint"))
                self.boundaries.append(self.stands(adapter, position))
                again = self.stands(adapter, position)
                self.check(again == self.boundaries[-1], f"saving changes nothing at step {position['step']}")
                position = adapter("step")
            self.boundaries.append(self.stands(adapter, position))
            said = [event["pending"] for event in adapter.events if event["kind"] == "step.boundary"]
            found = difference(same_names(said), same_names(self.said))
            self.check(not found, f"stopping at every boundary changes the run: {found}")
            self.check(len(self.checkpoints) > 2, f"there are boundaries: {len(self.checkpoints)}")
            for checkpoint in self.checkpoints:
                self.check(queue_first(self.boundaries[checkpoint["step"]]) == checkpoint["pending"], "the queue begins with the pending message")

    def restored(self):
        """Every checkpoint in a new process, then step by step to the end."""
        for checkpoint in self.checkpoints:
            step = checkpoint["step"]
            with self.adapter() as adapter:
                position = adapter("restore", checkpoint=checkpoint)
                inexact = {key: word for key, word in position["keys"].items() if word != "exact" and not any(re.fullmatch(u, key) for u in self.untested)}
                self.check(not inexact, f"restore at {step}: every key is exact, but {inexact}")
                self.check(position["pending"] == checkpoint["pending"], f"restore at {step}: the pending message is there again")
                self.check(not position["warnings"], f"restore at {step}: no warning, but {position['warnings']}")
                while True:
                    found = difference(same_names(self.stands(adapter, position)), same_names(self.boundaries[position["step"]]))
                    self.check(not found, f"restored at {step}, at boundary {position['step']}: {found}")
                    if position["status"] != "paused" or found:
                        break
                    position = adapter("step")

    def saved(self):
        """A state of the framework's own behind every message but the last: what comes next is what came next."""
        said = [(it["pending"]["from"], it["pending"]["content"]) for it in self.checkpoints]
        for step, checkpoint in enumerate(self.checkpoints[:-1]):
            with self.adapter() as adapter:
                adapter("restore", checkpoint=checkpoint)
                state = adapter("export", commit=True)["state"]
                self.refused(-32001, f"a step after the export at {step}", lambda: adapter("step"))
            with self.adapter() as adapter:
                position, heard = adapter("start", state=json.loads(json.dumps(state))), []
                while position["status"] == "paused" and len(heard) < 3:
                    heard.append((position["pending"]["from"], position["pending"]["content"]))
                    position = adapter("step")
                # Some frameworks send the last message again; what was written beside it is in the state with it.
                beside = json.dumps(said[step + 1][1]) in json.dumps(state)
                self.check(beside or said[step + 1] in heard[:2], f"from the state behind {step}: {heard} has not {said[step + 1]}")
        with self.adapter() as adapter:
            adapter("start", task="Another task", state=state)
        for wrong in ([], {}, {"a": 1}, [{"content": "x", "role": "user", "name": "nobody"}], "text"):
            with self.adapter() as adapter:
                self.refused(-32010, f"a state that is {wrong}", lambda: adapter("start", state=wrong))

    def edited(self):
        """Each message rewritten before it is committed; the old text must be nowhere in what comes after."""
        changed = 0
        for checkpoint in self.checkpoints:
            pending, step = checkpoint["pending"], checkpoint["step"]
            if not isinstance(pending["content"], str) or not pending["content"].strip() or pending["kind"] in ("tool_call", "control"):
                continue
            mark = f"[edited {hashlib.sha256(str(step).encode()).hexdigest()[:8]}] 7 gadgets \\boxed{{7}}"
            with self.adapter() as adapter:
                adapter("restore", checkpoint=checkpoint)
                told = adapter("edit", ops=[{"op": "replace_pending", "message_id": pending["message_id"], "content": mark}])
                self.check(told["applied"][0]["copies"] >= 1 and told["pending"]["content"] == mark, f"edit at {step}: {told}")
                position = adapter("checkpoint") and adapter("step")
                state = json.dumps(self.stands(adapter, position)["state"]) if position["status"] == "paused" else json.dumps(position["result"])
                self.check(json.dumps(mark)[1:-1] in state, f"edit at {step}: the new text is in what comes after")
                self.refused(-32013, f"edit of the consumed message of step {step}", lambda: adapter("edit", ops=[{"op": "replace_pending", "message_id": pending["message_id"], "content": "x"}]) if position["status"] == "paused" else adapter_conflict())
                end = adapter("resume") if position["status"] == "paused" else position
                self.check(end["status"] == "done", f"edit at {step}: the run goes on to its end: {end}")
                changed += same_names(end["result"]) != same_names(self.result)
        self.check(changed > 0, "some edit changes the result")

    def refusals(self):
        """What must not be loaded or done."""
        checkpoint = self.checkpoints[1]
        for what, change in DAMAGES.items():
            damaged = copy.deepcopy(checkpoint)
            change(damaged)
            if what != "a hash that does not match":
                seal(damaged)
            with self.adapter() as adapter:
                refusal = self.refused(-32010, what, lambda: adapter("restore", checkpoint=damaged))
                if refusal and what == "another pin":
                    position = adapter("restore", checkpoint=damaged, allow_pin_mismatch=True)
                    self.check(position["status"] == "paused" and len(position["warnings"]) == 1, f"another pin can be allowed: {position.get('warnings')}")
        with self.adapter() as adapter:
            self.refused(-32001, "step before start", lambda: adapter("step"))
            self.refused(-32001, "checkpoint before start", lambda: adapter("checkpoint"))
            adapter("start", task=self.options.task)
            self.refused(-32012, "restore into a run", lambda: adapter("restore", checkpoint=checkpoint))
            self.refused(-32001, "a second start", lambda: adapter("start", task="x"))
            self.refused(-32602, "an unknown op", lambda: adapter("edit", ops=[{"op": "paint"}]))
            self.refused(-32602, "an unknown state key", lambda: adapter("get_state", keys=["no/such"]))
            self.refused(-32602, "an answer to nothing", lambda: adapter("respond", request_id="r99", value="x"))
            keys = [key for key, part in checkpoint["state"].items() if part["fidelity"] == "full"]
            self.check(adapter("get_state", keys=keys[:1]).keys() == {*keys[:1]}, "get_state gives what was asked for")
            # Asked while the run moves: both lines go out before the first is answered.
            moving, restoring = adapter.ask("resume"), adapter.ask("restore", checkpoint=checkpoint)
            self.refused(-32012, "restore while running", lambda: adapter.answer(restoring))
            adapter.answer(moving)
            self.refused(-32001, "step after the end", lambda: adapter("step"))
        with self.adapter() as adapter:
            adapter("start", task=self.options.task)
            moving = adapter.ask("resume")
            pausing = adapter.ask("pause")
            told = {}
            while len(told) < 2:
                heard = adapter.hear()
                if heard and heard["id"] in (moving, pausing):
                    told[heard["id"]] = heard["result"]
            self.check(told[moving]["status"] in ("paused", "done"), f"pause takes effect at the next boundary: {told[moving]}")

    def junk(self):
        """Lines that are no requests; the process goes on."""
        with self.adapter() as adapter:
            for line, code in JUNK:
                adapter.write(line)
                told = adapter.hear()
                while told is None:
                    told = adapter.hear()
                self.check(told.get("error", {}).get("code") == code, f"{line[:40]!r} is answered with {code}: {str(told)[:200]}")
            self.check(adapter("start", task=self.options.task)["status"] == "paused", "junk does no harm")


def queue_first(boundary):
    """The message at the head of the queue."""
    return boundary["queue"][0]


def adapter_conflict():
    """Stands for the refusal where the run is over and nothing can be edited."""
    raise Refused({"code": -32013, "message": "the run is over"})


def seal(checkpoint):
    """Makes the hash right again, as somebody would who changes a checkpoint on purpose."""
    bare = {name: value for name, value in checkpoint.items() if name != "sha256"}
    sys.path.insert(0, str(__import__("driver").MODULES))
    from dover_adapter.canon import sha256

    checkpoint["sha256"] = sha256(bare)


def _agent(checkpoint):
    part = {"value": [], "fidelity": "full", "revision": "0", "fingerprint": hashlib.sha256(b"[]").hexdigest()}
    checkpoint["state"]["agents/Ghost/memory"] = part


DAMAGES = {
    "a hash that does not match": lambda it: it.update(step=it["step"] + 1),
    "another adapter": lambda it: it.update(adapter="other"),
    "another format": lambda it: it.update(format=99),
    "another pin": lambda it: it.update(config_pin="0" * 64),
    "another version": lambda it: it.update(framework={**it["framework"], "ghost-framework": "0.0.1"}),
    "an agent that is not there": _agent,
    "no state": lambda it: it.pop("state"),
    "a fingerprint that does not match": lambda it: next(iter(it["state"].values())).update(fingerprint="0" * 64),
}

JUNK = [
    (b"this is no JSON\n", -32700),
    (b"\xff\xfe\x00\n", -32700),
    (b"[" * 100_000 + b"\n", -32700),
    (b"[1,2,3]\n", -32600),
    (b'{"jsonrpc":"1.0","id":1,"method":"step"}\n', -32600),
    (b'{"jsonrpc":"2.0","id":1}\n', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"step","params":[1]}\n', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"fly"}\n', -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"start","params":{"speed":3}}\n', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"start","params":{"task":7}}\n', -32602),
    (b'"' + b"x" * (64 * 1024 * 1024 + 10) + b'"\n', -32600),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("entry")
    parser.add_argument("--task", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--untested", action="append", default=[], help="a pattern of state keys that this framework cannot save whole")
    parser.add_argument("--saved", action="store_true", help="only whether its exported state is gone on from")
    options = parser.parse_args()
    with serve() as url:
        return 0 if Walk(options, url).go() else 1


if __name__ == "__main__":
    sys.exit(main())
