# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance


def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)  # (B, d_enc), (B, L_s)
    new_state = cell(torch.cat((embedded, context), dim=-1), state)  # (B, d_state)
    return output(torch.cat((new_state, context, embedded), dim=-1)), new_state, weights

# %% wrong: starts with the right context but still attends after the cell, so features and weights hold the context of the new state and not the one the cell has read
def decode(embedded, state, attend, cell):
    context, _ = attend(state)
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        context, weights = attend(state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
    return torch.stack(features, 1), torch.stack(all_weights, 1)

# %% wrong: attends only once, before the loop, so every step has the context and the weights of the first state
def decode(embedded, state, attend, cell):
    context, weights = attend(state)
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
    return torch.stack(features, 1), torch.stack(all_weights, 1)

# %% wrong: puts the context before the new state in the features
def decode(embedded, state, attend, cell):
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        features.append(torch.cat((context, state), dim=-1))
        all_weights.append(weights)
    return torch.stack(features, 1), torch.stack(all_weights, 1)

# %% wrong: puts the old state, from before the step, into the features instead of the new one
def decode(embedded, state, attend, cell):
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
    return torch.stack(features, 1), torch.stack(all_weights, 1)

# %% wrong: the cell reads [context; embedding] instead of [embedding; context]
def decode(embedded, state, attend, cell):
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)
        state = cell(torch.cat((context, embedded[:, t]), dim=-1), state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
    return torch.stack(features, 1), torch.stack(all_weights, 1)

# %% wrong: stacks the steps in the first axis and reshapes to (B, L_t, ...) instead of transposing, so words and steps are mixed unless B or L_t is 1
def decode(embedded, state, attend, cell):
    B, L_t, _ = embedded.shape
    features, all_weights = [], []
    for t in range(L_t):
        context, weights = attend(state)
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
    return torch.stack(features).reshape(B, L_t, -1), torch.stack(all_weights).reshape(B, L_t, -1)

# %% two mistakes: never hands the new state on, so every step begins from the first state; and returns the steps in the first axis, (L_t, B, ...)
def decode(embedded, state, attend, cell):
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)
        new_state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        features.append(torch.cat((new_state, context), dim=-1))
        all_weights.append(weights)
    return torch.stack(features), torch.stack(all_weights)

# %% right: uses the decoder step of 3.2 with an output that only cuts the embedding off
def decode(embedded, state, attend, cell):
    keep = lambda z: z[..., : z.shape[-1] - embedded.shape[-1]]
    steps = []
    for e in embedded.unbind(dim=1):
        feature, state, weights = decoder_step(e, state, attend, cell, keep)
        steps.append((feature, weights))
    features, weights = zip(*steps)
    return torch.stack(features, dim=1), torch.stack(weights, dim=1)

# %% right: keeps states, contexts and weights in lists of their own and joins states and contexts only at the end
def decode(embedded, state, attend, cell):
    states, contexts, weights = [state], [], []
    for t in range(embedded.size(1)):
        c, w = attend(states[-1])
        contexts.append(c)
        weights.append(w)
        states.append(cell(torch.cat([embedded[:, t, :], c], dim=1), states[-1]))
    joined = torch.cat((torch.stack(states[1:]), torch.stack(contexts)), dim=-1)
    return joined.transpose(0, 1), torch.stack(weights).transpose(0, 1)

# %% right: makes the two result tensors in the first step, filled with zeros, and writes each step into its place
def decode(embedded, state, attend, cell):
    L_t = embedded.shape[1]
    features = all_weights = None
    for t in range(L_t):
        context, weights = attend(state)
        state = cell(torch.hstack((embedded[:, t], context)), state)
        if t == 0:
            d_state, d_enc = state.shape[1], context.shape[1]
            features = state.new_zeros(state.shape[0], L_t, d_state + d_enc)
            all_weights = weights.new_zeros(weights.shape[0], L_t, weights.shape[1])
        features[:, t, :d_state] = state
        features[:, t, d_state:] = context
        all_weights[:, t] = weights
    return features, all_weights
