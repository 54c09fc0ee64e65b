"""The small models of the lessons: what each task asks, that it can be learned, and what is counted."""

import pytest
import torch

from course_utils.metrics import phoneme_error_rate, word_error_rate
from course_utils.pretrained.pronunciation import SPELLING, pronounce
from course_utils.small_models import bottleneck, induction, lookups, norm_order, places, recall, reordering, two_jobs


def test_the_target_is_the_content_beside_the_name_that_is_asked_for():
    question, items, target = lookups.make_batch(7, torch.Generator().manual_seed(1))
    # (n, items, names or contents, kinds)
    numbers = items.view(7, lookups.ITEMS, 2, lookups.KINDS, lookups.ITEMS).argmax(-1)
    asked = question.view(7, lookups.KINDS, lookups.ITEMS).argmax(-1)
    for n in range(7):
        for kind in range(lookups.KINDS):
            names = numbers[n, :, 0, kind].tolist()
            assert sorted(names) == list(range(lookups.ITEMS))
            assert numbers[n, names.index(asked[n, kind]), 1, kind] == target[n, kind]


@pytest.mark.parametrize("num_kv_heads", [4, 2, 1])
def test_training_yields_accuracies_and_learns(num_kv_heads):
    torch.manual_seed(0)
    model = lookups.Lookups(num_kv_heads)
    assert lookups.accuracy(model) < 0.25
    found = list(lookups.train(model, 60, seed=0, every=30))
    assert [step for step, _ in found] == [30, 60] and found[-1][1] > 0.25


@pytest.mark.parametrize(("key_size", "value_size"), [(32, 8), (8, 32), (16, 16)])
def test_a_shared_head_may_be_wider(key_size, value_size):
    torch.manual_seed(0)
    model = lookups.Lookups(1, key_size=key_size, value_size=value_size)
    shapes = [model.attention.get_parameter(f"{name}_proj.weight").shape for name in "qkvo"]
    assert shapes == [(4 * key_size, 32), (key_size, 32), (value_size, 32), (32, 4 * value_size)]
    assert list(lookups.train(model, 60, seed=0, every=60))[0][1] > 0.25


def test_wider_heads_of_the_usual_size_are_the_usual_layer():
    wide, usual = lookups.WiderHeads(32, 2, 8, 8), lookups.MultiHeadAttention(32, 4, num_kv_heads=2)
    wide.load_state_dict(usual.state_dict())
    query, items = torch.randn(3, 1, 32), torch.randn(3, 6, 32)
    torch.testing.assert_close(wide(query, items, items), usual(query, items, items))


def test_one_head_set_by_hand_does_all_four_lookups():
    model = lookups.by_hand()
    assert model.attention.k_proj.out_features == model.attention.v_proj.out_features == lookups.D_HEAD
    assert lookups.accuracy(model) == 1
    assert next(lookups.train(model, 45, seed=0))[1] > 0.97


