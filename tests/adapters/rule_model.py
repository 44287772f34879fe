"""A model server for tests, in the shape of OpenAI's chat completions, that knows no test: it does what the request tells it.

An agent's system message carries rules, one a line, tried from the top:

    WHEN LAST /pattern/ SAY text          the last message matches; \\1 is what the group caught
    WHEN ANY /pattern/ CALL tool {json}   some message matches; the last match counts

The orchestrator of Magentic-One is answered from its own prompts: its plan has a line for each member of the team (`- Name: what it says
of itself`), and every round the next line of whatever plan stands in the thread is given out. A selector gets the member whose name
follows `next:` in the last message, else the first candidate.

Usage: rule_model.py [PORT]   (without one: any; its address is printed)
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RULE = re.compile(r"^WHEN (LAST|ANY) /(.*?)/ (SAY|CALL) (.*)$", re.MULTILINE)


def text(message):
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def by_rules(rules, messages, tools):
    heard = [text(message) for message in messages if message["role"] not in ("system", "developer")]
    for where, pattern, verb, what in rules:
        found = [match for said in (heard[-1:] if where == "LAST" else heard) for match in re.finditer(pattern, said)]
        if not found:
            continue
        filled = found[-1].expand(what)
        if verb == "SAY":
            return {"content": filled}
        name, _, arguments = filled.partition(" ")
        if name in tools:
            return {"call": (name, arguments or "{}")}
    return {"content": f"I do not know what to do with: {heard[-1] if heard else 'nothing'}"}


def orchestrate(messages):
    """Magentic-One's orchestrator; None if this is not one of its prompts."""
    last = text(messages[-1])
    heard = [text(message) for message in messages[:-1]]
    team = re.search(r"assembled the following team:\n\n(.*?)\n\n", last, re.DOTALL)
    if "pre-survey" in last:
        return "1. GIVEN OR VERIFIED FACTS\n" + re.search(r"Here is the request:\n\n(.*?)\n", last)[1]
    if "short bullet-point plan" in last and team:
        return "\n".join(f"- {member}" for member in team[1].splitlines())
    if "update the following fact sheet" in last or "what went wrong on this last run" in last:
        return "- " + heard[0].splitlines()[0]
    if "pure JSON format" in last:
        thread = heard[0] if heard else ""
        lines = re.findall(r"^- (\w+): (.*)$", thread, re.MULTILINE)
        answers = [said for said, message in zip(heard, messages) if message["role"] == "user"]
        done = len(answers) >= len(lines)
        name, what = lines[min(len(answers), len(lines) - 1)] if lines else (re.search(r"select from: (\w+)", last)[1], "Go on")
        known = answers[-1].splitlines()[0] if answers else ""
        facts = {"is_request_satisfied": done, "is_in_loop": False, "is_progress_being_made": True, "next_speaker": name}
        facts["instruction_or_question"] = f"{what} {known}".strip()
        return json.dumps({key: {"reason": "as planned", "answer": value} for key, value in facts.items()})
    if "finalAnswer" in last or "We have completed the task" in last or "output a FINAL ANSWER" in last or "We are working on the following task" in last:
        return "FINAL ANSWER: " + (re.findall(r"RESULT=(\S+)", "\n".join(heard)) or ["unknown"])[-1]
    return None


def select(prompt):
    candidates = re.search(r"select the next role from \[(.*?)\]", prompt)
    if candidates is None:
        return None
    named = re.findall(r"next: (\w+)", prompt)
    names = re.findall(r"\w+", candidates[1])
    return named[-1] if named and named[-1] in names else names[0]


def answer(body):
    """The answer to a request: {content} or {call: (name, arguments)}."""
    messages = body["messages"]
    system = "\n".join(text(message) for message in messages if message["role"] in ("system", "developer"))
    rules = RULE.findall(system)
    if rules:
        return by_rules(rules, messages, [tool["function"]["name"] for tool in body.get("tools") or []])
    for told in (select(system), orchestrate(messages)):
        if told is not None:
            return {"content": told}
    return {"content": f"You said: {text(messages[-1])}"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = answer(body)
        said = told.get("content")
        counted = {"prompt_tokens": sum(len(text(message).split()) for message in body["messages"]), "completion_tokens": len((said or "x").split())}
        usage = {**counted, "total_tokens": sum(counted.values())}
        message, reason = {"role": "assistant", "content": said}, "stop"
        if "call" in told:
            name, arguments = told["call"]
            reason, call_id = "tool_calls", f"call_{len(body['messages'])}"
            message["tool_calls"] = [{"index": 0, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}]
        common = {"id": "chatcmpl-rules", "created": 1700000000, "model": body.get("model", "rules")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self.reply("application/json", json.dumps({**common, "object": "chat.completion", "choices": [choice], "usage": usage}))
        words = re.findall(r"\S+\s*", said or "") if said else []
        deltas = [{"role": "assistant", "content": word} for word in words] if words else [message]
        chunks = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
        chunks.append([{"index": 0, "delta": {}, "finish_reason": reason}])
        lines = [json.dumps({**common, "object": "chat.completion.chunk", "choices": choices}) for choices in chunks]
        lines.append(json.dumps({**common, "object": "chat.completion.chunk", "choices": [], "usage": usage}))
        return self.reply("text/event-stream", "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]))

    def reply(self, kind, whole):
        data = whole.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def server(port=0):
    """A server on a port of this machine, not yet serving."""
    made = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    made.daemon_threads = True
    return made


if __name__ == "__main__":
    made = server(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(f"http://127.0.0.1:{made.server_address[1]}/v1", flush=True)
    made.serve_forever()
