# %% setup
RIGHT = {
    0: [0.62, 0.60, 0.64, 0.61, 0.63],
    0.05: [0.63, 0.61, 0.64, 0.61, 0.64],
    0.1: [0.63, 0.61, 0.65, 0.62, 0.64],
    0.2: [0.63, 0.62, 0.65, 0.62, 0.64],
    0.4: [0.62, 0.61, 0.65, 0.61, 0.64],
}
SURE = {
    0: [0.85, 0.84, 0.86, 0.85, 0.86],
    0.05: [0.75, 0.74, 0.76, 0.75, 0.76],
    0.1: [0.66, 0.65, 0.67, 0.66, 0.67],
    0.2: [0.54, 0.53, 0.55, 0.54, 0.55],
    0.4: [0.36, 0.35, 0.37, 0.36, 0.37],
}


def mean(numbers):
    return sum(numbers) / len(numbers)


def filled(right=RIGHT, sure=SURE, **other):
    results = {("right", s): v for s, v in right.items()} | {("sure", s): v for s, v in sure.items()}
    gaps = {s: abs(mean(sure[s]) - mean(right[s])) for s in RIGHT}
    results["closest"] = min(gaps, key=gaps.get)
    results["fall"] = mean(sure[0]) - mean(sure[0.4])
    results["gain"] = mean([b - a for a, b in zip(right[0], right[0.4])])
    results["what changes more"] = "how sure it is"
    return results | {name.replace("_", " "): value for name, value in other.items()}


# %% wrong: the fall has the wrong sign
smoothing_results = filled(fall=mean(SURE[0.4]) - mean(SURE[0]))


# %% wrong: closest is the smoothing that is most often right, not the one where sure and right agree
smoothing_results = filled(closest=0.2)


# %% wrong: the mean was put in for each list of five
smoothing_results = filled() | {("right", s): mean(v) for s, v in RIGHT.items()}


# %% wrong: says that how often it is right changes more
smoothing_results = filled(what_changes_more="how often it is right")


# %% wrong: "right" and "sure" are exchanged in all lists, as if the two were returned the other way round; what is read off follows
smoothing_results = filled(right=SURE, sure=RIGHT)


# %% wrong: the runs with 0.05 are missing
smoothing_results = {key: value for key, value in filled().items() if key[1] != 0.05}


# %% wrong: the gain is not paired less but its size at 0.1, the best smoothing
smoothing_results = filled(gain=mean([b - a for a, b in zip(RIGHT[0], RIGHT[0.1])]))


# %% wrong: all shares in percent, and so the fall and the gain
smoothing_results = filled(
    {s: [100 * x for x in v] for s, v in RIGHT.items()}, {s: [100 * x for x in v] for s, v in SURE.items()}
)


# %% right: as measured, rounded to two places
smoothing_results = filled()


# %% right: tuples in place of lists, and rounded answers
smoothing_results = filled(
    {s: tuple(v) for s, v in RIGHT.items()}, {s: tuple(v) for s, v in SURE.items()}, fall=0.49, gain=0.006
)
