"""The AutoGen adapter over the protocol, against real teams and a model that answers from the request.

Run with the interpreter of an environment made from src/runtime/adapter/locks/autogen.txt:

    python tests/adapters/autogen_test.py [-k NAME]

What only AutoGen has: `dover adapter check` walks its teams as those of every framework.
"""

import asyncio
import json
import os
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import rule_model
from autogen_agentchat.messages import BaseChatMessage
from conformance import seal
from driver import HERE, MODULES, Adapter, Refused

sys.path[:0] = [str(MODULES), str(HERE / "teams")]
from dover_adapter.canon import sha256  # noqa: E402

TEAMS = HERE / "teams"
PAINT = "How many tins of paint does a floor of 96 square metres need?"
ENV = {}


def adapter(entry, policy=None, tape=None, decide=None):
    made = Adapter(sys.executable, "autogen", entry, env=ENV, decide=decide)
    try:
        made("initialize", protocol=1, workdir=str(TEAMS), effects_policy=policy or {}, tape=tape)
    except Refused:
        made.kill()
        raise
    return made


def record(run, task):
    """Every checkpoint of a run, and its end."""
    position, checkpoints = run("start", task=task), []
    while position["status"] == "paused":
        checkpoints.append(run("checkpoint"))
        position = run("step")
    return checkpoints, position


def at(checkpoints, **wanted):
    """The first checkpoint whose pending message is like that."""
    return next(it for it in checkpoints if all(it["pending"][name] == value for name, value in wanted.items()))


def sealed(checkpoint):
    """A checkpoint whose values were changed, with digests that fit."""
    for part in checkpoint["state"].values():
        part["fingerprint"] = sha256(part["value"])
    seal(checkpoint)
    return checkpoint


def said(run, kind):
    """What was told between boundaries."""
    return [event["message"] for event in run.events if event["kind"] == "output" and event["message"]["kind"] == kind]


def events(run, kind):
    return [event for event in run.events if event["kind"] == kind]


