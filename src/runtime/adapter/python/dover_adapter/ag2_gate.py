"""The gate of AG2's hub: where a message waits before the hub's write-ahead log, and how it is known that nothing else moves.

Every notice from the hub to an agent is counted until it is handled, every message until it is sent. Once all that is left waits here, the hub
stands still, and what waits are the pending messages.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol

from ag2.network import (
    EV_PACKET, EV_TEXT, BaseHubListener, Deny, Envelope, Hub, LocalLink, NetworkError, NotifyFrame, ReceiptFrame, RuleBasedArbiter,
)  # fmt: skip
from ag2.network.ids import make_id
from ag2.network.transport.local import LocalLinkClient, LocalLinkEndpoint

SPOKEN = {EV_TEXT: "text", EV_PACKET: "body"}
"""What is said to somebody, and where an envelope has its words."""


def words(envelope: Envelope) -> str:
    """What an envelope says."""
    return str(envelope.event_data.get(SPOKEN[envelope.event_type]) or "")


class Withdrawn(NetworkError):
    """What a sender hears whose message was taken back while it waited."""


class Traffic:
    """Who of the hub is under way: agents with notices not handled yet, and messages being sent, without those that wait at the gate."""

    def __init__(self) -> None:
        self._open: Counter = Counter()
        self._held: set = set()
        self._changed = asyncio.Event()

    def begin(self, who: Any) -> None:
        """Something sets out for somebody."""
        self._open[who] += 1

    def end(self, who: Any) -> None:
        """It is done with."""
        self._open[who] -= 1
        self._changed.set()

    def hold(self, who: Any) -> None:
        """They wait at the gate, and what is meant for them waits behind them."""
        self._held.add(who)
        self._changed.set()

    def free(self, who: Any) -> None:
        """They wait no longer."""
        self._held.discard(who)

    def behind(self) -> bool:
        """Whether somebody at the gate has notices that they have not seen."""
        return any(self._open[who] > 1 for who in self._held)

    async def still(self) -> None:
        """Until nobody moves."""
        while any(count and who not in self._held for who, count in self._open.items()):
            self._changed.clear()
            await self._changed.wait()


class Link(LocalLink):
    """The framework's link within a process, every notice counted until it is handled."""

    def __init__(self, hub: Hub, traffic: Traffic) -> None:
        super().__init__(hub)
        self._traffic = traffic

    def client(self) -> LocalLinkClient:
        """A new pair of ends."""
        traffic = self._traffic

        class End(LocalLinkEndpoint):
            async def send_frame(self, frame: Any) -> None:
                if isinstance(frame, NotifyFrame):
                    traffic.begin(frame.recipient_id)
                await super().send_frame(frame)

        class Client(LocalLinkClient):
            async def send_frame(self, frame: Any) -> None:
                await super().send_frame(frame)
                if isinstance(frame, ReceiptFrame):
                    traffic.end(frame.recipient_id)

        parts = (make_id(), asyncio.Queue(), asyncio.Queue())
        self.hub.attach_endpoint(End(*parts))
        return Client(*parts)


@dataclass
class Waiting:
    """A message at the gate."""

    message_id: str
    envelope: Envelope
    who: Any = None
    """Who stands still with it, as the traffic has them."""
    go: asyncio.Event = field(default_factory=asyncio.Event)
    withdrawn: bool = False


class Keeper(Protocol):
    """Who decides at the gate."""

    async def admitted(self, envelope: Envelope) -> bool:
        """Holds a message until it is committed (True) or taken back."""

    def ends_with(self, envelope: Envelope) -> bool:
        """Whether this message is the run's last."""

    def failed(self, agent_id: str, error: BaseException) -> None:
        """Hears of a turn that broke."""


class Gate(RuleBasedArbiter):
    """The hub's rules, and before them the boundary."""

    def __init__(self, keeper: "Keeper") -> None:
        self._keeper = keeper

    async def authorize_send(self, envelope: Envelope, sender: Any, sender_rule: Any, recipients: list) -> Any:
        """Lets a message through when it is committed."""
        if not await self._keeper.admitted(envelope):
            return Deny("the message was taken back by the operator", error=Withdrawn)
        return await super().authorize_send(envelope, sender, sender_rule, recipients)

    async def authorize_dispatch(self, envelope: Envelope, sender: Any, recipient: Any, recipient_rule: Any) -> Any:
        """Tells nobody of the message that the run ends with, so that nobody answers it."""
        if self._keeper.ends_with(envelope):
            return Deny("the run ends with this message")
        return await super().authorize_dispatch(envelope, sender, recipient, recipient_rule)


class Failures(BaseHubListener):
    """Hears of turns that broke; the hub itself goes on without them."""

    def __init__(self, keeper: "Keeper") -> None:
        self._keeper = keeper

    async def on_turn_failed(self, channel_id: str, agent_id: str, envelope_id: str, exc: BaseException) -> None:
        """An agent's turn ended with an exception."""
        self._keeper.failed(agent_id, exc)
