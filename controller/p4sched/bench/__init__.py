"""`make bench`: how fast the switch is, part by part, beside BMv2 where that is installed (docs/performance.md)."""
