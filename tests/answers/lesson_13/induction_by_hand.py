# %% setup
import math
import torch
import torch.nn.functional as F

# %% wrong: the scores are too small for long strings (the example comes out right)
def induction_by_hand(V):
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    for n in range(V):
        ov_1[V + n, n] = 1.0
        qk_2[n, V + n] = 10.0
        qk_2[n, 0] = 5.0
        if n > 0:
            ov_2[2 * V + n, n] = 1.0
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}


# %% wrong: the start sign is handed on too, so a new letter's answer is token 0
def induction_by_hand(V):
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    ov_1[V : 2 * V, :V] = torch.eye(V)
    qk_2[:V, V : 2 * V] = 60 * torch.eye(V)
    qk_2[:V, 0] = 30.0
    ov_2[2 * V :, :V] = torch.eye(V)
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}


# %% wrong: nothing draws a new letter to the start sign, it answers with a mixture of all
def induction_by_hand(V):
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    ov_1[V : 2 * V, :V] = torch.eye(V)
    qk_2[:V, V : 2 * V] = 100 * torch.eye(V)
    ov_2[2 * V :, :V] = torch.eye(V)
    ov_2[2 * V, 0] = 0.0
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}


# %% wrong: the start sign draws as much as a key that matches
def induction_by_hand(V):
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    ov_1[V : 2 * V, :V] = torch.eye(V)
    qk_2[:V, V : 2 * V] = 50 * torch.eye(V)
    qk_2[:V, 0] = 50.0
    ov_2[2 * V :, :V] = torch.eye(V)
    ov_2[2 * V, 0] = 0.0
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}


# %% wrong: QK is turned between the blocks, the query's note is compared with the key's letter
def induction_by_hand(V):
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    ov_1[V : 2 * V, :V] = torch.eye(V)
    qk_2[V : 2 * V, :V] = 60 * torch.eye(V)
    qk_2[:V, 0] = 30.0
    ov_2[2 * V :, :V] = torch.eye(V)
    ov_2[2 * V, 0] = 0.0
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}


# %% wrong: hands on the key's note, which is the query's own letter once more
def induction_by_hand(V):
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    ov_1[V : 2 * V, :V] = torch.eye(V)
    qk_2[:V, V : 2 * V] = 60 * torch.eye(V)
    qk_2[:V, 0] = 30.0
    ov_2[2 * V :, V : 2 * V] = torch.eye(V)
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}


# %% wrong: draws a new letter to the key whose NOTE is the start sign, which is the first letter
def induction_by_hand(V):
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    ov_1[V : 2 * V, :V] = torch.eye(V)
    qk_2[:V, V : 2 * V] = 60 * torch.eye(V)
    qk_2[1:V, V] = 30.0
    ov_2[2 * V :, :V] = torch.eye(V)
    ov_2[2 * V, 0] = 0.0
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}


# %% two mistakes: multiples of 1 and a half are too small; and the start sign is handed on
def induction_by_hand(V):
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    ov_1[V : 2 * V, :V] = torch.eye(V)
    qk_2[:V, V : 2 * V] = torch.eye(V)
    qk_2[1:V, 0] = 0.5
    ov_2[2 * V :, :V] = torch.eye(V)
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}


# %% right: no rule for the start sign, a note that doesn't match repels and the start sign has no note
def induction_by_hand(V):
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    ov_1[V : 2 * V, :V] = torch.eye(V)
    qk_2[:V, V : 2 * V] = 80 * torch.eye(V) - 40
    ov_2[2 * V :, :V] = torch.diag((torch.arange(V) > 0).float())
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}


# %% right: the notes are written backwards, negative and doubled, and QK reads them so
def induction_by_hand(V):
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    for n in range(V):
        note = 2 * V - 1 - n
        ov_1[note, n] = -2.0
        qk_2[n, note] = -500.0
        qk_2[n, 0] += 500.0
    for n in range(1, V):
        ov_2[2 * V + n, n] = 1.0
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}


# %% right: Kronecker products of a 3 by 3 map of the blocks and a V by V map, and letters other than the start repel
def induction_by_hand(V):
    def between(row, column, inner):
        blocks = torch.zeros(3, 3)
        blocks[row, column] = 1.0
        return torch.kron(blocks, inner)

    same = torch.eye(V)
    letters = same.clone()
    letters[0, 0] = 0.0
    repel = torch.full((V, V), -35.0)
    repel[:, 0] = 0.0
    return {
        "ov_1": between(1, 0, same),
        "qk_2": between(0, 1, 70 * same) + between(0, 0, repel),
        "ov_2": between(2, 0, letters),
    }


# %% wrong: the start sign as a query looks at the letters, in place of the letters at the start sign
def induction_by_hand(V):
    ov_1, qk_2, ov_2 = (torch.zeros(3 * V, 3 * V) for _ in range(3))
    i = torch.arange(V)
    ov_1[V + i, i] = 1
    qk_2[i, V + i] = 40
    qk_2[0, i] = 20
    ov_2[2 * V + i[1:], i[1:]] = 1
    return {"ov_1": ov_1, "qk_2": qk_2, "ov_2": ov_2}
