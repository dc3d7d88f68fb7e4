"""docs/accuracy.md: how good the predictions are, where they are not, and what says so.

Same predictions, same bytes. Everything is computed from the results of foretrain validate, the corpora, and the data
files beside this script (bars.json, contradicted_labels.json, left_out.json).
"""
import collections
import math

from left_out import inputs_digest
from evidence import (FAIR, HARD, decimal, joined, load, mape, mean, median, percent, rank_correlation, select,
                      stated_runs, table, tau_b)

FEWEST = 5  # runs that a slice or a diagnosis needs


def best_hard(score):
    known = [score["baselines"][name]["mape"] for name in HARD
             if score["baselines"].get(name, {}).get("mape") is not None]
    return min(known) if known else math.nan


def value(score, key):
    return math.nan if score[key] is None else score[key]


def contradicted():
    return {name: entry for entry in load("contradicted_labels.json")["contradicted"] for name in entry["ids"]}


def single_source_words(runs):
    """The headline without runs that a constant was fitted on alone."""
    inside = {run.id for entry in load("single_source.json")["single_source"] for run in select(runs, entry["rows"])}
    rest = [run for run in runs if run.id not in inside]
    sources = collections.defaultdict(list)
    for run in rest:
        sources[run.source].append(run)
    constants = "; ".join(entry["constant"] for entry in load("single_source.json")["single_source"])
    return (f"In {len(inside)} of these runs a constant was fitted that no other source bears out ({constants}). Without "
            f"them: {len(rest)} runs, median {percent(median([abs(run.error) for run in rest]))}, mean "
            f"{percent(mape(rest))}, mean over {len(sources)} sources "
            f"{percent(mean([mape(own) for own in sources.values()]))}.\n\n")


def verdict(result, families, runs):
    all_runs, curves = result["overall"], families["overall"]
    return (
        f"**Step times of {all_runs['predicted']} published training runs of language models, predicted with nothing "
        f"measured of them: median error {percent(all_runs['median_ape'])}, mean {percent(all_runs['mape'])}; the mean "
        f"over {all_runs['groups']} sources is {percent(all_runs['mean_of_groups'])}. Better than one utilisation fitted "
        f"to all other sources in {all_runs['groups_better_than_fair']} of {all_runs['groups_with_fair']}. Speedups of "
        f"{curves['predicted']} scaling curves: median {percent(curves['median_ape'])}, mean {percent(curves['mape'])}.** "
        f"Of {all_runs['rows']} published runs {all_runs['unsupported']} are declined by their class, below.\n\n" +
        single_source_words(runs) +
        "Errors are |predicted / measured − 1|, of the step time for runs and of the speedup over the smallest count for "
        "curves; bias is the mean with its sign. Every number here is from what `foretrain validate` says of the corpora in "
        "`tests/truth`; simulated rows are not in them (the 720 single-node rows that vTrain published obey "
        "t = micro-batches · a + c to 15 digits: a simulator's output). [validation.md](validation.md) says how the page "
        "is made.\n")


