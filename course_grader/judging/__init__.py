"""From what was observed to what an answer earns. No student code runs here."""
