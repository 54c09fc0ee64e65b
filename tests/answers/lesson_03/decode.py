# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance


def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)  # (B, d_enc), (B, L_s)
    new_state = cell(torch.cat((embedded, context), dim=-1), state)  # (B, d_state)
    return output(torch.cat((new_state, context, embedded), dim=-1)), new_state, weights

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

# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: the state is detached after each step, so gradients do not flow from later steps back into earlier ones
def decode(embedded, state, attend, cell):
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)
        new_state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        features.append(torch.cat((new_state, context), dim=-1))
        all_weights.append(weights)
        state = new_state.detach()
    return torch.stack(features, 1), torch.stack(all_weights, 1)

# %% right: states, contexts and weights are collected in three lists and joined only at the end
def decode(embedded, state, attend, cell):
    states, contexts, all_weights = [state], [], []
    for x in embedded.unbind(dim=1):
        context, weights = attend(states[-1])
        contexts.append(context)
        all_weights.append(weights)
        states.append(cell(torch.hstack((x, context)), states[-1]))
    return torch.cat((torch.stack(states[1:], dim=1), torch.stack(contexts, dim=1)), dim=2), torch.stack(all_weights, dim=1)

# %% right: recursive, the first step and then the rest of the target
def decode(embedded, state, attend, cell):
    context, weights = attend(state)
    state = cell(torch.cat((embedded[:, 0], context), dim=-1), state)
    features, weights = torch.cat((state, context), dim=-1).unsqueeze(1), weights.unsqueeze(1)
    if embedded.shape[1] == 1:
        return features, weights
    more_features, more_weights = decode(embedded[:, 1:], state, attend, cell)
    return torch.cat((features, more_features), dim=1), torch.cat((weights, more_weights), dim=1)
