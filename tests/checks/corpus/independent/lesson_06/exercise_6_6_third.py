# %% setup
import torch


# %% wrong: mends the merging but divides by the root of d_model instead of that of the size of a head
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)
    weights = torch.softmax(heads @ heads.transpose(-2, -1) / d_model**0.5, dim=-1)
    return (weights @ heads).transpose(1, 2).reshape(B, L, d_model), weights


# %% wrong: mends the merging but takes the softmax over the queries, so the columns sum to 1 and the rows do not
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)
    weights = torch.softmax(heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5, dim=-2)
    return (weights @ heads).transpose(1, 2).reshape(B, L, d_model), weights


# %% wrong: avoids the merging by averaging the whole tokens with the mean of the heads' weights, so all heads share one average
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)
    weights = torch.softmax(heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5, dim=-1)
    return weights.mean(dim=1) @ x, weights


# %% wrong: writes the heads side by side into zeros of the default type, so the output for float64 is float32
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    heads = x.view(B, L, num_heads, d_head).transpose(1, 2)
    weights = torch.softmax(heads @ heads.transpose(-2, -1) / d_head**0.5, dim=-1)
    mixed = weights @ heads
    output = torch.zeros(B, L, d_model)
    for h in range(num_heads):
        output[:, :, h * d_head : (h + 1) * d_head] = mixed[:, h]
    return output, weights


# %% right: one head at a time on its slice of the features, outputs joined with cat and weights with stack
def self_attention(x, num_heads):
    outputs, tables = [], []
    for part in x.chunk(num_heads, dim=2):
        tables.append(torch.softmax(torch.bmm(part, part.mT) / part.shape[2] ** 0.5, dim=2))
        outputs.append(torch.bmm(tables[-1], part))
    return torch.cat(outputs, dim=2), torch.stack(tables, dim=1)


# %% right: leaves the heads behind the tokens and contracts with einsum, so that they need only be flattened
def self_attention(x, num_heads):
    heads = x.unflatten(2, (num_heads, -1))
    scores = torch.einsum("bihd,bjhd->bhij", heads, heads) / heads.shape[3] ** 0.5
    weights = scores.log_softmax(dim=3).exp()
    return torch.einsum("bhij,bjhd->bihd", weights, heads).flatten(2), weights
