"""`make bench`: speed of the switch, part by part, next to BMv2 if it is installed (docs/performance.md)."""
