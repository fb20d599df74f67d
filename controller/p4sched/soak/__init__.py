"""`make soak`: sixteen switches under traffic while links and controllers fail, and an account of every packet."""