def test_the_answers_by_looking_for_them():
    tokens, target = places.make_batch(9, 15, torch.Generator().manual_seed(1))
    for row, answers in zip(tokens.tolist(), target.tolist(), strict=True):
        for at, (ago, recent) in enumerate(answers):
            assert ago == (row[at - places.AGO] % places.DIGITS if at >= places.AGO else places.NOT_ASKED)
            same = [t for t in row[:at] if t // places.DIGITS == row[at] // places.DIGITS]
            assert recent == (same[-1] % places.DIGITS if same else places.NOT_ASKED)


def test_the_guesser_is_wrong_as_often_as_another_digit_was_meant():
    tokens, target = places.test_batch(6)
    missed = {0: [], 1: []}
    for row, answers in zip((tokens % places.DIGITS).tolist(), target.tolist(), strict=True):
        for at in range(places.AGO, 6):  # question 1 only: every token before is as likely as another
            missed[0].append(1 - max(row[:at].count(digit) for digit in range(places.DIGITS)) / at)
            assert answers[at][0] != places.NOT_ASKED
    assert places.guesser(6)[0].item() == pytest.approx(sum(missed[0]) / len(missed[0]), abs=1e-5)
    longer = [places.guesser(n) for n in (12, 24)]
    assert (longer[1] > longer[0]).all() and (longer[0] > 0.2).all()


def test_shares_by_position_are_those_of_the_whole_text_taken_apart():
    torch.manual_seed(0)
    model = places.Reader("RoPE")
    _, target = places.test_batch(8)
    asked = (target != places.NOT_ASKED).sum(0).T  # (2, L)
    for apart, whole in (
        (places.wrong_by_position(model, 8), places.wrong(model, 8)),
        (places.guesser_by_position(8), places.guesser(8)),
    ):
        assert apart.isnan().equal(asked == 0)
        assert torch.allclose((apart.nan_to_num() * asked).sum(1) / asked.sum(1), whole, atol=1e-5)


@pytest.mark.parametrize("encoding", places.ENCODINGS)
def test_only_models_with_positions_notice_an_exchange_in_the_past(encoding):
    torch.manual_seed(0)
    model, (tokens, _) = places.Reader(encoding), places.test_batch(7)
    exchanged = tokens[:4, [1, 0, 2, 3, 4, 5, 6]]
    with torch.no_grad():
        change = (model(exchanged) - model(tokens[:4]))[:, -1].abs().max()
    assert (change < 1e-5) == (encoding == "none")


def test_likeness_is_one_for_equal_tokens_and_zero_for_right_angles():
    assert abs(norm_order.likeness(torch.ones(2, 3, 4)) - 1) < 1e-6
    assert abs(norm_order.likeness(torch.eye(4)[None])) < 1e-6


def test_a_factor_makes_the_last_matrices_of_all_sublayers_small_and_nothing_else():
    models = []
    for factor in (1.0, 0.25):
        torch.manual_seed(0)
        models.append(norm_order.Reverser(2, pre_norm=False, factor=factor))
    for (name, full), small in zip(models[0].named_parameters(), models[1].parameters(), strict=True):
        last = name.endswith(("o_proj.weight", "down_proj.weight"))
        torch.testing.assert_close(small, 0.25 * full if last else full)


def test_tokens_are_made_alike_and_held_apart():
    likenesses = []
    for change in (lambda model: None, norm_order.make_alike, norm_order.keep_apart):
        torch.manual_seed(0)
        model = norm_order.Reverser(3, pre_norm=False)
        change(model)
        likenesses.append(norm_order.measure(model)[2])
    plain, alike, apart = likenesses
    assert apart < 0.1 < plain < alike


def test_the_controls_are_as_large_as_what_they_are_controls_of_and_leave_the_tokens_less_or_more_alike():
    tokens, entered, added, likenesses = torch.randint(0, 8, (5, 8)), {}, {}, {}
    changes = (norm_order.make_alike, norm_order.make_opposite, norm_order.keep_apart, norm_order.keep_small)
    for change in (lambda model: None, *changes, norm_order.keep_apart_and_large):
        torch.manual_seed(0)
        model = norm_order.Reverser(3, pre_norm=False)
        plain = model.embed(tokens)
        change(model)
        first = model.layers[0].self_attention
        entered[change] = (model.embed(tokens) - plain).norm(dim=-1).mean()
        added[change] = first(plain).norm(dim=(1, 2))
        likenesses[change] = norm_order.measure(model)[2]
    assert abs(entered[norm_order.make_alike] - entered[norm_order.make_opposite]) < 1e-4
    torch.testing.assert_close(added[norm_order.keep_apart], added[norm_order.keep_small])
    assert likenesses[norm_order.make_opposite] < likenesses[norm_order.make_alike] - 0.2
    assert likenesses[norm_order.keep_apart] < likenesses[norm_order.keep_small] - 0.2
    torch.testing.assert_close(added[norm_order.keep_apart_and_large], next(iter(added.values())))
    assert likenesses[norm_order.keep_apart_and_large] < 0.1


def test_a_faded_direct_path_changes_gradients_and_nothing_that_is_said():
    tokens, said, arrived = torch.randint(0, 8, (5, 8)), [], []
    for share in (1.0, 0.5):
        torch.manual_seed(0)
        model = norm_order.Reverser(3, pre_norm=False, factor=0.0)  # the direct path is all that is left
        norm_order.fade_direct_path(model, share)
        said.append(model(tokens))
        said[-1][0, 0, 0].backward()
        arrived.append(model.embed.tokens.weight.grad)
    torch.testing.assert_close(*said)
    torch.testing.assert_close(arrived[0] * 0.5**6, arrived[1])


def test_a_shallow_model_learns_to_reverse():
    torch.manual_seed(0)
    model = norm_order.Reverser(1, pre_norm=True)
    before = norm_order.measure(model)[0]
    assert list(norm_order.train(model, seed=0, rate=0.01, steps=60, every=30)) == [30, 60]
    assert norm_order.measure(model)[0] < 0.7 * before


def test_counts_are_those_of_the_error_rates():
    words = {"cat": (("K", "AE", "T"),), "act": (("AE", "K", "T"), ("AE", "K")), "tactics": (("T", "AE", "K", "T"),)}
    torch.manual_seed(0)
    model = bottleneck.build("attention", 8)
    rows = bottleneck.counts_by_length(model, words, [(1, 3), (4, 9)])
    assert [row["words"] for row in rows] == [2, 1]
    outputs = pronounce(model, list(words))
    wrong, edits, sounds = (sum(row[name] for row in rows) for name in ("wrong", "edits", "sounds"))
    assert edits / sounds == phoneme_error_rate(outputs, list(words.values()))
    assert wrong / 3 == word_error_rate(outputs, list(words.values()))


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        (
            "pointer",
            [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]],
        ),  # the last letter's state, once the letters are used up
        ("mean", [[1 / 3, 1 / 3, 1 / 3]] * 4),
    ],
)
def test_a_fixed_look_depends_on_the_step_and_the_length_only(look, expected):
    torch.manual_seed(0)
    model = bottleneck.build(look, 6).eval()
    found = {}
    for batch in (["box"], ["box", "nation"]):
        state, weights, logits = model.start_decoding(SPELLING.batch(batch)), [], []
        for token in (1, 5, 9, 7):
            log_probs, state = model.decode_step(state, torch.full((len(batch),), token))
            weights.append(state.weights[0, :3])
            logits.append(log_probs[0])
        assert torch.allclose(torch.stack(weights), torch.tensor(expected).float())
        found[len(batch)] = torch.stack(logits)
    assert torch.allclose(found[1], found[2], atol=1e-5)  # a word does not depend on its neighbors in the batch
    with pytest.raises(ValueError, match="pointer"):
        bottleneck.FixedLook("random", 5, 6)


