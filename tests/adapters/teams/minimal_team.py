"""Two agents that count a basket's price together, one of them with tools. No model: what they say is computed from what they heard."""

import re

from dover_adapter.minimal import Team

PRICES = {"widget": 10.0, "gadget": 4.0}


def price(item: str) -> float | str:
    """Looks an item up."""
    return PRICES.get(item, "unknown item")


price.effect = "read_only"


def book(total: float) -> str:
    """Books an order: an effect in the world."""
    return f"booked {total}"


book.effect = "permanent"


def clerk(memory: list, use) -> str:
    """Looks prices up; reads the item from what was heard last."""
    print("the clerk prints on standard output")  # must not harm the protocol
    heard = memory[-1]["content"]
    wanted = re.search(r"(\d+) (\w+?)s?\b", heard)
    if not wanted:
        return f"I have no question. I heard: {heard}"
    return f"{wanted[1]} at {use('price', item=wanted[2])} each"


def cashier(memory: list, use) -> str:
    """Multiplies; remembers how often it was asked."""
    turns = sum(1 for heard in memory if " each" in heard["content"])
    said = re.search(r"(\d+) at ([\d.]+) each", memory[-1]["content"])
    total = int(said[1]) * float(said[2]) if said else 0.0
    return f"turn {turns}: the total is {total}; " + str(use("book", total=total)) + f"; next 2 gadgets, order {turns}"


def build() -> Team:
    """The team of this file."""
    return Team({"Clerk": clerk, "Cashier": cashier}, rounds=4, tools={"price": price, "book": book})
