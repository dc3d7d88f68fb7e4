"""What foretrain validate found, joined with what the sources state: the common ground of the scripts beside this."""
import csv
import hashlib
import json
import math
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TRUTH = ROOT / "tests" / "truth"
FAIR = "utilisation_of_others"
HARD = ("utilisation_of_group", "utilisation_and_bubble_of_group")


def load(name):
    return json.loads((HERE / name).read_text())


def validate(foretrain, corpus, overlay=None):
    """The JSON result, and the rows of the CSV, of one corpus ("llm_runs")."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "rows.csv"
        command = [foretrain, "validate", str(TRUTH / (corpus + ".csv")), "-q", "--json", "-", "--csv", str(table)]
        # What a user's own data says is no part of the evidence.
        environment = {name: value for name, value in os.environ.items() if name != "FORETRAIN_DATA"}
        if overlay:
            command += ["--data", str(overlay)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
        with open(table, encoding="utf-8", newline="") as rows:
            return json.loads(done.stdout), list(csv.DictReader(rows))


class Run:
    """One predicted run: `row` as the source states it, `said` as validate tells it."""

    def __init__(self, row, said):
        self.row, self.said = row, said
        self.id, self.source = row["id"], row["file"]
        self.measured, self.predicted = float(said["measured"]), float(said["predicted"])
        self.low, self.high = float(said["low"]), float(said["high"])
        self.parts = {}
        for part in filter(None, said["parts_seconds"].split("; ")):
            name, seconds = part.rsplit(" ", 1)
            self.parts[name] = float(seconds)

    @property
    def error(self):
        return self.predicted / self.measured - 1

    @property
    def covered(self):
        return self.low <= self.measured <= self.high

    def share(self, part):
        return self.parts.get(part, 0) / self.predicted

    def field(self, name):
        return self.row[name] if name in self.row else self.said[name]


def stated_runs():
    with open(TRUTH / "llm_runs.csv", encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


def joined(said):
    rows = {row["id"]: row for row in stated_runs()}
    return [Run(rows[one["id"]], one) for one in said if one["predicted"]]


def select(runs, wanted, unwanted=None):
    """The runs whose fields are all as wanted, and none as unwanted."""
    def has(run, name, values):
        return run.field(name) in (values if isinstance(values, list) else [values])
    return [run for run in runs if all(has(run, *item) for item in wanted.items())
            and not any(has(run, *item) for item in (unwanted or {}).items())]


def mean(values):
    return sum(values) / len(values) if values else math.nan


def median(values):
    values, half = sorted(values), len(values) // 2
    if not values:
        return math.nan
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def mape(runs):
    return mean([abs(run.error) for run in runs])


def tau_b(a, b):
    sign = lambda value: (value > 0) - (value < 0)
    both = in_a = in_b = 0
    for i in range(len(a)):
        for j in range(i):
            x, y = sign(a[i] - a[j]), sign(b[i] - b[j])
            both, in_a, in_b = both + x * y, in_a + x * x, in_b + y * y
    return both / math.sqrt(in_a * in_b) if in_a * in_b else math.nan


def ranks(values):
    """Ranks from 0, equal values sharing the mean of theirs."""
    order = sorted(values)
    first, count = {}, {}
    for place, value in enumerate(order):
        first.setdefault(value, place)
        count[value] = count.get(value, 0) + 1
    return [first[value] + (count[value] - 1) / 2 for value in values]


def rank_correlation(a, b):
    """Spearman's; NaN where one of them does not vary."""
    a, b = ranks(a), ranks(b)
    mean_a, mean_b = mean(a), mean(b)
    spread = math.sqrt(sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b))
    return sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b)) / spread if spread else math.nan


def percent(fraction, decimals=1):
    if fraction is None or math.isnan(fraction):
        return "–"
    text = f"{100 * fraction:.{decimals}f}"
    return (text[1:] if float(text) == 0 and text[0] == "-" else text) + " %"


def decimal(value):
    if value is None or math.isnan(value):
        return "–"
    text = f"{value:.2f}"
    return text[1:] if float(text) == 0 and text[0] == "-" else text


def table(header, rows, texts=1):
    """A Markdown table; all columns but the first `texts` are numbers."""
    cell = lambda value: str(value).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
    lines = [header, ["---"] * texts + ["---:"] * (len(header) - texts)] + rows
    return "".join("| " + " | ".join(map(cell, line)) + " |\n" for line in lines)


def digest(paths):
    """Of texts in the order given: what a stored table was made from."""
    total = hashlib.sha256()
    for path in paths:
        total.update(pathlib.Path(path).read_bytes().replace(b"\r\n", b"\n"))
        total.update(b"\0")
    return total.hexdigest()[:16]
