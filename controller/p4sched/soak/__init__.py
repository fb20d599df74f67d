"""`make soak`: sixteen switches under traffic while all that can fail does, and an account of every packet."""
