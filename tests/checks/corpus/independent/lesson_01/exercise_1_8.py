# %% setup
import torch
import torch.nn.functional as F

# %% wrong: takes the maximum over the words of the question and adds up over the words of the page
def best_matches(queries, keys):
    products = queries[:, None] @ keys[None].transpose(-2, -1)
    return products.max(dim=-2).values.sum(dim=-1)

# %% wrong: treats it as in 1.3, so that question b meets page b only; stops where the batches differ
def best_matches(queries, keys):
    products = queries @ keys.transpose(-2, -1)
    return products.max(dim=-1).values.sum(dim=-1)

# %% wrong: adds up all products of a question with a page
def best_matches(queries, keys):
    return torch.einsum("bid,cjd->bc", queries, keys)

# %% wrong: compares the mean of the question with the mean of the page
def best_matches(queries, keys):
    return queries.mean(dim=1) @ keys.mean(dim=1).T

# %% wrong: starts the search for the best product at 0, so that negative products count as 0
def best_matches(queries, keys):
    scores = torch.zeros(len(queries), len(keys), dtype=queries.dtype)
    for b, question in enumerate(queries):
        for c, page in enumerate(keys):
            for word in question:
                best = torch.tensor(0.0, dtype=queries.dtype)
                for other in page:
                    best = torch.maximum(best, word @ other)
                scores[b, c] += best
    return scores

# %% wrong: takes the mean over the words of the question in the place of the sum
def best_matches(queries, keys):
    products = torch.einsum("bid,cjd->bcij", queries, keys)
    return products.amax(dim=-1).mean(dim=-1)

# %% wrong: returns a row for each page in the place of a row for each question
def best_matches(queries, keys):
    products = torch.einsum("bid,cjd->cbij", queries, keys)
    return products.amax(dim=-1).sum(dim=-1)

# %% wrong: returns the best product of each word and doesn't add them up
def best_matches(queries, keys):
    return torch.einsum("bid,cjd->bcij", queries, keys).max(dim=-1).values

# %% two mistakes: divides the vectors by their lengths; and takes the maximum over the words of the question
def best_matches(queries, keys):
    queries, keys = F.normalize(queries, dim=-1), F.normalize(keys, dim=-1)
    products = torch.einsum("bid,cjd->bcij", queries, keys)
    return products.amax(dim=-2).sum(dim=-1)

# %% two mistakes: takes the mean over the question; and returns a row for each page
def best_matches(queries, keys):
    products = torch.einsum("bid,cjd->cbij", queries, keys)
    return products.amax(dim=-1).mean(dim=-1)

# %% right: two loops over questions and pages, one matrix product each
def best_matches(queries, keys):
    rows = [torch.stack([(q @ k.T).max(dim=1).values.sum() for k in keys]) for q in queries]
    return torch.stack(rows)

# %% right: all words of all questions with all words of all pages in one matrix product
def best_matches(queries, keys):
    (B_q, L_q, d), (B_k, L_k, _) = queries.shape, keys.shape
    flat = queries.reshape(-1, d) @ keys.reshape(-1, d).T
    return flat.view(B_q, L_q, B_k, L_k).amax(dim=3).sum(dim=1)

# %% right: multiplies entry by entry with new axes
def best_matches(queries, keys):
    products = (queries[:, None, :, None] * keys[None, :, None]).sum(dim=-1)
    return products.sort(dim=-1).values[..., -1].sum(dim=-1)
