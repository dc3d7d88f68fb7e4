"""The bars of continuous integration: today's scores with room for 5 % (relative) of worsening.

A gate file holds {"overall.mape": {"max": …}, …}; foretrain validate --gate reads it. Counts of predicted rows may not
fall at all; coverage keeps a band of its own.
"""
import json
import math

from evidence import HERE

ROOM = 0.05
DIGITS = 4


def up(value):
    return math.ceil(value * 10 ** DIGITS) / 10 ** DIGITS


def down(value):
    return math.floor(value * 10 ** DIGITS) / 10 ** DIGITS


def at_most(bars, key, value):
    if value is not None:
        bars[key] = {"max": up(value * (1 + ROOM))}


def at_least(bars, key, value):
    """Of scores whose best is 1: what is missing to it may grow by the room."""
    if value is not None:
        bars[key] = {"min": down(1 - (1 - value) * (1 + ROOM))}


def common(result):
    overall, bars = result["overall"], {}
    bars["overall.predicted"] = {"min": overall["predicted"]}
    at_most(bars, "overall.median_ape", overall["median_ape"])
    at_most(bars, "overall.mape", overall["mape"])
    at_least(bars, "overall.skill", overall["skill"])
    at_most(bars, "overall.median_width", overall["median_width"])
    bars["overall.coverage90"] = {"min": down(overall["coverage90"] - ROOM), "max": up(min(1, overall["coverage90"] + ROOM))}
    return bars


def families_gate(result):
    bars = common(result)
    at_least(bars, "overall.median_skill", result["overall"]["median_skill"])
    return with_groups(bars, result)


def llm_runs_gate(result):
    bars, overall = common(result), result["overall"]
    bars["complete_runs.predicted"] = {"min": result["complete_runs"]["predicted"]}
    at_most(bars, "overall.mean_of_groups", overall["mean_of_groups"])
    bars["overall.groups_better_than_fair"] = {"min": overall["groups_better_than_fair"]}
    bars["overall.groups_better_than_hard"] = {"min": overall["groups_better_than_hard"]}
    at_least(bars, "overall.fair_skill", overall["fair_skill"])
    at_least(bars, "overall.kendall_tau", overall["kendall_tau"])
    at_most(bars, "overall.regret", max(overall["regret"], 0.01))  # a regret of nothing leaves no room to worsen
    return with_groups(bars, result)


def with_groups(bars, result):
    for score in result["groups"]:
        if score["points"]:
            at_most(bars, f"groups.{score['name']}.mape", score["mape"])
            if score["kendall_tau"] is not None:
                at_least(bars, f"groups.{score['name']}.kendall_tau", score["kendall_tau"])
    return bars


def write(name, bars):
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(bar)}" for key, bar in bars.items())
    (HERE / name).write_text("{\n" + lines + "\n}\n")
