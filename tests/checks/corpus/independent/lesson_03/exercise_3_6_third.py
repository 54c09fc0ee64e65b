# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance


# %% wrong: starts with the context of the first state instead of zeros, so the cell reads the right contexts, but still hands out the context and weights of the state after the step
def decode(embedded, state, attend, cell):
    context, _ = attend(state)
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        context, weights = attend(state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
    return torch.stack(features, 1), torch.stack(all_weights, 1)


# %% wrong: moves the embeddings one step on, zeros first, although they are those of the previous sounds already
def decode(embedded, state, attend, cell):
    previous = torch.zeros_like(embedded[:, 0])
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)
        state = cell(torch.cat((previous, context), dim=-1), state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
        previous = embedded[:, t]
    return torch.stack(features, 1), torch.stack(all_weights, 1)


# %% wrong: detaches the state after every step, so no gradient flows back to earlier steps
def decode(embedded, state, attend, cell):
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(state)
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
        state = state.detach()
    return torch.stack(features, 1), torch.stack(all_weights, 1)


# %% wrong: asks attend once before the loop and reads the same context at every step
def decode(embedded, state, attend, cell):
    context, weights = attend(state)
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        features.append(torch.cat((state, context), dim=-1))
        all_weights.append(weights)
    return torch.stack(features, 1), torch.stack(all_weights, 1)


# %% right: does the first step and calls itself for the rest of the embeddings
def decode(embedded, state, attend, cell):
    context, weights = attend(state)
    new_state = cell(torch.hstack((embedded[:, 0], context)), state)
    features, weights = torch.hstack((new_state, context))[:, None], weights[:, None]
    if embedded.shape[1] == 1:
        return features, weights
    later_features, later_weights = decode(embedded[:, 1:], new_state, attend, cell)
    return torch.hstack((features, later_features)), torch.hstack((weights, later_weights))


# %% right: keeps three lists of states, contexts and weights and joins them after the loop
def decode(embedded, state, attend, cell):
    states, contexts, all_weights = [state], [], []
    for x in embedded.unbind(dim=1):
        context, weights = attend(states[-1])
        contexts.append(context)
        all_weights.append(weights)
        states.append(cell(torch.cat((x, context), dim=1), states[-1]))
    features = torch.cat((torch.stack(states[1:], dim=1), torch.stack(contexts, dim=1)), dim=2)
    return features, torch.stack(all_weights, dim=1)

# %% wrong: calls attend once before the loop and again after the cell, so row t holds the context and weights of the next step
def decode(embedded, state, attend, cell):
    features, rows = [], []
    context, weights = attend(state)
    for t in range(embedded.shape[1]):
        state = cell(torch.cat((embedded[:, t], context), dim=-1), state)
        context, weights = attend(state)
        features.append(torch.cat((state, context), dim=-1))
        rows.append(weights)
    return torch.stack(features, dim=1), torch.stack(rows, dim=1)

# %% wrong: gives the cell the context of the step before (zeros at first), though attend was asked in time
def decode(embedded, state, attend, cell):
    features, rows = [], []
    previous = torch.zeros_like(attend(state)[0])
    for t in range(embedded.shape[1]):
        context, weights = attend(state)
        state = cell(torch.cat((embedded[:, t], previous), dim=-1), state)
        previous = context
        features.append(torch.cat((state, context), dim=-1))
        rows.append(weights)
    return torch.stack(features, dim=1), torch.stack(rows, dim=1)
