# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: the steps are stacked along dim 0, so the results are (L_t, B, ...) instead of (B, L_t, ...)
def decode(embedded, state, attend, cell):
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
    return torch.stack(features), torch.stack(all_weights)

# %% wrong: the features hold the state before the step instead of the new state
def decode(embedded, state, attend, cell):
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
    return torch.stack(features, 1), torch.stack(all_weights, 1)

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

# %% wrong: the context is recomputed from the new state after the cell, so the features hold a context that the cell has not read (the weights are right)
def decode(embedded, state, attend, cell):
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        context, _ = attend(state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
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
