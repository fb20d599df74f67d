"""The laws of labs 08 and 09, as the labs describe them.

Each takes parts of itself as arguments: with another part it answers as a function with one mistake does.
"""