def bars_section(runs, result):
    odd = contradicted()
    rows, missed = [], 0
    scores = {group["name"]: group for group in result["groups"]}
    for bar in load("bars.json")["bars"]:
        of = select(runs, bar["rows"], bar.get("not"))
        if bar.get("without_contradicted"):
            of = [run for run in of if run.id not in odd]
        reached = {"mape": mape(of), "median_ape": median([abs(run.error) for run in of]),
                   "tau_of_rows": tau_b([run.measured for run in of], [run.predicted for run in of]),
                   "kendall_tau": math.nan}
        if isinstance(bar["rows"]["file"], str) and bar["rows"]["file"] in scores:
            reached["kendall_tau"] = value(scores[bar["rows"]["file"]], "kendall_tau")
        for key, words in (("mape", "mean error"), ("median_ape", "median error"), ("kendall_tau", "τ of sets"),
                           ("tau_of_rows", "τ of rows")):
            if key not in bar:
                continue
            ranking = "tau" in key
            met = reached[key] >= bar[key] if ranking else reached[key] <= bar[key]
            missed += not met
            text = decimal if ranking else percent
            rows.append([bar["name"], words, len(of), ("≥ " if ranking else "≤ ") + text(bar[key]), text(reached[key]),
                         "yes" if met else "no"])
    bars, overall = load("bars.json")["overall"], result["overall"]
    for key, words in (("mean_of_groups", "mean of the sources' errors"), ("kendall_tau", "mean τ of sets"),
                       ("regret", "mean regret of sets")):
        ranking = key == "kendall_tau"
        reached, text = value(overall, key), decimal if ranking else percent
        met = reached >= bars[key] if ranking else reached <= bars[key]
        missed += not met
        rows.append(["all", words, overall["predicted"], ("≥ " if ranking else "≤ ") + text(bars[key]), text(reached),
                     "yes" if met else "no"])
    for key, against, words in (("groups_better_than_fair", "groups_with_fair", "sources better than the fair baseline"),
                                ("groups_better_than_hard", "groups_with_hard",
                                 "better than the hard one, where that errs by more than 10 %")):
        met = overall[key] == overall[against]
        missed += not met
        rows.append(["all", words, overall["predicted"], overall[against], overall[key], "yes" if met else "no"])
    return (f"\n## The bars\n\n{len(rows) - missed} of {len(rows)} are reached. Which rows each is about stands in "
            "`tests/accuracy/bars.json`.\n\n" +
            table(["rows", "what", "runs", "asked", "reached", "met"], rows, 2))


def sources_section(result):
    bars = load("bars.json")["overall"]
    rows, outside = [], []
    for score in result["groups"] + [dict(result["overall"], name="overall")]:
        if not score["points"]:
            continue
        fair = score["baselines"].get(FAIR, {}).get("mape")
        rows.append([score["name"], f"{score['predicted']}/{score['rows']}", percent(score["median_ape"]),
                     percent(score["mape"]), percent(score["bias"]), percent(fair), percent(best_hard(score)),
                     decimal(score["fair_skill"]), percent(score["coverage90"], 0), percent(score["median_width"], 0)])
        if score["predicted"] >= bars["coverage_rows"]:
            low, high = bars["coverage90_least"], bars["coverage90_most"]
            if not low <= score["coverage90"] <= high or score["median_width"] > bars["median_width"]:
                outside.append(f"`{score['name']}` {percent(score['coverage90'], 0)} at width "
                               f"{percent(score['median_width'], 0)}")
    text = ("\n## By source\n\nBaselines are one utilisation (Megatron's formula for FLOPs at the devices' peak): *fair*, "
            "fitted to all other sources; *hard*, fitted to the source itself, with or without the bubble of 1F1B, "
            "whichever errs less. Skill: 1 − error / that of the fair one.\n\n" +
            table(["source", "runs", "median", "mean", "bias", "fair", "hard", "skill", "covered", "width"], rows))
    if outside:
        text += (f"\n90 % intervals should cover {percent(bars['coverage90_least'], 0)} to "
                 f"{percent(bars['coverage90_most'], 0)} of a source of {bars['coverage_rows']} runs or more at a median "
                 f"width of at most {percent(bars['median_width'], 0)}; outside: " + "; ".join(outside) + ".\n")
    return text


def families_section(families):
    rows = []
    for score in families["groups"] + [dict(families["overall"], name="overall")]:
        if not score["points"]:
            continue
        base = score["baselines"]
        rows.append([score["name"], f"{score['predicted']}/{score['rows']}", score["points"],
                     percent(score["median_ape"]), percent(score["mape"]), percent(score["bias"]),
                     percent(base["constant_efficiency"]["mape"]), percent(base["linear"]["mape"]),
                     decimal(value(score, "skill")), percent(score["coverage90"], 0), percent(score["median_width"], 0)])
    return ("\n## Speedup curves\n\nThe smallest count of each curve is given, every larger one predicted. *constant*: one "
            "efficiency per doubling, fitted to all other curves; *linear*: speedup = GPUs.\n\n" +
            table(["source", "curves", "points", "median", "mean", "bias", "constant", "linear", "skill", "covered",
                   "width"], rows))


