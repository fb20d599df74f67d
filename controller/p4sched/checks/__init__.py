"""The check of a scheduler in a folder of its own."""
