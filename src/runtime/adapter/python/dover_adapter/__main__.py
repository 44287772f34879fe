"""`python -m dover_adapter NAME ENTRY`: serve one run until `shutdown` or the end of standard input."""

import sys

from .wire import Wire

USAGE = "usage: python -m dover_adapter NAME ENTRY   (NAME: a file of this package; ENTRY: module:factory or file.py[:factory])"


def main() -> int:
    if len(sys.argv) != 3:
        print(USAGE, file=sys.stderr)
        return 2
    wire = Wire.take()  # before anything else is imported: from here on nobody prints on the wire
    from .core import Server

    return Server(wire, name=sys.argv[1], entry=sys.argv[2]).run()


if __name__ == "__main__":
    sys.exit(main())