def ranking_section(result):
    rows = [[score["name"], score["sets"], decimal(value(score, "kendall_tau")), percent(value(score, "regret"))]
            for score in result["groups"] + [dict(result["overall"], name="overall")] if score["sets"]]
    return ("\n## Ranking\n\nSets of at least three runs that differ in nothing but how they share the work: τ-b of measured "
            "and predicted times, and how much longer than the best the one predicted fastest takes.\n\n" +
            table(["source", "sets", "τ", "regret"], rows))


def ladder(name, edges, words):
    """Slices of a number: below the first edge, between edges, from the last on."""
    def key(run):
        number = float(run.said[name] or 0)
        place = sum(number >= edge for edge in edges)
        return (place, words[place]) if number > 0 else (-1, "not known")
    return key


def plan_kind(run):
    tensor, pipeline = int(run.said["tensor"]) > 1, int(run.said["pipeline"]) > 1
    kinds = ["tensor"] * tensor + ["pipeline"] * pipeline
    if run.said["sharding"] not in ("", "none"):
        kinds.append(run.said["sharding"])
    return " + ".join(kinds) or "data only"


SLICES = [
    ("stack", lambda run: run.said["stack"]),
    ("chip", lambda run: run.said["chip"]),
    ("precision", lambda run: run.said["precision"]),
    ("plan", plan_kind),
    ("recompute", lambda run: run.said["recompute"]),
    ("parameters", ladder("parameters", [1e9, 1e10, 1e11], ["< 1 B", "1–10 B", "10–100 B", "≥ 100 B"])),
    ("tokens per pass", ladder("tokens_per_pass", [2048, 8192, 32768], ["< 2 k", "2–8 k", "8–32 k", "≥ 32 k"])),
    ("GFLOPs per kernel", ladder("flops_per_kernel", [1e9, 1e10, 1e11], ["< 1 (bound by launches)", "1–10", "10–100",
                                                                      "≥ 100"])),
]


def slices_section(runs):
    text = ("\n## Residuals by what a run is\n\nBias is what a missing or wrong term looks like; sources mix, so that a "
            "slice of one source says no more than that source.\n")
    for name, key in SLICES:
        groups = collections.defaultdict(list)
        for run in runs:
            groups[key(run)].append(run)
        rows = []
        for group in sorted(groups):
            of = groups[group]
            if len(of) < FEWEST:
                continue
            rows.append([group[1] if isinstance(group, tuple) else group, len(of), len({run.source for run in of}),
                         percent(median([abs(run.error) for run in of])), percent(mape(of)),
                         percent(mean([run.error for run in of])), percent(mean([run.covered for run in of]), 0)])
        text += "\n" + table([name, "runs", "sources", "median", "mean", "bias", "covered"], rows)
    return text


def terms_section(runs):
    """Whether the error goes with the share that a part of the predicted step has."""
    rows = []
    by_source = collections.defaultdict(list)
    for run in runs:
        by_source[run.source].append(run)
    for source in sorted(by_source):
        of = by_source[source]
        if len(of) < 3 * FEWEST:
            continue
        found = []
        for part in sorted({part for run in of for part in run.parts}):
            shares = [run.share(part) for run in of]
            correlation = rank_correlation(shares, [run.error for run in of])
            if math.isnan(correlation) or max(shares) < 0.02:
                continue
            ordered = sorted(of, key=lambda run: (run.share(part), run.id))
            third = len(of) // 3
            low, high = ordered[:third], ordered[-third:]
            found.append((-abs(correlation), part, correlation, low, high))
        for _, part, correlation, low, high in sorted(found, key=lambda entry: entry[:2])[:2]:
            if abs(correlation) < 0.5:
                continue
            rows.append([source, part.replace("_", " "), len(of), decimal(correlation),
                         f"{percent(mean([run.share(part) for run in low]), 0)}: "
                         f"{percent(mean([run.error for run in low]))}",
                         f"{percent(mean([run.share(part) for run in high]), 0)}: "
                         f"{percent(mean([run.error for run in high]))}"])
    return ("\n## Residuals by term\n\nFor each source of 15 runs or more the two parts of the predicted step whose share goes "
            "most with the signed error (Spearman's correlation, 0.5 or more), and share: bias of the third of the runs with "
            "the smallest share and of that with the largest. A positive correlation: the more of it is predicted, the more "
            "is predicted altogether; the part, or what comes with it, is too long, or the rest too short. A hint, no proof: "
            "shares go together.\n\n" +
            table(["source", "part", "runs", "correlation", "smallest third", "largest third"], rows, 2))


