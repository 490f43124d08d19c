#!/usr/bin/env python3
"""Learns the weights of the default profile: what orders candidates, and what tells that the store holds an answer.

    remembrancer eval --config FILE TRAINED… --features train.tsv     (FILE: [fusion] profile = "default")
    remembrancer eval --config FILE SETS… --features judge.tsv
    packaging/ranking/train.py train.tsv judge.tsv processor/src/recall/weights.rs

What is learnt comes from the first file alone, which has the sets that may be learnt from and no other; the report is over
the second. Needs numpy. The same features give the same weights. See README.md beside this file for what is trained on what,
and why.
"""

import sys
from collections import defaultdict

import numpy as np

# Sets whose licences allow it (MIT, CC BY, ODC-By), with their share of the weight. The others only judge.
TRAINED_ON = {"lme-oracle-dev": 1.0, "nl2bash-dev": 1.5, "scifact": 1.0}
JUDGED_ON = ["locomo-dev-ep4", "lme-oracle-dev", "cosqa-dev", "nl2bash-dev", "scifact"]

# In the order of `Evidence::NAMES` and `Support::NAMES`.
EVIDENCE = """bm25_share cosine_share cosine_deviation bm25_reciprocal vector_reciprocal coverage prompt_coverage passage_coverage
quoted in_time soft_coverage""".split()
SUPPORT = """best_cosine best_passage pool_coverage rarest_in_pool names_in_pool known_terms agreement bm25_absolute terms
first_coverage in_time best_soft_coverage first_soft_coverage proper_names_in_pool three_proper_names asks_past""".split()

# Where nothing is near, everything counts; where something is, words mislead: of them only the soft coverage stays.
# What time a prompt names says as much of either.
ALWAYS = ["in_time"]
FAR = [name for name in EVIDENCE if name not in ("quoted", *ALWAYS)]
NEAR = ["cosine_share", "cosine_deviation", "vector_reciprocal", "soft_coverage"]
FAR_COSINE, NEAR_COSINE = 0.5, 0.65
# The weight of a quotation is the least at which so many exact queries of each training set have the right one first.
EXACT_FIRST, QUOTED_WEIGHTS = 0.97, [step / 2 for step in range(17)]
# Prompts without an answer that teach the gate; coding prompts are no strangers to sets of code and commands.
NOISE = [(name, "foreign") for name in TRAINED_ON] + [(name, "chatter") for name in TRAINED_ON]
NOISE += [("lme-oracle-dev", "coding"), ("scifact", "coding")] + [(name, "personal") for name in TRAINED_ON]
# Kinds of which every second prompt only judges (`eval::noise::Half`).
HALVED = ("chatter", "coding", "personal")
# From this best cosine on the floor asks no further, if more than this share of the prompt's proper names stands in any candidate
# (`floor::FLOOR`).
AMPLE_COSINE, AMPLE_NAMES = 0.5, 0.5
UNJUDGED = {"adversarial", "exact", "foreign", *HALVED}


class Prompt:
    """One prompt of a set with its candidates, in the order of the weights before these."""

    def __init__(self, kind, name, rows):
        values = np.array(rows)
        self.kind, self.name = kind, name
        self.relevant = int(values[0, 0])
        self.document = values[:, 1].astype(int)
        self.right = (values[:, 2] > 0).astype(float)
        self.support = values[0, 3 : 3 + len(SUPPORT)]
        self.evidence = values[:, 3 + len(SUPPORT) :]
        self.nearness = np.clip((self.support[0] - FAR_COSINE) / (NEAR_COSINE - FAR_COSINE), 0, 1)

    def tunes(self):
        return self.kind not in HALVED or int(self.name.rsplit("-", 1)[1]) % 2 == 0


def read(path):
    """The prompts of each set."""
    rows = defaultdict(list)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            name, kind, prompt, project, *values = line.rstrip("\n").split("\t")
            if len(values) != 3 + len(SUPPORT) + len(EVIDENCE):
                sys.exit(f"{path}: {len(values)} values a line: made by another version, make the features anew")
            rows[name, kind, prompt, project].append([float(value) for value in values])
    sets = defaultdict(list)
    for (name, kind, prompt, _), values in rows.items():
        sets[name].append(Prompt(kind, prompt, values))
    return sets


