"""JSON as it is compared: plain values, their one canonical text (RFC 8785), its SHA-256, and secrets masked.

Nothing here knows a framework or the protocol.
"""

import base64
import dataclasses
import hashlib
import inspect
import json
import os
import re
from decimal import Decimal
from enum import Enum
from json.encoder import encode_basestring
from typing import Any

MASK = "***"
_SECRET_NAME = re.compile(
    r"(^|[_\-.])(api[_-]?key|authorization|passw(or)?d|secret|credentials?|(access|auth|bearer|refresh|id)[_-]?token|token|cookie)$", re.I
)
_SECRET_TEXT = re.compile(r"\b(sk|pk|rk)-[A-Za-z0-9_\-]{12,}|\bBearer\s+[A-Za-z0-9._\-]{8,}|\bgh[pousr]_[A-Za-z0-9]{20,}")


def plain(value: Any) -> Any:
    """The value as JSON can hold it, the same in every process: no addresses, no order of sets, no NaN, no lone surrogates."""
    if value is None or isinstance(value, (bool, int)) and not isinstance(value, Enum):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float):
        return value if value - value == 0 else None  # NaN and infinities have no JSON
    if isinstance(value, dict):
        return {key if type(key) is str else str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=canonical)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    if callable(getattr(value, "model_dump", None)):
        return plain(value.model_dump(mode="json"))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)) or hasattr(value, "__iter__"):
        return [plain(item) for item in value]
    kind = value if isinstance(value, type) or callable(value) else type(value)
    return f"<{getattr(kind, '__module__', '?')}.{getattr(kind, '__qualname__', '?')}>"


def canonical(value: Any) -> str:
    """The canonical text of a plain value."""
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
        return "{" + ",".join(encode_basestring(key) + ":" + canonical(item) for key, item in pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value)


def _number(value: float) -> str:
    """A float as ECMAScript writes it."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    if -6 < point <= 21:
        if point >= len(text):
            text = text.ljust(point, "0")
        elif point > 0:
            text = f"{text[:point]}.{text[point:]}"
        else:
            text = "0." + "0" * -point + text
    else:
        text = text[0] + ("." + text[1:] if len(text) > 1 else "") + f"e{point - 1:+d}"
    return "-" * sign + text


def code_of(function: Any) -> str:
    """What pins a function: its text, or its name where there is no text."""
    try:
        return inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError):
        return str(plain(function))


def sha256(value: Any) -> str:
    """SHA-256 over the canonical text of a value."""
    return hashlib.sha256(canonical(plain(value)).encode("utf-8")).hexdigest()


def masked(value: Any) -> Any:
    """A plain value without secrets: by the name they stand under, by their shape, and by the values of this process's own secret variables."""
    if isinstance(value, dict):
        return {key: MASK if _SECRET_NAME.search(key) and isinstance(item, str) and item else masked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [masked(item) for item in value]
    return masked_text(value) if isinstance(value, str) else value


def masked_text(text: str) -> str:
    """A text without secrets."""
    for name, secret in os.environ.items():
        if len(secret) >= 8 and secret in text and _SECRET_NAME.search(name):
            text = text.replace(secret, MASK)
    return _SECRET_TEXT.sub(MASK, text)
