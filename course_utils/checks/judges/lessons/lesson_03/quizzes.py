"""The quiz questions of lesson 03."""

from ...exercise import Quiz

QUIZZES = {
    "3.7": Quiz("c", {
        "a": "the next sound is not known yet: it is what the step is to find.",
        "b": "that is turned around: the encoder has finished reading, and it is the decoder that asks.",
        "c": "the decoder asks with what it knows so far; every letter answers with a key and offers its state as value.",
        "d": "in this model the state after the step is computed from the context, so it comes too late to ask for it.",
    }),
    "3.8": Quiz("b", {
        "a": "any loss that is computed under teacher forcing has this gap: it is about what the decoder reads.",
        "b": "after one wrong sound the decoder is in a place where training never took it.",
        "c": "it takes the most probable one. Beam search (lesson 11) may find better ones, but that is another gap.",
        "d": "attention needs the decoder's state only, and that is there whoever chose the last sound.",
    }),
}  # fmt: skip
