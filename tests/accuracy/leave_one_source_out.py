#!/usr/bin/python3
"""How well sources are predicted whose curves had no part in the constants.

For every source of the speedup families the constants of families.json are fitted again to all other sources, held
by their priors, and the source is predicted with them. Facts about one version of a framework that only the
left-out source shows are taken away: its stack falls back to the one it is like. Predictions follow the constants
by finite differences (one run of `foretrain validate` per constant), which is exact to first order.

Needs python3-numpy. Usage: leave_one_source_out.py FORETRAIN [FAMILIES.csv]
"""
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STEP = 0.1  # of the logarithm, for finite differences
PRIOR_WEIGHT = 5e-4  # of a squared standard deviation of the priors, against the mean absolute residual


def validate(foretrain, families, overlay):
    """Points as {(id, gpus): (measured, predicted, low, high)}."""
    command = [foretrain, "validate", str(families), "--json", "-"]
    if overlay:
        command += ["--data", str(overlay)]
    rows = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["rows"]
    return {(row["id"], row["gpus"]): (row["measured"], row["predicted"], row["low"], row["high"])
            for row in rows if "predicted" in row}


def shipped(kind, entry):
    return json.loads((ROOT / "calibrate" / kind / (entry + ".json")).read_text())


def moved(constant, log_multiplier):
    """The file of the constant with its value moved."""
    data = shipped(constant["kind"], constant["entry"])
    holder, key = (data, constant["key"]) if constant["kind"] == "networks" else (
        data["values"].setdefault(constant["key"], own_value(constant)), "value")
    value = holder[key]
    factor = math.exp(log_multiplier)
    holder[key] = 1 - (1 - value) * factor if constant.get("complement") else value * factor
    return data


def own_value(constant):
    """The value that a stack has from the one it is like."""
    data = shipped("stacks", constant["entry"])
    while constant["key"] not in data["values"]:
        data = shipped("stacks", data["like"])
    return dict(data["values"][constant["key"]])


def write(overlay, kind, entry, data):
    folder = pathlib.Path(overlay) / kind
    folder.mkdir(exist_ok=True)
    (folder / (entry + ".json")).write_text(json.dumps(data))


def fit(jacobian, residuals, priors):
    """Log multipliers that make the mean absolute residual small (reweighted least squares)."""
    theta = numpy.zeros(len(priors))
    for _ in range(30):
        at = residuals + jacobian @ theta
        weights = 1 / numpy.maximum(numpy.abs(at), 0.02) / len(at)
        normal = jacobian.T @ (weights[:, None] * jacobian) + numpy.diag(PRIOR_WEIGHT / numpy.array(priors) ** 2)
        theta = numpy.linalg.solve(normal, -jacobian.T @ (weights * residuals))
    return theta


def report(name, errors):
    errors = numpy.abs(numpy.exp(errors) - 1)
    print(f"{name:34} {len(errors):5} {100 * numpy.median(errors):7.1f} % {100 * numpy.mean(errors):7.1f} %"
          f" {100 * numpy.mean(errors <= 0.1):6.0f} %")


def main():
    foretrain = sys.argv[1]
    families = sys.argv[2] if len(sys.argv) > 2 else ROOT / "tests" / "truth" / "speedup_families.csv"
    setup = json.loads((HERE / "families.json").read_text())
    source_of = {row["family_id"]: row["file"].removesuffix(".csv") for row in csv.DictReader(open(families))}
    base = validate(foretrain, families, None)
    keys = sorted(base)
    sources = numpy.array([source_of[key[0]] for key in keys])
    residuals = numpy.array([math.log(base[key][1] / base[key][0]) for key in keys])

    columns = []
    for constant in setup["constants"]:
        with tempfile.TemporaryDirectory() as overlay:
            write(overlay, constant["kind"], constant["entry"], moved(constant, STEP))
            changed = validate(foretrain, families, overlay)
        columns.append([math.log(changed[key][1] / base[key][1]) / STEP for key in keys])
        print(f"... {constant['entry']}.{constant['key']}", file=sys.stderr)
    jacobian = numpy.array(columns).T
    priors = [constant["prior"] for constant in setup["constants"]]

    print(f"{'source left out':34} points   median     mean within 10 %")
    left_out = numpy.array(residuals)
    for source in sorted(set(sources)):
        out = sources == source
        theta = fit(jacobian[~out], residuals[~out], priors)
        lost = [entry["stack"] for entry in setup["single_source"] if entry["source"] == source]
        here = residuals
        if lost:
            with tempfile.TemporaryDirectory() as overlay:
                for stack in lost:
                    data = shipped("stacks", stack)
                    data["values"] = {}
                    write(overlay, "stacks", stack, data)
                without = validate(foretrain, families, overlay)
            here = numpy.array([math.log(without[key][1] / base[key][0]) for key in keys])
        left_out[out] = here[out] + jacobian[out] @ theta
        report(source, left_out[out])
    report("all, each left out", left_out)
    report("all, shipped constants", residuals)
    theta = fit(jacobian, residuals, priors)
    report("all, fitted to all", residuals + jacobian @ theta)
    print("\nmultipliers that a fit to all sources would choose (of 1 − value where complement):")
    for constant, value in zip(setup["constants"], theta):
        note = " (complement)" if constant.get("complement") else ""
        print(f"  {constant['entry']}.{constant['key']}{note}: {math.exp(value):.2f}")


main()
