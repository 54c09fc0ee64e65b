# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance


# %% wrong: attends once more with the new state and gives that context to the output, while the cell has read the right one
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    new_state = cell(torch.cat((embedded, context), dim=-1), state)
    late_context, _ = attend(new_state)
    logits = output(torch.cat((new_state, late_context, embedded), dim=-1))
    return logits, new_state, weights


# %% wrong: returns the weights of the new state, although the context came from the state before the step
def decoder_step(embedded, state, attend, cell, output):
    context = attend(state)[0]
    new_state = cell(torch.cat([embedded, context], dim=1), state)
    logits = output(torch.cat([new_state, context, embedded], dim=1))
    weights = attend(new_state)[1]
    return logits, new_state, weights


# %% wrong: returns the log-probabilities of the symbols instead of the logits
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    new_state = cell(torch.cat((embedded, context), dim=-1), state)
    logits = output(torch.cat((new_state, context, embedded), dim=-1))
    return F.log_softmax(logits, dim=-1), new_state, weights


# %% wrong: writes the new state into the argument state, which must not be changed
def decoder_step(embedded, state, attend, cell, output):
    context, weights = attend(state)
    with torch.no_grad():
        state[:] = cell(torch.cat((embedded, context), dim=-1), state)
    return output(torch.cat((state, context, embedded), dim=-1)), state, weights


# %% right: joins the parts with hstack, the one list being the turned and shortened other
def decoder_step(embedded, state, attend, cell, output):
    parts = [embedded]
    context, weights = attend(state)
    parts.append(context)
    new_state = cell(torch.hstack(parts), state)
    parts.append(new_state)
    return output(torch.hstack([parts[2], parts[1], parts[0]])), new_state, weights


# %% right: pads the parts with zeros to the full width and adds them
def decoder_step(embedded, state, attend, cell, output):
    def side_by_side(*parts):
        width = sum(part.shape[-1] for part in parts)
        total, left = 0, 0
        for part in parts:
            total = total + F.pad(part, (left, width - left - part.shape[-1]))
            left += part.shape[-1]
        return total

    context, weights = attend(state)
    new_state = cell(side_by_side(embedded, context), state)
    return output(side_by_side(new_state, context, embedded)), new_state, weights
