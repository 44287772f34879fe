"""The AutoGen adapter over the protocol, against real teams and a model that answers from the request.

Run with the interpreter of an environment made from src/runtime/adapter/locks/autogen.txt:

    python tests/adapters/autogen_test.py

The walk is the same for every team: start, checkpoint at every boundary, kill; then restore each checkpoint in a new process, compare it
with the uninterrupted run item by item, and let it run to the same end.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import rule_model

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parents[1] / "src/runtime/adapter/python"
TEAMS = HERE / "teams"


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.data = error["code"], error.get("data", {})


class Adapter:
    """One adapter process. `policy` is for its tools; `answers` are given to questions in order."""

    def __init__(self, entry, policy=None, tape=None, answers=(), env=None):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PYTHON), str(TEAMS)]), "MODEL_URL": MODEL_URL, **(env or {})}
        self.errors = tempfile.TemporaryFile("w+")
        command = [sys.executable, "-m", "dover_adapter", "autogen", entry]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment, cwd=TEAMS)
        self.events, self.count, self.answers = [], 0, list(answers)
        try:
            self.greeting = self("initialize", protocol=1, workdir=str(TEAMS), effects_policy=policy or {}, tape=tape)
        except Refused:
            self.kill()
            raise

    def post(self, method, **params):
        self.count += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        return self.count

    def __call__(self, method, **params):
        wanted = self.post(method, **params)
        while line := self.process.stdout.readline():
            told = json.loads(line)
            if told.get("method") == "event":
                self.events.append(told["params"])
                if told["params"]["kind"] == "input.requested" and self.answers:
                    self.post("respond", request_id=told["params"]["request_id"], value=self.answers.pop(0))
            elif told["id"] == wanted:
                if "error" in told:
                    raise Refused(told["error"])
                return told["result"]
        self.errors.seek(0)
        raise AssertionError(f"the adapter ended during {method}: {self.errors.read()[-2000:]}")

    def of(self, kind):
        return [event for event in self.events if event["kind"] == kind]

    def outputs(self, kind):
        return [event["message"] for event in self.of("output") if event["message"]["kind"] == kind]

    def run(self):
        """To the end; whatever a person is asked is answered from `answers`."""
        position = self("resume")
        while position["status"] == "input":
            position = self("resume")
        return position

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def stable(value):
    """A value without what is made anew by every message: ids and times."""
    if isinstance(value, dict):
        return {name: stable(held) for name, held in value.items() if name not in ("id", "created_at", "message_id", "full_message_id", "call_id")}
    return [stable(held) for held in value] if isinstance(value, list) else value


def record(adapter, task):
    """Every checkpoint of a run, and its end."""
    position, checkpoints = adapter("start", task=task), []
    while position["status"] in ("paused", "input"):
        if position["status"] == "paused":
            checkpoints.append(adapter("checkpoint"))
        position = adapter("step")
    return checkpoints, position


class Walk(unittest.TestCase):
    def walk(self, entry, task, final, least, **settings):
        """Records a run, then restores each of its checkpoints. `least`: how many boundaries there are at least."""
        answers = settings.pop("answers", [])
        with Adapter(entry, answers=answers, **settings) as adapter:
            checkpoints, end = record(adapter, task)
        self.assertEqual(end["status"], "done", end)
        self.assertRegex(end["result"]["final"], final)
        self.assertGreaterEqual(len(checkpoints), least)
        left = [sum(1 for later in checkpoints[at + 1 :] if later["pending"]["from"] == "Person") for at in range(len(checkpoints))]
        for at, checkpoint in enumerate(checkpoints):
            with self.subTest(step=at), Adapter(entry, answers=answers[len(answers) - left[at] :] if left[at] else [], **settings) as fork:
                position = fork("restore", checkpoint=checkpoint)
                self.assertEqual((position["step"], position["pending"]), (at, checkpoint["pending"]))
                self.assertEqual({key: word for key, word in position["keys"].items() if word != "exact"}, {})
                again = fork("checkpoint")
                for key, part in checkpoint["state"].items():
                    self.assertEqual(again["state"][key]["value"], part["value"], key)
                # From here on the fork writes the run's history a second time, item by item.
                for later in checkpoints[at + 1 :]:
                    fork("step")
                    now = fork("checkpoint")
                    self.assertEqual(stable(now["pending"]), stable(later["pending"]))
                    for key, part in later["state"].items():
                        self.assertEqual(stable(now["state"][key]["value"]), stable(part["value"]), f"{key} at step {later['step']}")
                self.assertEqual(fork.run()["result"], end["result"])
        return checkpoints

    def fork(self, entry, checkpoint, ops, **settings):
        """The end of a branch with edits."""
        with Adapter(entry, **settings) as adapter:
            adapter("restore", checkpoint=checkpoint)
            applied = adapter("edit", ops=ops) if ops else None
            return applied, adapter.run()


def at(checkpoints, **wanted):
    """The first checkpoint whose pending message is like that."""
    return next(it for it in checkpoints if all(it["pending"][name] == value for name, value in wanted.items()))


class MagenticOne(Walk):
    ENTRY, TASK = "autogen_magentic:build", "How many tins of paint does a floor of 96 square metres need?"

    def test_walk_edits_and_taking_them_back(self):
        checkpoints = self.walk(self.ENTRY, self.TASK, "^FINAL ANSWER: 16$", 7)
        kinds = [it["pending"]["kind"] for it in checkpoints]
        self.assertEqual(kinds, ["task", "plan", "instruction", "message", "instruction", "message", "answer"])
        instruction = at(checkpoints, kind="instruction")
        self.assertEqual(instruction["pending"]["to"], "Storekeeper")
        text = instruction["pending"]["content"]
        better = text.replace("wall paint", "floor paint")
        applied, end = self.fork(self.ENTRY, instruction, [{"op": "replace_pending", "content": better}])
        # The orchestrator's thread and memory of what was said last, and the queue.
        self.assertEqual((applied["applied"][0]["copies"], applied["pending"]["content"]), (3, better))
        self.assertEqual(end["result"]["final"], "FINAL ANSWER: 8")
        # Taken back, the outcome is the old one again.
        both = [{"op": "replace_pending", "content": better}, {"op": "replace_pending", "content": text}]
        self.assertEqual(self.fork(self.ENTRY, instruction, both)[1]["result"]["final"], "FINAL ANSWER: 16")

    def test_a_changed_plan_is_planned_from(self):
        with Adapter(self.ENTRY) as adapter:
            checkpoints, _ = record(adapter, self.TASK)
        plan = at(checkpoints, kind="plan")
        self.assertIn("Here is the plan to follow", plan["pending"]["content"])
        whole = plan["pending"]["content"].replace("wall paint", "floor paint")
        alone = "- Storekeeper: Find the coverage of a tin of floor paint.\n- Surveyor: Divide the area of 96 by the coverage."
        for content in (whole, alone):
            with Adapter(self.ENTRY) as fork:
                fork("restore", checkpoint=plan)
                applied = fork("edit", ops=[{"op": "replace_pending", "content": content}])
                self.assertEqual(applied["pending"]["kind"], "plan")
                self.assertIn("floor paint", applied["pending"]["content"])
                # The instruction that was made from the old plan is gone.
                queued = [(message["kind"], message["to"]) for message in fork("queue")]
                self.assertEqual(queued, [("plan", "group"), ("instruction", "Storekeeper"), ("control", "Storekeeper")])
                self.assertIn("floor paint", fork("queue")[1]["content"])
                self.assertEqual(fork("get_state", keys=["orchestrator/ledger"])["orchestrator/ledger"]["value"]["n_rounds"], 1)
                self.assertEqual(fork.run()["result"]["final"], "FINAL ANSWER: 8")
        # From a later boundary, by the ledger: the plan begins anew.
        later = at(checkpoints, kind="message")
        ops = [{"op": "set_state", "key": "orchestrator/ledger", "value": {"plan": alone}}]
        applied, end = self.fork(self.ENTRY, later, ops)
        self.assertEqual((applied["pending"]["kind"], end["result"]["final"]), ("plan", "FINAL ANSWER: 8"))

    def test_what_is_said_between_boundaries(self):
        with Adapter(self.ENTRY) as adapter:
            record(adapter, self.TASK)
            calls = [(it["from"], it["tool"]["name"], it["content"]) for it in adapter.outputs("tool_call")]
            self.assertEqual(calls[0], ("Storekeeper", "coverage", '{"paint": "wall paint"}'))
            self.assertEqual(len(adapter.outputs("tool_result")), 2)
            self.assertEqual(adapter.outputs("message"), [])  # each is a boundary and told there
            ledgers = [json.loads(it["content"]) for it in adapter.outputs("ledger")]
            self.assertEqual([it["next_speaker"]["answer"] for it in ledgers[:2]], ["Storekeeper", "Surveyor"])
            asked, answered = adapter.of("llm.request"), adapter.of("llm.response")
            self.assertEqual(len(asked), len(answered))
            self.assertEqual({it["agent"] for it in answered}, {"MagenticOneOrchestrator", "Storekeeper", "Surveyor"})
            self.assertTrue(all(it["usage"]["prompt_tokens"] > 0 for it in answered))

    def test_another_configuration_is_refused(self):
        with Adapter(self.ENTRY) as adapter:
            adapter("start", task=self.TASK)
            checkpoint = adapter("checkpoint")
        changed = Path(tempfile.mkdtemp(dir=TEAMS)) / "autogen_magentic.py"
        try:
            source = (TEAMS / "autogen_magentic.py").read_text()
            changed.write_text(source.replace("Nothing is known of that", "No idea"))
            with Adapter(f"{changed}:build") as fork:
                with self.assertRaises(Refused) as refused:
                    fork("restore", checkpoint=checkpoint)
                self.assertEqual(refused.exception.code, -32010)
                self.assertEqual(fork("restore", checkpoint=checkpoint, allow_pin_mismatch=True)["status"], "paused")
            damaged = json.loads(json.dumps(checkpoint))
            damaged["state"]["orchestrator/ledger"]["value"]["plan"] = "another"
            with Adapter(self.ENTRY) as fork, self.assertRaises(Refused) as refused:
                fork("restore", checkpoint=damaged)
            self.assertEqual(refused.exception.code, -32010)
        finally:
            changed.unlink()
            for left in changed.parent.rglob("*"):
                left.unlink() if left.is_file() else None
            for left in changed.parent.glob("*"):
                left.rmdir()
            changed.parent.rmdir()


if __name__ == "__main__":
    MODEL = rule_model.server()
    MODEL_URL = f"http://127.0.0.1:{MODEL.server_address[1]}/v1"
    threading.Thread(target=MODEL.serve_forever, daemon=True).start()
    unittest.main()