def read_trained(path):
    """The prompts to learn from: of all sets of `TRAINED_ON`, and of no other, or this ends."""
    sets = read(path)
    others = sorted(set(sets) - set(TRAINED_ON))
    if others:
        sys.exit(
            f"{path} has {', '.join(others)}, from which nothing may be learnt (TRAINED_ON): in one run of eval each set is asked "
            f"the questions of the others as noise, so write the features to learn from in a run of {', '.join(TRAINED_ON)} alone"
        )
    missing = [name for name in TRAINED_ON if name not in sets]
    if missing:
        sys.exit(f"{path} lacks {', '.join(missing)}: the run of eval that writes it takes all sets to learn from")
    for name, kind in NOISE:
        if not any(prompt.tunes() for prompt in of_kind(sets[name], kind)):
            print(f"{path} has no {kind} prompts of {name}: the gate is learnt without them")
    return sets


def judged(prompts):
    return [prompt for prompt in prompts if prompt.relevant and prompt.kind not in UNJUDGED]


def of_kind(prompts, kind):
    return [prompt for prompt in prompts if prompt.kind == kind]


def columns(names):
    return [EVIDENCE.index(name) for name in names]


def design(prompt):
    """A candidate's features, once for far, once for near, and those that count always."""
    near = prompt.nearness
    far_and_near = [prompt.evidence[:, columns(FAR)] * (1 - near), prompt.evidence[:, columns(NEAR)] * near]
    return np.hstack([*far_and_near, prompt.evidence[:, columns(ALWAYS)]])


def minimise(gradient, size, steps, rate=0.05, least=-np.inf):
    """Adam (Kingma, Ba: ICLR 2015) from zero, with no weight below `least`."""
    weights, first, second = np.zeros(size), np.zeros(size), np.zeros(size)
    for step in range(1, steps + 1):
        slope = gradient(weights)
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope * slope
        weights -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        weights = np.maximum(weights, least)
    return weights


def learn_order(sets, penalty=1e-3):
    """Weights that give the right candidates the greatest share of a softmax over each prompt's (ListNet: Cao et al., ICML
    2007), each set with its share whatever its size."""
    blocks, targets, group, share = [], [], [], []
    for name, part in TRAINED_ON.items():
        found = [prompt for prompt in judged(sets[name]) if prompt.right.any()]
        for prompt in found:
            group += [len(share)] * len(prompt.right)
            blocks.append(design(prompt))
            targets.append(prompt.right / prompt.right.sum())
            share.append(part / len(found))
    scale = np.concatenate(blocks).std(0) + 1e-9
    values, target = np.concatenate(blocks) / scale, np.concatenate(targets)
    group, share = np.array(group), np.array(share) / sum(share)

    def gradient(weights):
        score = values @ weights
        best = np.full(len(share), -np.inf)
        np.maximum.at(best, group, score)
        raised = np.exp(score - best[group])
        softmax = raised / np.bincount(group, raised)[group]
        return values.T @ ((softmax - target) * share[group]) + 2 * penalty * weights

    # To hold a term never counts for less than to hold a word near to it.
    least = np.array([0.0 if name == "coverage" else -np.inf for name in FAR + NEAR + ALWAYS])
    return minimise(gradient, values.shape[1], 500, least=least) / scale


def order(prompt, weights, quoted):
    score = design(prompt) @ weights + quoted * prompt.evidence[:, EVIDENCE.index("quoted")]
    return np.argsort(-score, kind="stable")


def first_documents(prompt, ranked, count):
    """The places of the first candidates of so many documents."""
    places, seen = [], set()
    for place in ranked:
        if prompt.document[place] not in seen and len(places) < count:
            seen.add(prompt.document[place])
            places.append(place)
    return places


def recall(prompt, ranked, count):
    return prompt.right[first_documents(prompt, ranked, count)].sum() / prompt.relevant


def exact_first(prompts, weights, quoted):
    return np.mean([recall(prompt, order(prompt, weights, quoted), 1) for prompt in of_kind(prompts, "exact")])


def least_quoted(sets, weights):
    for quoted in QUOTED_WEIGHTS:
        if min(exact_first(sets[name], weights, quoted) for name in TRAINED_ON) >= EXACT_FIRST:
            return quoted
    return QUOTED_WEIGHTS[-1]


def support(prompt, weights, quoted):
    """The prompt's support, with what depends on the order counted anew; but for `three_proper_names`: where the order changes much, make the
    features once more."""
    ranked = order(prompt, weights, quoted)
    values = prompt.support.copy()
    for kind in ("coverage", "soft_coverage"):
        values[SUPPORT.index(f"first_{kind}")] = prompt.evidence[ranked[0], EVIDENCE.index(kind)]
    return values