def contradicted_section(runs):
    known = {run.id: run for run in runs}
    text = ("\n## What the residuals contradict\n\nRows are predicted as labelled. Those below behave as if a label were "
            "wrong (`tests/accuracy/contradicted_labels.json`); nothing is changed.\n")
    rows = []
    for entry in load("contradicted_labels.json")["contradicted"]:
        own = [known[name] for name in entry["ids"] if name in known]
        if not own:
            continue
        source = own[0].source
        of = [run for run in runs if run.source == source]
        rest = [run for run in of if run.id not in entry["ids"]]
        text += (f"\n* `{own[0].id}` to `{own[-1].id}` (`{source}`): stated {entry['stated']}; fits {entry['fits']}. "
                 f"{entry['evidence'][0].upper()}{entry['evidence'][1:]}.\n")
        rows.append([source, f"{own[0].id} … {own[-1].id}", len(own), percent(mean([run.error for run in own])),
                     percent(mape(of)), percent(mape(rest))])
    return text + "\n" + table(["source", "rows", "number", "their bias", "error with them", "without"], rows, 2)


CONFIGURATION_IS_NOT = {"id", "source_loc", "tier", "missing", "measured_metric", "measured_value",
                        "step_time_s", "tokens_per_s_per_gpu", "notes"}


def repeated(rows):
    """Rows of equal configuration and different notes or days: what no model of the columns can tell apart."""
    groups = collections.defaultdict(list)
    for row in rows:
        if row["step_time_s"]:
            groups[tuple(text for name, text in row.items() if name not in CONFIGURATION_IS_NOT)].append(row)
    return [group for group in groups.values() if len(group) > 1]


def noise_section(runs):
    predicted = {run.id for run in runs}
    by_source = collections.defaultdict(list)
    for group in repeated(stated_runs()):
        times = [float(row["step_time_s"]) for row in group]
        middle = median(times)
        by_source[group[0]["file"]].append((max(times) / min(times) - 1, mean([abs(middle / time - 1) for time in times]),
                                            len(group), sum(row["id"] in predicted for row in group)))
    rows = []
    for source in sorted(by_source):
        groups = by_source[source]
        rows.append([source, len(groups), sum(group[2] for group in groups), sum(group[3] for group in groups),
                     percent(median([group[0] for group in groups])), percent(max(group[0] for group in groups)),
                     percent(sum(group[1] * group[2] for group in groups) / sum(group[2] for group in groups))])
    return ("\n## The noise floor\n\nRuns whose stated configurations are equal in every column: other days, releases or "
            "settings that nobody states. *floor*: the mean error that the median of each such group would make, below "
            "which no prediction from these columns comes.\n\n" +
            table(["source", "groups", "rows", "of these predicted", "median spread", "largest", "floor"], rows))


def synthetic_section(runs):
    """t = micro-batches · a + c over the data-parallel degree: an output of a formula obeys it exactly."""
    families = collections.defaultdict(dict)
    for run in runs:
        row = run.row
        if not (row["dp"] and row["micro_batch"] and row["global_batch"]):
            continue
        passes = float(row["global_batch"]) / float(row["dp"]) / float(row["micro_batch"])
        if not passes.is_integer():
            continue
        key = tuple(row[name] for name in ("file", "gpu", "model", "layers", "hidden", "seq_len", "micro_batch", "tp", "pp",
                                          "vpp", "recompute", "precision", "sharding", "schedule"))
        families[key].setdefault(passes, run.measured)
    checked, suspicious = 0, []
    for key, points in families.items():
        if len(points) < 4:
            continue
        checked += 1
        xs, ys = list(points), list(points.values())
        x0, y0 = mean(xs), mean(ys)
        slope = sum((x - x0) * (y - y0) for x, y in zip(xs, ys)) / sum((x - x0) ** 2 for x in xs)
        worst = max(abs((y0 + slope * (x - x0)) / y - 1) for x, y in zip(xs, ys))
        if worst < 1e-6:
            suspicious.append(key[0])
    found = "none obeys it" if not suspicious else "**these do: " + ", ".join(sorted(set(suspicious))) + "**"
    return ("\n## Is it measured?\n\nA simulator's output obeys t = micro-batches · a + c to the last digit. Of "
            f"{checked} families of four or more predicted runs that differ in the number of micro-batches, {found} within "
            "10⁻⁶.\n")