class MagenticOne(unittest.TestCase):
    ENTRY = "autogen_magentic:build"

    @classmethod
    def setUpClass(cls):
        with adapter(cls.ENTRY) as run:
            cls.checkpoints, cls.end = record(run, PAINT)
            cls.run_ = run

    def fork(self, checkpoint, *ops):
        with adapter(self.ENTRY) as run:
            run("restore", checkpoint=checkpoint)
            applied = run("edit", ops=list(ops))
            return applied, run("resume")["result"]["final"]

    def test_an_edited_instruction_and_taking_it_back(self):
        kinds = [it["pending"]["kind"] for it in self.checkpoints]
        self.assertEqual(kinds, ["task", "plan", "instruction", "message", "instruction", "message", "answer"])
        self.assertEqual(self.end["result"]["final"], "FINAL ANSWER: 16")
        instruction = at(self.checkpoints, kind="instruction")
        self.assertEqual((instruction["pending"]["from"], instruction["pending"]["to"]), ("MagenticOneOrchestrator", "Storekeeper"))
        text = instruction["pending"]["content"]
        better = {"op": "replace_pending", "content": text.replace("wall paint", "floor paint")}
        applied, final = self.fork(instruction, better)
        # In the queue, in the orchestrator's thread, and as the last thing said.
        self.assertEqual(applied["applied"][0]["copies"], 3)
        self.assertEqual(final, "FINAL ANSWER: 8")
        self.assertEqual(self.fork(instruction, better, {"op": "replace_pending", "content": text})[1], "FINAL ANSWER: 16")

    def test_an_author_remembers_the_edited_words(self):
        message = at(self.checkpoints, kind="message")
        with adapter(self.ENTRY) as run:
            run("restore", checkpoint=message)
            run("edit", ops=[{"op": "replace_pending", "content": "A tin covers COVERS=24 square metres"}])
            key = "agents/Storekeeper/memory"
            memory = run("get_state", keys=[key])[key]["value"]["saved"]["llm_context"]["messages"]
            self.assertEqual(memory[-1]["content"], "A tin covers COVERS=24 square metres")
            self.assertEqual(run("resume")["result"]["final"], "FINAL ANSWER: 4")

    def test_a_changed_plan_is_planned_from(self):
        plan = at(self.checkpoints, kind="plan")
        whole = plan["pending"]["content"].replace("wall paint", "floor paint")
        alone = "- Storekeeper: Find the coverage of a tin of floor paint.\n- Surveyor: Divide the area of 96 by the coverage."
        for content, kept in ((whole, whole.split("follow as best as possible:")[1].strip()), (alone, alone)):
            with adapter(self.ENTRY) as run:
                run("restore", checkpoint=plan)
                applied = run("edit", ops=[{"op": "replace_pending", "content": content}])
                self.assertEqual((applied["pending"]["kind"], applied["pending"]["content"]), ("plan", content))
                # The instruction that was made from the old plan is gone.
                queued = run("queue")
                self.assertEqual([(it["kind"], it["to"]) for it in queued], [("plan", "group"), ("instruction", "Storekeeper"), ("control", "Storekeeper")])
                self.assertIn("floor paint", queued[1]["content"])
                ledger = run("get_state", keys=["orchestrator/ledger"])["orchestrator/ledger"]["value"]
                self.assertEqual((ledger["n_rounds"], ledger["plan"]), (1, kept))
                self.assertEqual(run("resume")["result"]["final"], "FINAL ANSWER: 8")
        later = at(self.checkpoints, kind="message")
        applied, final = self.fork(later, {"op": "set_state", "key": "orchestrator/ledger", "value": {"plan": alone}})
        self.assertEqual((applied["pending"]["kind"], final), ("plan", "FINAL ANSWER: 8"))

    def test_what_is_said_between_boundaries(self):
        calls = [(it["from"], it["tool"]["name"], it["content"]) for it in said(self.run_, "tool_call")]
        self.assertEqual(calls[0], ("Storekeeper", "coverage", '{"paint": "wall paint"}'))
        self.assertEqual(len(said(self.run_, "tool_result")), 2)
        self.assertEqual(said(self.run_, "message"), [])  # each is a boundary and told there
        ledgers = [json.loads(it["content"]) for it in said(self.run_, "ledger")]
        self.assertEqual([it["next_speaker"]["answer"] for it in ledgers[:2]], ["Storekeeper", "Surveyor"])
        answered = events(self.run_, "llm.response")
        self.assertEqual(len(answered), len(events(self.run_, "llm.request")))
        self.assertEqual({it["agent"] for it in answered}, {"MagenticOneOrchestrator", "Storekeeper", "Surveyor"})
        self.assertTrue(all(it["usage"]["prompt_tokens"] > 0 for it in answered))

    def test_another_prompt_is_another_pin(self):
        with tempfile.TemporaryDirectory() as place:
            changed = Path(place) / "autogen_magentic.py"
            changed.write_text((TEAMS / "autogen_magentic.py").read_text().replace("Nothing is known of that", "No idea"))
            with adapter(f"{changed}:build") as run:
                with self.assertRaises(Refused) as refused:
                    run("restore", checkpoint=self.checkpoints[1])
                self.assertEqual(refused.exception.code, -32010)
                self.assertEqual(run("restore", checkpoint=self.checkpoints[1], allow_pin_mismatch=True)["status"], "paused")

    def test_the_saved_state_of_autogen_itself(self):
        with adapter(self.ENTRY) as run:
            run("restore", checkpoint=at(self.checkpoints, kind="message"))
            state = run("export")["state"]
        self.assertEqual(state["type"], "TeamState")
        self.assertEqual(set(state["agent_states"]), {"Storekeeper", "Surveyor", "MagenticOneOrchestrator"})
        # The answer that was pending is no part of it, so the orchestrator asks again, and the run comes to the same end.
        with adapter(self.ENTRY) as run:
            position = run("start", state=state)
            self.assertEqual((position["pending"]["kind"], position["pending"]["to"]), ("instruction", "Storekeeper"))
            self.assertEqual(run("resume")["result"]["final"], "FINAL ANSWER: 16")
        with adapter(self.ENTRY) as run:
            self.assertEqual(run("start", task="Another task", state=state)["pending"]["content"], "Another task")
        for wrong, words in (({"agent_states": {"Ann": {}}}, "another team"), ({"a": 1}, "no saved state"), ([], "no saved state")):
            with adapter(self.ENTRY) as run, self.assertRaises(Refused) as refused:
                run("start", task=PAINT, state=wrong)
            self.assertEqual(refused.exception.code, -32010)
            self.assertIn(words, refused.exception.message)