def test_the_context_of_a_pointer_is_the_state_at_its_place():
    torch.manual_seed(0)
    model, seen = bottleneck.build("pointer", 6).eval(), []
    model.cell.register_forward_hook(lambda _, given, result: seen.append(given[0][:, 32:]))
    source = SPELLING.batch(["box"])
    with torch.no_grad():
        model(source, torch.tensor([[1, 5, 9, 7]]))
        states = model.encoder(source).states
    assert torch.allclose(torch.cat(seen), states[0, [0, 1, 2, 2]])


def test_from_the_mark_the_string_is_said_from_there_and_then_from_the_beginning():
    said = {}
    for order in reordering.ORDERS:
        source, target = reordering.make_batch(order, 50, torch.Generator().manual_seed(0))
        said[order] = source, target
        for letters, wanted in zip(source.tolist(), target.tolist(), strict=True):
            mark = letters.index(reordering.MARK)
            before, after = letters[:mark], letters[mark + 1 :]
            assert before and after
            assert wanted == [1, *(before + after if order == "as written" else after + before), 2]
    assert torch.equal(said["as written"][0], said["from the mark"][0])
    with pytest.raises(ValueError, match="'as written', 'from the mark'"):
        reordering.make_batch("backwards", 1, torch.Generator())


def test_the_told_pointer_visits_the_letters_in_the_order_in_which_they_are_said():
    source, target = reordering.make_batch("from the mark", 50, torch.Generator().manual_seed(0))
    model = reordering.build(reordering.TOLD).eval()
    state, read = model.start_decoding(source), []
    for token in target[:, :-1].T:
        _, state = model.decode_step(state, token)
        assert (state.weights.sum(1) == 1).all()
        read.append(source.gather(1, state.weights.argmax(1, keepdim=True)))
    read = torch.cat(read, dim=1)  # (n, LENGTH + 1)
    assert torch.equal(read[:, : reordering.LENGTH], target[:, 1:-1]) and (read[:, -1] == reordering.MARK).all()


