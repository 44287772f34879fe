"""An OpenAI-shaped model on a local port whose answers are computed from the request, tool calls included. `python model_server.py [PORT]`.

It reads like a very literal colleague: the system prompt says what it is (`You solve`, `You check`, `You look up`, ...), the conversation
says what is asked, and the answer follows from both. It keeps nothing between requests, so equal requests get equal answers.
"""

import ast
import contextlib
import hashlib
import json
import operator
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def text_of(message):
    """The text of a message, parts joined."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content if isinstance(part, dict))


def evaluate(expression):
    """A sum as a person would work it out; None if it is none."""

    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(expression)

    try:
        return value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def number(value):
    """Without a superfluous fraction."""
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"


def boxed(text):
    """The last boxed number; none if there is none."""
    found = re.findall(r"boxed\{([\d.]+)\}", text)
    return found[-1] if found else None


def distance(text):
    """Speed and time of a question about a journey, the last that are named."""
    speed = re.findall(r"([\d.]+) ?km/h", text)
    hours = re.findall(r"([\d.]+) ?h(?:ours?)?\b", text)
    return (float(speed[-1]), float(hours[-1])) if speed and hours else None


def solve(heard):
    """A journey's length. The mistake it makes: it takes the first speed for a wind-slowed one unless told to check."""
    journey = distance(heard)
    if journey is None:
        return "I see no journey here. \\boxed{0}"
    speed, hours = journey
    return f"The distance is {number(speed)} * {number(hours)}. \\boxed{{{number(speed * hours)}}}"


def wanted_tool(tools, messages):
    """The call that the last question asks for; none if its answer is there already."""
    names = {tool["function"]["name"] for tool in tools}
    asked = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=0)
    if any(m["role"] == "tool" for m in messages[asked:]):
        return None
    heard = "\n".join(text_of(m) for m in messages if m["role"] != "system")
    if "price" in names or "lookup_price" in names:
        name = "price" if "price" in names else "lookup_price"
        item = re.findall(r"(?:price of|\d+) (?:item )?'?(\w+?)s?'?\b", heard)
        return (name, {"item": item[-1]}) if item else None
    if "compute" in names:
        sums = re.findall(r"[\d.]+(?: ?[*+/-] ?[\d.]+)+", heard)
        return ("compute", {"expression": sums[-1]}) if sums else None
    if "book" in names:
        total = boxed(heard)
        return ("book", {"total": float(total)}) if total else None
    return None


def reply(body):
    """The assistant's message for a request."""
    messages, tools = body["messages"], body.get("tools") or []
    prompt = " ".join(text_of(m) for m in messages if m["role"] in ("system", "developer")).lower()
    said = [m for m in messages if m["role"] not in ("system", "developer")]
    heard = "\n".join(text_of(m) for m in said)
    call = wanted_tool(tools, messages) if tools else None
    if call:
        return {"content": None, "tool": call}
    last = text_of(said[-1]) if said else ""
    if "select the next role" in heard.lower() or "read the above conversation" in last.lower():
        roles = re.findall(r"from \[(.*?)\]", last + prompt)
        return {"content": roles[-1].split(",")[0].strip("' ") if roles else "nobody"}
    if said and said[-1]["role"] == "tool":
        return {"content": f"The tool says {last}. \\boxed{{{(re.findall(r'[0-9.]+', last) or ['0'])[-1].rstrip('.')}}}"}
    if "you solve" in prompt:
        return {"content": solve(heard)}
    if "you write code" in prompt:
        sums = re.findall(r"[\d.]+(?: ?[*+/-] ?[\d.]+)+", heard)
        output = re.findall(r"(?:code output|output):\s*([\d.]+)", heard, re.I)
        if output:
            return {"content": f"The code printed {output[-1]}. \\boxed{{{number(float(output[-1]))}}} TERMINATE"}
        journey = distance(heard)
        expression = sums[-1] if sums else " * ".join(map(number, journey)) if journey else "0"
        return {"content": f"Let us run it.\n```python\nprint({expression})\n```"}
    if "you add up" in prompt:
        parts = [float(found) for found in re.findall(r"boxed\{([\d.]+)\}", heard)]
        return {"content": f"Together {number(sum(parts))}. \\boxed{{{number(sum(parts))}}}"}
    if "you check" in prompt:
        return {"content": f"Checked. FINAL \\boxed{{{boxed(heard) or '0'}}}"}
    digest = hashlib.sha256(heard.encode()).hexdigest()[:6]
    return {"content": f"Noted {len(said)} messages ({digest}). \\boxed{{{boxed(heard) or '0'}}}"}


class Handler(BaseHTTPRequestHandler):
    """Chat completions, whole or streamed."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Says nothing."""

    def do_GET(self):
        """The one model there is."""
        self._json({"object": "list", "data": [{"id": "literal", "object": "model"}]})

    def do_POST(self):
        """A completion."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/chat/completions"):
            return self._json({"error": {"message": f"there is no {self.path} here"}}, 404)
        said = reply(body)
        digest = hashlib.sha256(json.dumps(body["messages"], sort_keys=True).encode()).hexdigest()[:16]
        message, finish = {"role": "assistant", "content": said["content"]}, "stop"
        if said.get("tool"):
            name, arguments = said["tool"]
            function = {"name": name, "arguments": json.dumps(arguments)}
            message["tool_calls"], finish = [{"id": f"call_{digest}", "type": "function", "function": function}], "tool_calls"
        head = {"id": f"chatcmpl-{digest}", "created": 1700000000, "model": body.get("model", "literal")}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        if body.get("stream"):
            return self._stream(head, message, finish, usage)
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return self._json({**head, "object": "chat.completion", "choices": [choice], "usage": usage})

    def _stream(self, head, message, finish, usage):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        calls = [{**call, "index": i} for i, call in enumerate(message.get("tool_calls", []))]
        delta = {**message, **({"tool_calls": calls} if calls else {})}
        head = {**head, "object": "chat.completion.chunk"}
        for chunk in (
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {"choices": [], "usage": usage},
        ):
            self.wfile.write(b"data: " + json.dumps({**head, **chunk}).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _json(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def serve(port=0):
    """A server on a free port; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    with serve(int(sys.argv[1]) if len(sys.argv) > 1 else 0) as url:
        print(url, flush=True)
        threading.Event().wait()