class SavedState(unittest.TestCase):
    """What is exported is what AutoGen would have saved, had it been stopped there."""

    def go_on(self, entry, task):
        """Exports behind every message but the last; what comes next must be what came next, with dover and without."""
        with adapter(entry) as run:
            checkpoints, end = record(run, task)
        said = [it["pending"]["content"] for it in checkpoints]
        for index, checkpoint in enumerate(checkpoints[:-1]):
            with adapter(entry) as run:
                run("restore", checkpoint=checkpoint)
                state = run("export", commit=True)["state"]
                with self.assertRaises(Refused) as refused:
                    run("step")
                self.assertIn("the run is over", refused.exception.message)
            with self.subTest(entry=entry, behind=said[index]):
                self.assertEqual(self.without_dover(entry, state), said[index + 1])
                with adapter(entry) as run:
                    first = run("start", state=state)["pending"]
                    self.assertEqual((first["kind"], first["content"]), ("control", "goes on from the saved state"))
                    self.assertEqual(run("step")["pending"]["content"], said[index + 1])
        return said, end

    def without_dover(self, entry, state):
        """The first chat message of a team of plain AutoGen that loaded the state."""

        async def run():
            file, factory = entry.split(":")
            team = getattr(__import__(file), factory)()
            await team.load_state(json.loads(json.dumps(state)))
            said = (await team.run()).messages
            return next(message.content for message in said if isinstance(message, BaseChatMessage))

        return asyncio.run(run())

    def test_round_robin(self):
        said, _ = self.go_on("autogen_rounds:build", "Write a text shorter than 4 words")
        self.assertEqual(said[1:], ["A text of 4 words", "I AGREE", "IN PRINT"])

    def test_selector_with_a_tool(self):
        self.go_on("autogen_selector:build", "The fare to Ulm, please")

    def test_magentic_one_has_none_before_its_plan(self):
        with adapter("autogen_magentic:build") as run:
            run("start", task=PAINT)
            with self.assertRaises(Refused) as refused:
                run("export", commit=True)
        self.assertIn("Take a later step", refused.exception.message)

    def test_the_answer_of_a_worker_is_in_it(self):
        with adapter("autogen_magentic:build") as run:
            checkpoints, end = record(run, PAINT)
        with adapter("autogen_magentic:build") as run:
            run("restore", checkpoint=at(checkpoints, kind="message"))
            state = run("export", commit=True)["state"]
        thread = state["agent_states"]["MagenticOneOrchestrator"]["message_thread"]
        self.assertEqual(thread[-1]["content"], at(checkpoints, kind="message")["pending"]["content"])
        with adapter("autogen_magentic:build") as run:
            # The next to be asked, not the same again.
            self.assertEqual(run("start", state=state)["pending"]["to"], "Surveyor")
            self.assertEqual(run("resume")["result"]["final"], end["result"]["final"])

    def test_another_teams_or_versions_state_is_refused(self):
        with adapter("autogen_rounds:build") as run:
            run("start", task="Write")
            good = run("export", commit=True)["state"]
        old = {"type": "TeamState", "agent_states": {f"{name}/7e31": it for name, it in good["agent_states"].items()}}
        other = json.loads(json.dumps(good))
        other["agent_states"]["RoundRobinGroupChatManager"]["type"] = "SwarmManagerState"
        broken = json.loads(json.dumps(good))
        broken["agent_states"]["RoundRobinGroupChatManager"]["message_thread"] = [{"type": "Telegram"}]
        more = {**good, "agent_states": {**good["agent_states"], "Typist": {}}}
        cases = ((old, "of AutoGen 0.4.0"), (other, "another kind of team"), (broken, "cannot load the saved state"), (more, "has Typist"))
        for state, words in cases:
            with self.subTest(words), adapter("autogen_rounds:build") as run:
                with self.assertRaises(Refused) as refused:
                    run("start", state=state)
                self.assertEqual(refused.exception.code, -32010)
                self.assertIn(words, refused.exception.message)
                self.assertNotIn("\n", refused.exception.message)