def test_short_training_on_reordering_is_the_same_for_the_same_seed_and_learns():
    models = [reordering.train("pointer", "as written", seed=0, updates=40) for _ in range(2)]
    wrong = [reordering.wrong_by_place(model, "as written", n=50) for model in models]
    assert torch.equal(*wrong) and wrong[0].shape == (reordering.LENGTH,) and wrong[0][0] < 0.7
    contexts = (*bottleneck.CONTEXTS, reordering.TOLD)
    sizes = [sum(p.numel() for p in reordering.build(context).parameters()) for context in contexts]
    assert max(sizes) < 1.05 * min(sizes)


def test_the_two_jobs_by_looking_for_them():
    letters, numbers, target = two_jobs.make_batch(4, torch.Generator().manual_seed(1))
    for row, values, answers in zip(letters.tolist(), numbers.tolist(), target.tolist(), strict=True):
        for at, (previous, same) in enumerate(answers):
            assert at == 0 or previous == values[at - 1]
            alike = [value for letter, value in zip(row, values, strict=True) if letter == row[at]]
            assert same == pytest.approx(sum(alike) / len(alike), abs=1e-6)


def test_two_heads_learn_both_jobs_and_one_does_not():
    torch.set_num_threads(1)
    found = {heads: [two_jobs.errors(model) for _, model in two_jobs.train(heads, 0, 120, 60)] for heads in (1, 2)}
    assert len(found[2]) == 2 and found[2][1].max() < 0.05 < 0.3 < found[1][1].max()


def test_without_a_head_is_less_its_term_and_looks_are_weights():
    torch.manual_seed(0)
    model = two_jobs.TwoJobs(4)
    letters, numbers, _ = two_jobs.make_batch(3, torch.Generator().manual_seed(1))
    terms = []
    model.attention.o_proj.register_forward_pre_hook(lambda _, args: terms.append(args[0]))
    with torch.no_grad():
        whole = model(letters, numbers)[0]
        columns = model.attention.o_proj.weight[:, 4:8]  # head 1, of size 4
        term = terms[0][..., 4:8] @ columns.T @ model.report.weight.T  # (B, L, 2)
        assert torch.allclose(two_jobs.without_heads(model, [1])(letters, numbers)[0], whole - term, atol=1e-6)
        assert torch.equal(model(letters, numbers)[0], whole)  # the model itself has kept all heads
        weights = model(*two_jobs.test_batch()[:2])[1]  # (B, H, L, L)
    previous, same = two_jobs.looks(model)
    letters = two_jobs.test_batch()[0].tolist()
    at = [(n, i) for n in range(len(letters)) for i in range(1, two_jobs.LENGTH)]
    wanted = sum(weights[n, :, i, i - 1] for n, i in at) / len(at)
    assert torch.allclose(previous, wanted, atol=1e-5)
    equal = [[j for j in range(two_jobs.LENGTH) if letters[n][j] == letters[n][i]] for n, i in at]
    wanted = sum(weights[n, :, i, js].sum(-1) for (n, i), js in zip(at, equal, strict=True)) / len(at)
    assert torch.allclose(same, wanted, atol=1e-5)


