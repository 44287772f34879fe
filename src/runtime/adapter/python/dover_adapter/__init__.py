"""dover adapters: one process, one run of an agent framework, driven over standard input and output.

`core` is what every adapter shares; a file beside it holds the code of one framework. Start one with `python -m dover_adapter NAME ENTRY`.
"""