class Tools(unittest.TestCase):
    ENTRY, TASK = "autogen_selector:build", "A seat to Ulm, please"

    def run_with(self, **settings):
        with adapter(self.ENTRY, **settings) as run:
            run("start", task=self.TASK)
            return run, run("resume")["result"]["final"]

    def test_a_permanent_effect_is_held(self):
        asked = []
        run, final = self.run_with(decide=lambda question: asked.append(question) or {"decision": "run"})
        self.assertEqual([(it["agent"], it["tool"], it["effect"]) for it in asked], [("Booker", "book", "permanent")])
        self.assertEqual(final, "Done: booked there for 20. TERMINATE")
        effects = {it["tool"]: it["disposition"] for it in events(run, "effect.recorded")}
        self.assertEqual(effects, {"fare": "executed", "book": "approved"})

    def test_refused_answered_by_hand_and_from_record(self):
        self.assertEqual(self.run_with(policy={"book": "refuse"})[1], "Nothing was booked. TERMINATE")
        by_hand = {"decision": "answer", "result": "booked by hand"}
        self.assertEqual(self.run_with(decide=lambda _: by_hand)[1], "Done: booked by hand. TERMINATE")
        run, _ = self.run_with()
        recorded = [{name: it[name] for name in ("tool", "args_sha256", "result")} for it in events(run, "effect.recorded")]
        recorded[-1]["result"] = "booked from the record"
        run, final = self.run_with(policy={"book": "answer_from_record"}, tape=recorded)
        self.assertEqual(final, "Done: booked from the record. TERMINATE")
        self.assertEqual(events(run, "effect.recorded")[-1]["disposition"], "replayed")

    def test_streamed_text_comes_in_pieces(self):
        run, _ = self.run_with()
        pieces = [it["text"] for it in events(run, "output.delta") if it["agent"] == "Clerk"]
        self.assertGreater(len(pieces), 2)
        self.assertEqual("".join(pieces), "It costs PRICE=20 next: Booker")

    def test_the_team_is_described(self):
        with adapter(self.ENTRY) as run:
            told = run("describe")
        self.assertEqual(told["topology"], "SelectorGroupChat: SelectorGroupChatManager with Clerk, Booker")
        self.assertEqual([(it["name"], it["state"]) for it in told["agents"]], [("Clerk", "full"), ("Booker", "full"), ("SelectorGroupChatManager", "full")])
        tools = {it["name"]: (it["agent"], it["effect"], list(it["schema"]["parameters"]["properties"])) for it in told["tools"]}
        self.assertEqual(tools, {"fare": ("Clerk", "read_only", ["town"]), "book": ("Booker", "permanent", ["town", "price"])})
        self.assertNotIn("not-a-key", json.dumps(told))


