# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: lets every word of the page take its best word of the question, and adds over the page
def best_matches(queries, keys):
    products = torch.einsum("bid,cjd->bcij", queries, keys)
    return products.amax(dim=-2).sum(dim=-1)

# %% wrong: takes the one best product of question and page, nothing is added up
def best_matches(queries, keys):
    products = torch.einsum("bid,cjd->bcij", queries, keys)
    return products.flatten(2).max(dim=-1).values

# %% wrong: adds up all products, no best one is taken
def best_matches(queries, keys):
    return torch.einsum("bid,cjd->bc", queries, keys)

# %% wrong: the mean over the words of the question in place of the sum
def best_matches(queries, keys):
    products = queries[:, None] @ keys[None].transpose(-1, -2)
    return products.max(dim=-1).values.mean(dim=-1)

# %% wrong: question b meets page b only, as in 1.3
def best_matches(queries, keys):
    n = min(len(queries), len(keys))
    products = queries[:n] @ keys[:n].transpose(1, 2)
    return products.amax(-1).sum(-1)

# %% wrong: pages in the rows, questions in the columns
def best_matches(queries, keys):
    scores = torch.zeros(len(keys), len(queries))
    for c, page in enumerate(keys):
        for b, question in enumerate(queries):
            scores[c, b] = (question @ page.T).amax(dim=1).sum()
    return scores

# %% wrong: lets negative best products count as 0
def best_matches(queries, keys):
    products = torch.einsum("bid,cjd->bcij", queries, keys)
    return products.amax(dim=-1).clamp(min=0).sum(dim=-1)

# %% two mistakes: divides by the lengths; and takes the mean over the words of the question
def best_matches(queries, keys):
    q, k = F.normalize(queries, dim=-1), F.normalize(keys, dim=-1)
    return torch.einsum("bid,cjd->bcij", q, k).amax(dim=-1).mean(dim=-1)

# %% two mistakes: the best word of the question for each word of the page; and pages in the rows
def best_matches(queries, keys):
    products = torch.einsum("cjd,bid->cbji", keys, queries)
    return products.amax(dim=-1).sum(dim=-1)

# %% right: one large matrix product, then cut into question, word, page, word
def best_matches(queries, keys):
    (B_q, L_q, d), (B_k, L_k, _) = queries.shape, keys.shape
    products = queries.reshape(-1, d) @ keys.reshape(-1, d).T
    return products.view(B_q, L_q, B_k, L_k).amax(dim=3).sum(dim=1)

# %% right: loops over questions and pages, each page's words sorted by each product
def best_matches(queries, keys):
    rows = []
    for question in queries:
        row = [F.linear(question, page).sort(dim=-1).values[:, -1].sum() for page in keys]
        rows.append(torch.stack(row))
    return torch.stack(rows)

# %% right: grows the best product word of the page by word of the page
def best_matches(queries, keys):
    best = torch.full((queries.shape[0], keys.shape[0], queries.shape[1]), -torch.inf, dtype=queries.dtype)
    for j in range(keys.shape[1]):
        best = torch.maximum(best, torch.einsum("bid,cd->bci", queries, keys[:, j]))
    return best.sum(2)

# %% wrong: adds the products over the words of the question, then takes the best word of the page
def best_matches(queries, keys):
    return torch.einsum("qid,pjd->qpij", queries, keys).sum(-2).amax(-1)
