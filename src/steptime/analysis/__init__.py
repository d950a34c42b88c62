"""Numbers from measurements and records, with numpy only: steady state, intervals, verdicts."""