class Queue(unittest.TestCase):
    ENTRY, TASK = "autogen_rounds:build", "Write a text"

    def test_send_insert_and_drop(self):
        with adapter(self.ENTRY) as run:
            run("start", task=self.TASK)
            run("step")
            with self.assertRaises(Refused) as refused:
                run("send", to="Nobody", content="hello")
            self.assertEqual(refused.exception.data["known"], ["Writer", "Reviewer", "Printer", "RoundRobinGroupChatManager", "group"])
            sent = run("send", to="Reviewer", content="hello")["message_id"]
            self.assertEqual([it["to"] for it in run("queue")], ["group", "Reviewer"])
            run("edit", ops=[{"op": "drop", "message_id": sent}])
            self.assertEqual(len(run("queue")), 1)
            # A word to the group before the writer's text is heard by all, and stands in the thread once it is delivered.
            hint = {"op": "insert", "at": 0, "from": "user", "to": "group", "content": "Make it shorter than 4"}
            self.assertEqual(run("edit", ops=[hint])["pending"]["content"], hint["content"])
            thread = "orchestrator/thread"
            before = run("get_state", keys=[thread])[thread]["value"]
            run("step")
            after = run("get_state", keys=[thread, "agents/Printer/inbox"])
            self.assertEqual([it["content"] for it in after[thread]["value"]], [*(it["content"] for it in before), hint["content"]])
            self.assertEqual(after["agents/Printer/inbox"]["value"][-1]["content"], hint["content"])

    def test_what_was_dropped_can_be_said_for_its_author(self):
        with adapter(self.ENTRY) as run:
            run("start", task=self.TASK)
            run("step")
            dropped = run("edit", ops=[{"op": "drop"}])
            self.assertIsNone(dropped["pending"])
            with self.assertRaises(Refused) as refused:
                run("checkpoint")
            self.assertEqual(refused.exception.code, -32001)
            said = {"op": "insert", "from": "Writer", "to": "group", "content": "A text of 4 words"}
            run("edit", ops=[said])
            position = run("step")
            self.assertEqual((position["pending"]["from"], position["pending"]["content"]), ("Reviewer", "I AGREE"))
            self.assertEqual(run("resume")["result"]["final"], "IN PRINT")

    def test_a_run_whose_last_message_was_dropped_says_so(self):
        with adapter(self.ENTRY) as run:
            run("start", task=self.TASK)
            run("step")
            run("edit", ops=[{"op": "drop"}])
            end = run("step")
            self.assertEqual((end["status"], end["result"]["reason"]), ("failed", "stuck"))

    def test_time_spent_at_a_boundary_does_not_count(self):
        entry, key = "autogen_rounds:build_timed", "termination/0.0"
        with adapter(entry) as run:
            run("start", task=self.TASK)
            kept = run("checkpoint")
        kept["state"][key]["value"]["_start_time"] = 59
        with adapter(entry) as run:
            run("restore", checkpoint=sealed(kept))
            time.sleep(1.2)  # longer than what is left: the clock must stand, so there is nothing else to wait for
            self.assertEqual(run("get_state", keys=[key])[key]["value"]["_start_time"], 59)
            self.assertEqual(run("resume")["result"]["reason"], "Maximum number of messages 4 reached, current message count: 4")
        kept["state"][key]["value"]["_start_time"] = 61
        with adapter(entry) as run:
            run("restore", checkpoint=sealed(kept))
            self.assertEqual(run("resume")["result"]["reason"], "Timeout of 60 seconds reached")

    def test_regenerate_asks_the_author_again(self):
        with adapter(self.ENTRY) as run:
            run("start", task=self.TASK)
            with self.assertRaises(Refused) as refused:
                run("edit", ops=[{"op": "regenerate"}])
            self.assertEqual(refused.exception.code, -32040)
            run("checkpoint")
            first = run("step")["pending"]
            again = run("edit", ops=[{"op": "regenerate"}])["pending"]
            self.assertEqual(again["content"], first["content"])
            self.assertNotEqual(again["message_id"], first["message_id"])
            self.assertEqual(run("resume")["status"], "done")