def test_two_layers_learn_what_is_written_twice_and_their_heads_are_scored():
    ids = induction.twice(50, 8, torch.Generator().manual_seed(0))
    seen = []
    model = induction.trained(steps=150, after=seen.append)
    assert seen == list(range(1, 151)) and not model.training
    assert induction.second_half_bits(model, ids) < 1.2  # 1.76 would be to know which letters are left
    scores = induction.head_scores(model, ids)
    assert {name: tuple(found.shape) for name, found in scores.items()} == {
        "letter before": (2, 4),
        "after a copy": (2, 4),
    }
    assert scores["letter before"][0].max() > 0.3 and scores["after a copy"][1].max() > 0.3
    assert scores["letter before"][1].max() < 0.3 and scores["after a copy"][0].max() < 0.3


def test_the_letter_before_is_scored_in_the_first_half_alone():
    ids = induction.twice(3, 5, torch.Generator().manual_seed(0))
    model = induction.small_model()
    half_back = torch.eye(10, dtype=torch.bool)
    half_back[torch.arange(1, 5), torch.arange(1, 5)] = False
    half_back[torch.arange(1, 5), torch.arange(4)] = True  # one back, in the first half only
    for layer in model.layers:
        attention = layer.self_attention
        attention.register_forward_pre_hook(
            lambda _m, args, kwargs: (args, kwargs | {"mask": half_back}), with_kwargs=True
        )
        torch.nn.init.zeros_(attention.q_proj.weight)
    scores = induction.head_scores(model.eval(), ids)
    assert torch.allclose(scores["letter before"], torch.ones(2, 4), atol=1e-4)


@pytest.mark.parametrize("twice", [False, True])
def test_the_answer_is_the_value_that_came_last_with_the_key(twice):
    keys, values, answers = recall.make_batch(5, 8, torch.Generator().manual_seed(0), twice=twice)
    assert keys.shape == values.shape == (5, 8 + recall.ASKED) and (values[:, 8:] == recall.SYMBOLS).all()
    for row in range(5):
        latest = dict(zip(keys[row, :8].tolist(), values[row, :8].tolist(), strict=True))
        assert len(latest) == (4 if twice else 8)
        assert [latest[key] for key in keys[row, 8:].tolist()] == answers[row].tolist()


@pytest.mark.parametrize("kind", recall.KINDS)
def test_every_kind_learns_to_recall_few_pairs_and_has_the_same_parameters(kind):
    ((_, model),) = recall.train(kind, 0, steps=150, every=150)
    assert recall.accuracy(model, 4) > 0.8
    assert [p.shape for p in model.parameters()] == [p.shape for p in recall.Recaller("linear").parameters()]


def test_recall_is_trained_on_texts_of_the_sizes_asked_for():
    models = [next(recall.train("linear", 0, steps=5, every=5, pairs=some))[1] for some in ((4,), (4, 4), (8,))]
    assert [torch.equal(model.answer.weight, models[0].answer.weight) for model in models] == [True, True, False]


@torch.no_grad()
@pytest.mark.parametrize("kind", recall.KINDS)
def test_questions_write_nothing(kind):
    torch.manual_seed(0)
    model = recall.Recaller(kind)
    torch.nn.init.constant_(model.gate.weight, 0.0)
    torch.nn.init.constant_(model.gate.bias, 30.0)  # no decay, which would tell how many questions were between
    keys, values, _ = recall.make_batch(3, 6, torch.Generator().manual_seed(0))
    last = model(keys, values)[:, -1]
    few = torch.cat((torch.arange(6), torch.tensor([6 + recall.ASKED - 1])))
    assert torch.allclose(last, model(keys[:, few], values[:, few])[:, -1], atol=1e-4)