def learn_answer(sets, weights, quoted, penalty=5e-3):
    """A logistic regression of whether a prompt has an answer; each kind of prompt with its share whatever its number."""
    blocks, targets, share = [], [], []

    def add(prompts, answered):
        rows = np.array([support(prompt, weights, quoted) for prompt in prompts])
        blocks.append(rows)
        targets.append(np.full(len(rows), answered))
        share.append(np.full(len(rows), 1 / len(rows)))

    for name in TRAINED_ON:
        add(judged(sets[name]), 1.0)
    for name, kind in NOISE:
        prompts = [prompt for prompt in of_kind(sets[name], kind) if prompt.tunes()]
        if prompts:
            add(prompts, 0.0)
    values, target, share = np.concatenate(blocks), np.concatenate(targets), np.concatenate(share)
    share /= share.sum()
    mean, scale = values.mean(0), values.std(0) + 1e-9
    values = np.hstack([(values - mean) / scale, np.ones((len(values), 1))])

    def gradient(weights):
        probability = 1 / (1 + np.exp(-values @ weights))
        penalised = np.append(weights[:-1], 0)
        return values.T @ ((probability - target) * share) + 2 * penalty * penalised

    # No evidence may speak against an answer: more of it never closes the gate.
    least = np.append(np.zeros(len(SUPPORT)), -np.inf)
    learnt = minimise(gradient, values.shape[1], 3000, least=least)
    slopes = learnt[:-1] / scale
    return slopes, learnt[-1] - slopes @ mean


def report(sets, weights, quoted, slopes, bias):
    def probability(prompts):
        rows = np.array([support(prompt, weights, quoted) for prompt in prompts])
        learnt = 1 / (1 + np.exp(-(rows @ slopes + bias)))
        near = (rows[:, 0] >= AMPLE_COSINE) & (rows[:, SUPPORT.index("proper_names_in_pool")] > AMPLE_NAMES)
        return np.where(near, 1, learnt)

    for name in JUDGED_ON:
        if name not in sets:
            continue
        prompts = judged(sets[name])
        figures = np.array([[recall(prompt, order(prompt, weights, quoted), cut) for cut in (1, 3, 5, 10)] for prompt in prompts])
        at = "/".join(f"{value:.3f}" for value in figures.mean(0))
        print(f"{name:16} recall@1/3/5/10 {at}, exact first {exact_first(sets[name], weights, quoted):.3f}")
        answered = probability(prompts)
        for floor in (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6):
            lost = figures[:, 1].mean() - (figures[:, 1] * (answered >= floor)).mean()
            noise = {kind: of_kind(sets[name], kind) for kind in ("foreign", *HALVED)}
            kinds = {kind: [prompt for prompt in found if kind == "foreign" or not prompt.tunes()] for kind, found in noise.items()}
            shown = ", ".join(f"{kind} {(probability(found) >= floor).mean():.3f}" for kind, found in kinds.items() if found)
            shown = shown or "none: no noise was asked"
            print(f"    floor {floor:.2f}: recall@3 lost {lost:.3f}; shown to {shown}")


def row(values):
    numbers = ", ".join(f"{value:.4f}" for value in values)
    lines, line = [], "        "
    for number in numbers.split(", "):
        if len(line) + len(number) > 120:
            lines.append(line.rstrip())
            line = "        "
        line += number + ", "
    return "\n".join([*lines, line.rstrip()])


def rust(weights, quoted, slopes, bias):
    far, near = np.zeros(len(EVIDENCE)), np.zeros(len(EVIDENCE))
    far[columns(FAR)] = weights[: len(FAR)]
    near[columns(NEAR)] = weights[len(FAR) : len(FAR) + len(NEAR)]
    far[columns(ALWAYS)] = near[columns(ALWAYS)] = weights[len(FAR) + len(NEAR) :]
    far[EVIDENCE.index("quoted")] = near[EVIDENCE.index("quoted")] = quoted
    return f"""//! The learnt weights of the default profile. Written by `packaging/ranking/train.py`, which says on what they were trained:
//! not to be edited by hand.

use super::linear::{{AnswerModel, LinearModel}};

/// What orders the candidates, over the features of [`super::Evidence`].
pub(super) const ORDER: LinearModel = LinearModel {{
    far: [
{row(far)}
    ],
    near: [
{row(near)}
    ],
    far_cosine: {FAR_COSINE},
    near_cosine: {NEAR_COSINE},
}};

/// What tells that the store holds an answer, over the features of [`super::Support`].
pub(super) const ANSWER: AnswerModel = AnswerModel {{
    weights: [
{row(slopes)}
    ],
    bias: {bias:.4f},
}};
"""


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    train, judge, weights_file = sys.argv[1:]
    sets = read_trained(train)
    weights = learn_order(sets)
    quoted = least_quoted(sets, weights)
    slopes, bias = learn_answer(sets, weights, quoted)
    report(read(judge), weights, quoted, slopes, bias)
    with open(weights_file, "w", encoding="utf-8") as out:
        out.write(rust(weights, quoted, slopes, bias))


if __name__ == "__main__":
    main()
