"""Control laws: one module per scheduler, pure functions from counters, clock and configuration to parameters."""
