# %% setup
import math
import torch
import torch.nn.functional as F

# %% wrong: the keys' note is taken out before the norm, but divided by the size of the whole stream
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    size = torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps)
    q = (x / size * norm_weight) @ w_q.T
    k = ((x - written) / size * norm_weight) @ w_k.T
    scores = q @ k.transpose(1, 2) / math.sqrt(w_q.shape[0])
    visible = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return scores.masked_fill(~visible, -math.inf).softmax(dim=-1)


# %% wrong: takes the norm of the stream less the norm of the note, as if the norm were linear
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    def norm(stream):
        return stream / torch.sqrt((stream**2).mean(dim=-1, keepdim=True) + eps + 1e-12) * norm_weight

    q = norm(x) @ w_q.T
    k = (norm(x) - norm(written)) @ w_k.T
    scores = q @ k.transpose(1, 2) / math.sqrt(w_q.shape[0])
    visible = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return scores.masked_fill(~visible, -math.inf).softmax(dim=-1)


# %% wrong: the wrong way round, the queries don't see the note and the keys do
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    def norm(stream):
        return stream / torch.sqrt((stream**2).mean(dim=-1, keepdim=True) + eps) * norm_weight

    q = norm(x - written) @ w_q.T
    k = norm(x) @ w_k.T
    scores = q @ k.transpose(1, 2) / math.sqrt(w_q.shape[0])
    visible = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return scores.masked_fill(~visible, -math.inf).softmax(dim=-1)


# %% wrong: takes the note out in place, so queries don't see it either and the stream is changed
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    def norm(stream):
        return stream / torch.sqrt((stream**2).mean(dim=-1, keepdim=True) + eps) * norm_weight

    without = x
    without -= written
    q = norm(x) @ w_q.T
    k = norm(without) @ w_k.T
    scores = q @ k.transpose(1, 2) / math.sqrt(w_q.shape[0])
    visible = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return scores.masked_fill(~visible, -math.inf).softmax(dim=-1)


# %% wrong: softmax over all keys and the later ones set to 0 afterwards, so rows don't sum to 1
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    def norm(stream):
        return stream / torch.sqrt((stream**2).mean(dim=-1, keepdim=True) + eps) * norm_weight

    q = norm(x) @ w_q.T
    k = norm(x - written) @ w_k.T
    scores = q @ k.transpose(1, 2) / math.sqrt(w_q.shape[0])
    return scores.softmax(dim=-1).tril()


# %% wrong: divides by the root of d_model
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    def norm(stream):
        return stream / torch.sqrt((stream**2).mean(dim=-1, keepdim=True) + eps) * norm_weight

    q = norm(x) @ w_q.T
    k = norm(x - written) @ w_k.T
    scores = q @ k.transpose(1, 2) / math.sqrt(x.shape[-1])
    visible = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return scores.masked_fill(~visible, -math.inf).softmax(dim=-1)


# %% wrong: takes x for the stream without the note, and adds the note for the queries
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    def norm(stream):
        return stream / torch.sqrt((stream**2).mean(dim=-1, keepdim=True) + eps) * norm_weight

    q = norm(x + written) @ w_q.T
    k = norm(x) @ w_k.T
    scores = q @ k.transpose(1, 2) / math.sqrt(w_q.shape[0])
    visible = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return scores.masked_fill(~visible, -math.inf).softmax(dim=-1)


# %% two mistakes: the raw note is taken out after the norm; and the scores aren't divided by the root
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    read = x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps) * norm_weight
    q = read @ w_q.T
    k = (read - written) @ w_k.T
    scores = q @ k.transpose(1, 2)
    visible = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return scores.masked_fill(~visible, -math.inf).softmax(dim=-1)


# %% right: attention over an identity as values gives back the weights
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    B, L, d_model = x.shape
    q = F.linear(F.rms_norm(x, (d_model,), norm_weight, eps), w_q)
    k = F.linear(F.rms_norm(x - written, (d_model,), norm_weight, eps), w_k)
    values = torch.eye(L, dtype=x.dtype).expand(B, L, L)
    return F.scaled_dot_product_attention(q, k, values, is_causal=True)


# %% right: one query at a time, with only the keys that it may see
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    def norm(vector):  # (d_model,)
        return vector / math.sqrt(float((vector @ vector) / len(vector)) + eps) * norm_weight

    B, L, _ = x.shape
    weights = torch.zeros_like(x @ x.transpose(1, 2))
    for b in range(B):
        keys = torch.stack([w_k @ norm(x[b, j] - written[b, j]) for j in range(L)])
        for i in range(L):
            query = w_q @ norm(x[b, i])
            scores = keys[: i + 1] @ query / w_q.shape[0] ** 0.5
            weights[b, i, : i + 1] = torch.softmax(scores, dim=0)
    return weights


# %% right: the head as one QK matrix with the norm's weight inside, the sizes divided out last, softmax by logsumexp
def attention_with_cut_path(x, written, norm_weight, eps, w_q, w_k):
    qk = (w_q * norm_weight).T @ (w_k * norm_weight) * len(w_q) ** -0.5
    rest = x - written
    scores = torch.einsum("bid,de,bje->bij", x, qk, rest)
    scores = scores / (x.square().mean(-1) + eps).sqrt()[:, :, None]
    scores = scores / (rest.square().mean(-1) + eps).sqrt()[:, None, :]
    later = torch.arange(x.shape[1])[:, None] < torch.arange(x.shape[1])
    scores = scores + torch.zeros(later.shape).masked_fill(later, -math.inf)
    return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
