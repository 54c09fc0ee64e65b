"""What several exercises of lesson 08 share: what is off limits, and what is tried."""

NAMES = "rotary_angles SinusoidalPositions shift_matrix apply_rope RotaryPositions alibi_slopes alibi_bias"
POSITIONS = tuple(f"course_utils.positions.{name}" for name in NAMES.split())
LAST = "query i stands at position i + (L_k - L_q)."