class Odd(unittest.TestCase):
    """Agents of the user's own, teams that end badly, entries that are no team."""

    def test_how_much_of_an_agent_is_saved(self):
        with adapter("autogen_odd:build") as run:
            told = {it["name"]: it["state"] for it in run("describe")["agents"]}
            checkpoints, end = record(run, "Count")
        states = {"Opaque": "opaque", "Saver": "full", "Noted": "partial", "Helped": "partial", "Minded": "full", "RoundRobinGroupChatManager": "full"}
        self.assertEqual(told, states)
        self.assertEqual(end["status"], "done")
        with adapter("autogen_odd:build") as run:
            keys = run("restore", checkpoint=checkpoints[6])["keys"]
            words = {name: keys[f"agents/{name}/memory"] for name in states if name != "RoundRobinGroupChatManager"}
            self.assertEqual(words, {"Opaque": "untested", "Saver": "exact", "Noted": "untested", "Helped": "untested", "Minded": "exact"})
            self.assertEqual({word for key, word in keys.items() if "/memory" not in key}, {"exact"})
            with self.assertRaises(Refused) as refused:
                run("get_state", keys=["agents/Opaque/memory"])
            self.assertEqual(refused.exception.code, -32011)
            with self.assertRaises(Refused) as refused:
                run("edit", ops=[{"op": "set_state", "key": "agents/Opaque/memory", "value": 1}])
            self.assertEqual(refused.exception.code, -32011)
            # An agent's saved state can be set, and it goes on from there.
            run("edit", ops=[{"op": "set_state", "key": "agents/Saver/memory", "value": {"saved": {"turns": 40}, "beside": {}}}])
            position = run("step")
            self.assertEqual((position["pending"]["from"], position["pending"]["content"]), ("Saver", "turn 41"))

    def test_an_agent_that_raises_ends_the_run_and_keeps_its_steps(self):
        with adapter("autogen_odd:build_failing") as run:
            checkpoints, end = record(run, "Count")
        self.assertEqual((end["status"], end["result"]["failed"]), ("failed", "RuntimeError: the abacus broke"))
        self.assertIn("autogen_odd.py", end["result"]["traceback"])
        self.assertEqual([it["pending"]["content"] for it in checkpoints], ["Count", "turn 1", "turn 1", "turn 2"])

    def test_a_condition_that_the_task_meets(self):
        with adapter("autogen_odd:build_ended") as run:
            run("start", task="Count")
            end = run("step")
        self.assertEqual((end["status"], end["result"]["final"]), ("done", None))
        self.assertIn("Maximum number of messages 1", end["result"]["reason"])

    def test_entries_that_are_no_team(self):
        with self.assertRaises(Refused) as refused:
            adapter("autogen_odd:build_agent")
        self.assertEqual(refused.exception.code, -32031)
        self.assertIn("RoundRobinGroupChat([agent], max_turns=1)", refused.exception.message)
        with self.assertRaises(Refused) as refused:
            adapter("autogen_odd:build_running")
        self.assertEqual(refused.exception.code, -32031)
        self.assertIn("runtime.start()", refused.exception.message)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"component_type": "agent"}, file)
            file.flush()
            with self.assertRaises(Refused) as refused:
                adapter(file.name)
            self.assertIn("no exported team", refused.exception.message)

    def test_a_team_exported_as_json(self):
        with adapter("autogen_rounds:build") as run:
            exported = run("describe")["pinned"]["team"]["team"]
            run("start", task="Write a text")
            final = run("resume")["result"]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(exported, file)
            file.flush()
            ENV["OPENAI_API_KEY"] = "not-a-key"  # the one in the export is masked
            with adapter(file.name) as run:
                self.assertEqual(run("describe")["pinned"]["team"]["team"], exported)
                run("start", task="Write a text")
                self.assertEqual(run("resume")["result"]["final"], final["final"])


class Person(unittest.TestCase):
    ENTRY = "autogen_person:build"

    def test_a_person_is_asked_and_answers(self):
        with adapter(self.ENTRY) as run:
            run("start", task="Guess a colour")
            self.assertEqual(run("step")["pending"]["from"], "Guesser")
            kept = run("checkpoint")
            asked = run("step")
            self.assertEqual((asked["status"], asked["request"]["agent"]), ("input", "Person"))
            with self.assertRaises(Refused):
                run("checkpoint")
            run("respond", request_id=asked["request"]["request_id"], value="it is blue")
            self.assertEqual(run("step")["pending"]["content"], "it is blue")
            self.assertEqual(run("step")["pending"]["content"], "So it is blue")
        with adapter(self.ENTRY) as run:
            self.assertEqual(set(run("restore", checkpoint=kept)["keys"].values()), {"exact"})
            asked = run("step")
            run("respond", request_id=asked["request"]["request_id"], value="no, thanks")
            run("step")
            self.assertEqual(run("step")["result"]["final"], "no, thanks")


if __name__ == "__main__":
    server = rule_model.server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["MODEL_URL"] = ENV["MODEL_URL"] = f"http://127.0.0.1:{server.server_address[1]}/v1"
    unittest.main(warnings="ignore")  # the driver leaves pipes to the garbage collector
