# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: the output reads the state before the step instead of the new state
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    new_state = cell(torch.cat((embedded, context), dim=-1), state)
    logits = output(torch.cat((state, context, embedded), dim=-1))
    return logits, new_state, weights

# %% wrong: the output reads [new state; embedding; context], the last two in the wrong order
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    cell_input = torch.cat((embedded, context), dim=-1)
    new_state = cell(cell_input, state)
    logits = output(torch.cat((new_state, cell_input), dim=-1))
    return logits, new_state, weights

# %% wrong: attends a second time with the new state, so the output's context and the returned weights come from the state after the step
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    new_state = cell(torch.cat((embedded, context), dim=-1), state)
    context, weights = attend(new_state)
    logits = output(torch.cat((new_state, context, embedded), dim=-1))
    return logits, new_state, weights

# %% wrong: the context is detached before the cell reads it, so no gradient flows through the attention into the new state
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    new_state = cell(torch.cat((embedded, context.detach()), dim=-1), state)
    logits = output(torch.cat((new_state, context, embedded), dim=-1))
    return logits, new_state, weights

# %% right: hstack instead of cat, the parts of the result in a dictionary on the way
def decoder_step(embedded, state, attend, cell, output):
    step = dict(zip(("context", "weights"), attend(state)))
    step["state"] = cell(torch.hstack([embedded, step["context"]]), state)
    step["logits"] = output(torch.hstack([step["state"], step["context"], embedded]))
    return step["logits"], step["state"], step["weights"]

# %% right: the features are written into one prepared tensor by slices, which gradients survive
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    B, d_embed = embedded.shape
    d_enc = context.shape[1]
    x = embedded.new_zeros(B, d_embed + d_enc)
    x[:, :d_embed] = embedded
    x[:, d_embed:] = context
    new_state = cell(x, state)
    d_state = new_state.shape[1]
    features = new_state.new_zeros(B, d_state + d_enc + d_embed)
    features[:, :d_state] = new_state
    features[:, d_state:d_state + d_enc] = context
    features[:, d_state + d_enc:] = embedded
    return output(features), new_state, weights
