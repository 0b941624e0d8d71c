"""Grid worlds: their states, what actions do in them, and demonstrations of commands."""
