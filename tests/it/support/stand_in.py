"""A small team behind dover's adapter protocol, for tests, in the standard library alone. Usage: stand_in.py MODE [FILE]

The planner names the numbers of the task, the solver adds the numbers of the plan, the checker repeats the sum as the answer: what is
edited on the way changes what comes out. MODE says how the process misbehaves; `good` does not.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import traceback

MODE = sys.argv[1]
FILE = sys.argv[2] if len(sys.argv) > 2 else None
TURNS = [("Planner", "plan"), ("Solver", "message"), ("Checker", "answer")]


class Refused(Exception):
    def __init__(self, code, message, **data):
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def event(kind, **fields):
    say({"method": "event", "params": {"seq": 0, "t": 0, "kind": kind, **fields}})


def digest(value):
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def numbers(text):
    return [int(word) for word in re.findall(r"\d+", str(text))]


class Team:
    def __init__(self):
        self.began = self.restored = False
        self.step = 0
        self.pending = None
        self.memory = {name: [] for name, _ in TURNS}
        self.mails = 0

    def pinned(self):
        pinned = {"agents": [{"name": name, "prompt": f"You are {name}."} for name, _ in TURNS], "max_turns": 3}
        if FILE and MODE == "pin" and os.path.exists(FILE):
            pinned["max_turns"] = 4
        return pinned

    def message(self, who, kind, content):
        own = os.urandom(4).hex() if MODE.startswith("mints") else ""
        return {"message_id": f"m{self.step}{own}", "from": who, "to": "all", "kind": kind, "content": content}

    def position(self):
        if self.pending is None:
            event("run.finished", step=self.step)
            last = self.memory["Checker"][-1]["content"]
            return {"status": "done", "step": self.step, "result": {"final": str(numbers(last)[-1]), "stop": "checked"}}
        event("step.boundary", step=self.step, pending=self.pending)
        return {"status": "paused", "step": self.step, "pending": self.pending}

    def deliver(self):
        for name, memory in self.memory.items():
            if not (MODE == "mints-forgets-later" and self.restored and name == "Planner"):
                memory.append(self.pending)
        last = self.pending["content"]
        self.step += 1
        if self.step > len(TURNS):
            self.pending = None
            return
        who, kind = TURNS[self.step - 1]
        for word in ("I ", "think"):
            event("output.delta", agent=who, text=word)
        if MODE == "mail" and who == "Solver":
            self.mail(who, last)
        if MODE == "asks" and who == "Checker":
            event("input.requested", request_id="p1", agent=who, prompt="How shall I put it?")
            last = self.answer("p1")
        if MODE == "raise" and who == "Checker":
            raise ValueError("the checker has no model")
        found = numbers(last)
        content = {
            "Planner": "Add " + " and ".join(map(str, found)),
            "Solver": f"The sum is {sum(found)}",
            "Checker": (os.urandom(4).hex() + ": " if MODE == "moody" else "") + f"The answer is {found[-1] if found else 'unknown'}",
        }[who]
        self.pending = self.message(who, kind, content)
        # A framework says the message before it sends it on.
        event("output", message=self.pending)
        event("llm.response", step=self.step, usage={"prompt_tokens": 10, "completion_tokens": 2})

    def mail(self, who, last):
        last = str(last)
        args = {"to": "ann", "text": last}
        call = {"agent": who, "tool": "mail", "effect": "permanent", "args_sha256": digest(args), "operation_key": "mail-" + digest(args)[:8]}
        inner = {"from": who, "to": "mail", "tool": {"name": "mail", "arguments": args}}
        event("output", message={**inner, "message_id": f"c{self.step}", "kind": "tool_call", "content": json.dumps(args)})
        event("input.requested", request_id="r1", prompt="May it be sent?", args=args, **call)
        answer = self.answer("r1")
        said = {"run": "sent", "refuse": "not sent", "answer": answer.get("result")}[answer["decision"]]
        if answer["decision"] == "run":
            with open(FILE, "a") as letters:
                letters.write(last + "\n")
            event("effect.recorded", step=self.step, disposition="approved", result=said, **call)
        event("output", message={**inner, "message_id": f"r{self.step}", "kind": "tool_result", "content": said})

    def answer(self, request):
        question = json.loads(sys.stdin.readline())
        assert question["method"] == "respond" and question["params"]["request_id"] == request, question
        say({"id": question["id"], "result": {}})
        return question["params"]["value"]

    def state(self):
        def entry(value, fidelity="full"):
            return {"value": value, "fidelity": fidelity, "revision": len(value) if isinstance(value, list) else 1, "fingerprint": digest(value)}

        state = {f"agents/{name}/memory": entry(memory) for name, memory in self.memory.items()}
        state["pending"] = entry([self.pending] if self.pending else [])
        state["tools/Solver"] = entry([{"name": "mail", "schema": {}}] if MODE == "mail" else [])
        if MODE == "opaque":
            state["agents/Checker/memory"] = entry(None, "opaque")
        return state

    def checkpoint(self):
        if MODE == "die-in-checkpoint" and self.step == 2:
            sys.stdout.write('{"jsonrpc": "2.0", "id": 7, "result": {"format": 1, "state": {"agents/Pl')
            sys.stdout.flush()
            print("out of memory", file=sys.stderr)
            os._exit(9)
        whole = {"format": 1, "adapter": "stand-in", "framework": {"stand-in": "1.0"}, "config_pin": digest(self.pinned()),
                 "step": self.step, "pending": self.pending, "state": self.state()}
        return {**whole, "sha256": "00" if MODE == "unsealed" else digest(whole)}

    def restore(self, checkpoint, allow_pin_mismatch=False):
        if self.began:
            raise Refused(-32012, "a live run is never rewound")
        whole = {name: value for name, value in checkpoint.items() if name != "sha256"}
        if MODE != "unsealed" and digest(whole) != checkpoint.get("sha256"):
            raise Refused(-32010, "the checkpoint's hash is not its own")
        if checkpoint["config_pin"] != digest(self.pinned()) and not allow_pin_mismatch and MODE != "any-pin":
            raise Refused(-32010, "the configuration is not the one that was pinned")
        state = checkpoint["state"]
        self.began = self.restored = True
        self.step, self.pending = checkpoint["step"], checkpoint["pending"]
        for name in self.memory:
            self.memory[name] = list(state[f"agents/{name}/memory"]["value"] or [])
        if MODE == "forgets" and self.memory["Planner"]:
            self.memory["Planner"].pop()
        return {**self.position(), "keys": {name: "exact" for name in state}, "warnings": []}


    def export(self, commit):
        """What the team itself saves: who is in it and what was said."""
        if MODE == "saves-nothing":
            raise Refused(-32040, "there is no saved state of this team")
        said = self.memory["Planner"] + ([self.pending] if commit else [])
        self.pending = None if commit else self.pending
        return {"adapter": "stand-in", "framework": {"stand-in": "1.0"}, "state": {"team": list(self.memory), "said": said}}

    def go_on(self, saved):
        """From what was saved, to whoever speaks next."""
        if not isinstance(saved, dict) or saved.get("team") != list(self.memory):
            raise Refused(-32010, "the saved state is of another team")
        said = saved["said"]
        self.memory = {name: list(said[:-1]) for name in self.memory}
        self.step, self.pending = len(said) - 1, said[-1]
        self.deliver()


team = Team()


def call(method, params):
    if method == "initialize":
        if MODE == "entry":
            raise Refused(-32031, "ModuleNotFoundError: No module named 'team'")
        if MODE == "old":
            return {"protocol": 0}
        return {"protocol": 1, "adapter": "stand-in", "framework": {"stand-in": "1.0"}, "runtime": "python", "capabilities": {}}
    if method == "describe":
        agents = [{"name": name, "class": "Agent", "description": f"The {name}", "state": "full"} for name, _ in TURNS]
        tools = [{"agent": "Solver", "name": "mail", "schema": {}, "effect": "permanent"}] if MODE == "mail" else []
        return {"topology": "in turn", "agents": agents, "tools": tools, "pinned": team.pinned(), "config_pin": digest(team.pinned())}
    if method == "start":
        if MODE == "child":
            child = subprocess.Popen(["sleep", "600"])
            with open(FILE, "w") as pids:
                pids.write(f"{child.pid} {os.getpid()}")
        team.began = True
        if params.get("state") is not None:
            team.go_on(params["state"])
        else:
            team.pending = team.message("user", "task", params["task"])
        return team.position()
    if method == "export":
        return team.export(**params)
    if method == "step":
        if team.pending is None:
            raise Refused(-32001, "the run is over")
        if team.step == 1:
            misbehave()
        team.deliver()
        return team.position()
    if method == "checkpoint":
        return team.checkpoint()
    if method == "queue":
        return [team.pending] * (2 if MODE == "doubles" and team.restored else 1)
    if method == "restore":
        return team.restore(**params)
    if method == "edit":
        for op in params["ops"]:
            if op["op"] != "replace_pending":
                raise Refused(-32040, f"no {op['op']} here")
            if op["message_id"] != team.pending["message_id"]:
                raise Refused(-32013, "it is consumed already")
            if MODE != "deaf":
                team.pending = {**team.pending, "content": op["content"]}
        return {"applied": [{"op": "replace_pending", "copies": 1}], "pending": team.pending}
    raise Refused(-32601, f"no {method} here")


def misbehave():
    if MODE == "junk":
        print("Loading model weights: 3%")
        sys.stdout.flush()
    elif MODE == "huge":
        say({"method": "event", "params": {"kind": "log", "text": "x" * (1 << 20)}})
    elif MODE in ("silent", "child"):
        while True:
            time.sleep(600)
    elif MODE == "die":
        print("Segmentation fault, as it were", file=sys.stderr)
        os._exit(3)
    elif MODE == "new-event":
        event("weather.changed", sky="grey")
        event("log", level="info", text="noted")


if MODE == "exits":
    sys.exit("no licence")
for line in sys.stdin:
    question = json.loads(line)
    if question["method"] == "shutdown":
        say({"id": question["id"], "result": {}})
        break
    try:
        say({"id": question["id"], "result": call(question["method"], question.get("params", {}))})
    except Refused as why:
        say({"id": question["id"], "error": {"code": why.code, "message": why.message, "data": why.data}})
    except Exception as why:
        data = {"traceback": traceback.format_exc()}
        say({"id": question["id"], "error": {"code": -32030, "message": f"{type(why).__name__}: {why}", "data": data}})
