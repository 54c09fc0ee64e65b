# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: the context for the output comes from a second call of attend with the new state, though the cell has read the one from before the step
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    new_state = cell(torch.cat((embedded, context), dim=-1), state)
    late_context, _ = attend(new_state)
    logits = output(torch.cat((new_state, late_context, embedded), dim=-1))
    return logits, new_state, weights

# %% wrong: returns the weights of a second call of attend with the new state, instead of those of the context that was used
def decoder_step(embedded, state, attend, cell, output):
    context, _ = attend(state)
    state = cell(torch.cat((embedded, context), dim=-1), state)
    logits = output(torch.cat((state, context, embedded), dim=-1))
    return logits, state, attend(state)[1]

# %% wrong: gives the cell [context; embedding] instead of [embedding; context]
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    new_state = cell(torch.cat((context, embedded), dim=-1), state)
    logits = output(torch.cat((new_state, context, embedded), dim=-1))
    return logits, new_state, weights

# %% wrong: the output reads the state before the step instead of the new state
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    new_state = cell(torch.cat((embedded, context), dim=-1), state)
    logits = output(torch.cat((state, context, embedded), dim=-1))
    return logits, new_state, weights

# %% wrong: gives the output [new state; embedding; context] instead of [new state; context; embedding]
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    x = torch.cat((embedded, context), dim=-1)
    new_state = cell(x, state)
    logits = output(torch.cat((new_state, x), dim=-1))
    return logits, new_state, weights

# %% wrong: returns the state from before the step instead of the new state
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    updated = cell(torch.cat((embedded, context), dim=-1), state)
    logits = output(torch.cat((updated, context, embedded), dim=-1))
    return logits, state, weights

# %% two mistakes: gives the cell [context; embedding] instead of [embedding; context]; and returns the weights before the new state
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    new_state = cell(torch.cat((context, embedded), dim=-1), state)
    logits = output(torch.cat((new_state, context, embedded), dim=-1))
    return logits, weights, new_state

# %% right: writes embedding and context side by side into a prepared tensor instead of concatenating
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    d_e, d_c = embedded.shape[1], context.shape[1]
    x = torch.zeros(len(embedded), d_e + d_c, dtype=embedded.dtype, device=embedded.device)
    x[:, :d_e] = embedded
    x[:, d_e:] = context
    new_state = cell(x, state)
    logits = output(torch.hstack([new_state, x[:, d_e:], x[:, :d_e]]))
    return logits, new_state, weights

# %% right: concatenates along the first axis of the transposed tensors and returns a list
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    new_state = cell(torch.vstack((embedded.T, context.T)).T, state)
    features = torch.vstack((new_state.T, context.T, embedded.T)).T
    return [output(features), new_state, weights]

# %% right: places the parts by padding with zeros and adding
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    d_e, d_c = embedded.size(-1), context.size(-1)
    new_state = cell(F.pad(embedded, (0, d_c)) + F.pad(context, (d_e, 0)), state)
    d_s = new_state.size(-1)
    features = F.pad(new_state, (0, d_c + d_e)) + F.pad(context, (d_s, d_e)) + F.pad(embedded, (d_s + d_c, 0))
    return output(features), new_state, weights
