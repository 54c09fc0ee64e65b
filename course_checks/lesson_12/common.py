"""What several exercises of lesson 12 share: what is off limits."""

SCORES = (
    *(f"course_utils.metrics.{name}" for name in ("perplexity", "bits_per_symbol", "text_scores")),
    *(
        f"course_utils.training.losses.{name}"
        for name in ("label_smoothing_loss", "teacher_forced_loss", "next_symbol_loss")
    ),
)
