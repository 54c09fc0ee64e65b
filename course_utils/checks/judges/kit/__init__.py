"""What the checks of several exercises need: references made of parts with the faults of these parts, and cases."""