def left_out_section():
    try:
        stored = load("left_out.json")
    except FileNotFoundError:
        return ""
    rows = [[row["source"], row["runs"], percent(row["shipped"]), percent(row["fitted"]), percent(row["left_out"]),
             percent(row["fair"])] for row in stored["sources"]]
    return ("\n## Sources that had no part in the constants\n\n"
            f"{len(stored['constants'])} constants that step times had a part in (`tests/accuracy/llm_runs.json`) are fitted "
            "again, held by their priors: to all sources, and to all but the one that is then predicted. vtrain_multi is "
            "never fitted on. Mean errors; *fair* is the baseline above.\n\n" +
            table(["source", "runs", "shipped", "fitted to all", "left out", "fair"], rows) +
            f"\nPredictions follow the constants to first order (finite differences of the logarithm). Inputs "
            f"{stored['inputs']}" + (", as shipped.\n" if stored["inputs"] == inputs_digest() else
                                     "; **shipped data has changed since** (`tests/accuracy/run FORETRAIN --left-out`).\n"))


def worst_section(runs):
    rows = []
    for run in sorted(runs, key=lambda run: (-abs(run.error), run.id))[:15]:
        rows.append([run.id, run.source, run.said["gpus"], run.said["plan"], f"{run.measured:.3g} s",
                     f"{run.predicted:.3g} s", percent(run.error, 0),
                     f"{run.said['largest_part'].replace('_', ' ')} {percent(float(run.said['largest_part_share'] or 0), 0)}"])
    return "\n## The worst runs\n\n" + table(["run", "source", "GPUs", "plan", "measured", "predicted", "error",
                                             "longest beside computing"], rows, 2)


def declined_section(said, words, title):
    reasons = collections.Counter(row["reason"] for row in said if row["reason"])
    rows = [[reason, count] for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))]
    return f"\n## {title}\n\n" + table(["reason", words], rows) if rows else ""


def every_run_section(runs):
    text = "\n## Every predicted run\n"
    for source in sorted({run.source for run in runs}):
        of = [run for run in runs if run.source == source]
        rows = [[run.id, run.said["gpus"], run.said["plan"], f"{run.measured:.3g} s", f"{run.predicted:.3g} s",
                 f"{run.low:.3g}–{run.high:.3g}", percent(run.error, 0), run.said["largest_part"].replace("_", " ")]
                for run in of]
        text += (f"\n<details><summary>{source}: {len(of)} runs</summary>\n\n" +
                 table(["run", "GPUs", "plan", "measured", "predicted", "90 % interval", "error",
                        "longest beside computing"], rows) + "\n</details>\n")
    return text


def page(llm_runs, speedup_families):
    """Of the (JSON, CSV rows) of both corpora."""
    result, said = llm_runs
    families, said_of_families = speedup_families
    runs = joined(said)
    return ("# Accuracy\n\n<!-- Written by tests/accuracy/run; do not edit. -->\n\n" + verdict(result, families, runs) +
            bars_section(runs, result) + sources_section(result) + ranking_section(result) + left_out_section() +
            families_section(families) + slices_section(runs) + terms_section(runs) + contradicted_section(runs) +
            noise_section(runs) + synthetic_section(runs) + worst_section(runs) +
            declined_section(said, "runs", "Declined runs") +
            declined_section(said_of_families, "curves", "Declined curves") + every_run_section(runs))
