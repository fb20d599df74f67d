"""The laws of labs 08 and 09, as the labs describe them.

Each law takes parts of itself as arguments. With another part it gives the answers of a function with one mistake.
"""
