"""How well sources of language-model runs are predicted that had no part in the constants; writes left_out.json.

The constants of llm_runs.json are fitted again, held by their priors, to all sources and to all but each one. Every
source weighs the same in a fit. Predictions follow the constants by finite differences (one run of foretrain validate
per constant), which is exact to first order.
"""
import json
import math
import pathlib
import tempfile

from evidence import FAIR, HERE, ROOT, TRUTH, digest, joined, load, mean, validate

STEP = 0.05  # of the logarithm, for finite differences
PRIOR_WEIGHT = 5e-4  # of a squared standard deviation of the priors, against the mean absolute residual
SMALLEST_RESIDUAL = 0.02  # below which a run weighs no more
ROUNDS = 30


def shipped(kind, entry):
    return json.loads((ROOT / "calibrate" / kind / (entry + ".json")).read_text())


def own_value(entry, key):
    """The parameter that a stack has from the one it is like."""
    data = shipped("stacks", entry)
    while key not in data["values"]:
        data = shipped("stacks", data["like"])
    return dict(data["values"][key])


def moved(constant, log_multiplier):
    """The constant's file with its value moved."""
    data, path = shipped(constant["kind"], constant["entry"]), constant["path"]
    if constant["kind"] == "stacks" and path[0] == "values":
        data["values"].setdefault(path[1], own_value(constant["entry"], path[1]))
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    factor, value = math.exp(log_multiplier), holder[path[-1]]
    holder[path[-1]] = 1 - (1 - value) * factor if constant.get("complement") else value * factor
    return data


def predictions(foretrain, constant, base):
    """By id, with the constant moved. Upwards, unless the data refuses that (shares above 1)."""
    for step in (STEP, -STEP):
        with tempfile.TemporaryDirectory() as overlay:
            folder = pathlib.Path(overlay) / constant["kind"]
            folder.mkdir()
            (folder / (constant["entry"] + ".json")).write_text(json.dumps(moved(constant, step)))
            try:
                runs = joined(validate(foretrain, "llm_runs", overlay)[1])
            except Exception:  # the program says what it refuses on stderr
                if step < 0:
                    raise
                continue
        by_id = {run.id: run.predicted for run in runs}
        return [math.log(by_id[run.id] / run.predicted) / step if run.id in by_id else 0.0 for run in base]
    raise AssertionError


def solve(matrix, right):
    """Gauss elimination with pivoting; the matrix is positive definite."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    n = len(rows)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    for i in reversed(range(n)):
        rows[i][n] = (rows[i][n] - sum(rows[i][j] * rows[j][n] for j in range(i + 1, n))) / rows[i][i]
    return [row[n] for row in rows]


def fit(slopes, residuals, sources, priors):
    """Log multipliers that make the mean over sources of mean absolute residuals small (reweighted least squares)."""
    count = {source: sources.count(source) for source in sources}
    theta = [0.0] * len(priors)
    for _ in range(ROUNDS):
        normal = [[PRIOR_WEIGHT / prior ** 2 * (i == j) for j in range(len(priors))] for i, prior in enumerate(priors)]
        right = [0.0] * len(priors)
        for row, residual, source in zip(slopes, residuals, sources):
            at = residual + sum(a * b for a, b in zip(row, theta))
            weight = 1 / max(abs(at), SMALLEST_RESIDUAL) / count[source] / len(count)
            for i, a in enumerate(row):
                right[i] -= weight * a * residual
                for j, b in enumerate(row):
                    normal[i][j] += weight * a * b
        theta = solve(normal, right)
    return theta


def inputs_digest():
    data = sorted(path for kind in ("devices", "stacks", "networks", "collectives")
                  for path in (ROOT / "calibrate" / kind).glob("*.json"))
    return digest([HERE / "llm_runs.json", TRUTH / "llm_runs.csv"] + data)


def measure(foretrain, llm_runs, progress):
    """The table of left_out.json. `llm_runs`: the (JSON, CSV rows) with what is shipped."""
    result, said = llm_runs
    setup, runs = load("llm_runs.json"), joined(said)
    columns = []
    for constant in setup["constants"]:
        progress(f"{constant['entry']}.{'.'.join(constant['path'])}")
        columns.append(predictions(foretrain, constant, runs))
    slopes = list(zip(*columns))
    residuals = [math.log(run.predicted / run.measured) for run in runs]
    priors = [constant["prior"] for constant in setup["constants"]]
    never = setup["never_fitted_on"]

    def fitted_without(source):
        use = [i for i, run in enumerate(runs) if run.source != source and run.source not in never]
        return fit([slopes[i] for i in use], [residuals[i] for i in use], [runs[i].source for i in use], priors)

    def error(theta, source):
        return mean([abs(math.exp(r + sum(a * b for a, b in zip(row, theta))) - 1)
                     for run, r, row in zip(runs, residuals, slopes) if run.source == source])

    every, nothing = fitted_without(None), [0.0] * len(priors)
    rows = []
    for score in result["groups"]:
        if not score["points"]:
            continue
        name = score["name"]
        fair = score["baselines"][FAIR]["mape"]
        rows.append({"source": name, "runs": score["predicted"], "shipped": error(nothing, name),
                     "fitted": error(every, name), "left_out": error(fitted_without(name), name), "fair": fair})
    rows.append(dict({"source": "mean of sources", "runs": len(runs)},
                     **{key: mean([row[key] for row in rows]) for key in ("shipped", "fitted", "left_out", "fair")}))
    for row in rows:
        row.update({key: round(row[key], 5) for key in ("shipped", "fitted", "left_out", "fair")})
    constants = [{"constant": f"{constant['entry']}.{'.'.join(constant['path'])}", "multiplier": round(math.exp(value), 3)}
                 for constant, value in zip(setup["constants"], every)]
    return {"comment": "Written by tests/accuracy/run; mean errors as fractions. multiplier: what a fit to all sources "
                       "would choose, times the shipped value (times 1 - value where complement).",
            "inputs": inputs_digest(), "constants": constants, "sources": rows}
