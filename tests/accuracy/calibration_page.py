"""docs/calibration.md: every parameter that something was fitted for, from the shipped data itself."""
import json
import re

from evidence import ROOT, load, table

KINDS = [("devices", "Devices"), ("stacks", "Software stacks"), ("networks", "Networks"), ("collectives", "Collectives")]
FITTED = re.compile(r"\bfit(s|ted)?\b|speedup families", re.IGNORECASE)


def number(value):
    return f"{value:.4g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def entries(kind):
    """(file, name, place, what holds it) of every object of the kind's files that has a source."""
    def walk(data, place):
        if isinstance(data, dict):
            if "source" in data:
                yield place, data
            for key, below in data.items():
                yield from walk(below, place + [key])
        elif isinstance(data, list):
            for index, below in enumerate(data):
                yield from walk(below, place + [str(index)])
    for path in sorted((ROOT / "calibrate" / kind).glob("*.json")):
        for place, data in walk(json.loads(path.read_text()), []):
            yield path.stem, place, data


def numbers_of(data):
    """The numbers that the object itself holds; its spread is told apart."""
    if "value" in data:
        return {"value": data["value"]}
    return {key: value for key, value in data.items()
            if isinstance(value, (int, float)) and not isinstance(value, bool) and "spread" not in key}


def count(value):
    """Of the numbers in a list or object."""
    if isinstance(value, dict):
        return sum(map(count, value.values()))
    if isinstance(value, list):
        return sum(map(count, value))
    return int(isinstance(value, (int, float)))


def spread_of(data):
    for key in ("relative_spread", "achieved_spread"):
        if key in data:
            return f"±{100 * data[key]:.0f} %"
    return "not stated"


def sources_of(data):
    """Names of the measured runs or curves that the words of the source name."""
    return [entry for entry in load("calibration_sources.json")["sources"]
            if re.search(entry["words"], data["source"], re.IGNORECASE)]


def shared_by(data):
    found = sources_of(data)
    count = sum(entry["sources"] for entry in found)
    if not found:
        return "kernels, tables or logs"
    names = ", ".join(entry["name"] for entry in found)
    return names + (" (**single source**)" if count == 1 else "")


def value_cell(data):
    if "value" in data:
        unit = data.get("unit", "")
        return f"{number(data['value'])} {unit if unit not in ('1', '0/1', 'fraction') else ''}".strip()
    cell = ", ".join(f"{key} {number(value)}" for key, value in numbers_of(data).items())
    tables = [f"{key} ({count(value)} numbers)" for key, value in data.items() if count(value) > 0
              and isinstance(value, (list, dict)) and not (isinstance(value, dict) and "source" in value)]
    return ", ".join(filter(None, [cell] + tables))


def plausibility(kind, file, place, data, everything):
    """What calibration_sources.json says of it, else what other files of the kind have in the same place."""
    said = load("calibration_sources.json")["plausible"].get("/".join([kind, file, ".".join(place)]))
    if said:
        return said
    key = "value" if "value" in data else "sustained" if "sustained" in data else None
    if key is None:
        return "–"
    others = [other[key] for of, where, other in everything
              if of != file and where == place and isinstance(other.get(key), (int, float))]
    if not others:
        return "nothing to compare"
    low, high = min(others), max(others)
    inside = "within" if low <= data[key] <= high else "outside"
    return f"{inside} {number(low)} to {number(high)} ({key} of {len(others)} others)"


def section(kind, title):
    everything = list(entries(kind))
    rows, notes, others = [], [], 0
    for file, place, data in everything:
        provenance = data.get("provenance")
        if provenance == "fitted" or (provenance is None and FITTED.search(data["source"])):
            name = ".".join(place[1:] if place[:1] == ["values"] else place) or "whole file"
            rows.append([f"`{file}`", f"`{name}`", value_cell(data), spread_of(data), shared_by(data),
                         plausibility(kind, file, place, data, everything), data["source"]])
        else:
            others += 1
            if FITTED.search(data["source"]):
                notes.append([f"`{file}`", f"`{'.'.join(place) or 'whole file'}`", provenance, data["source"]])
    text = f"\n## {title}\n\n{len(rows)} fitted; {others} measured, from data sheets or assumed (`calibrate/{kind}/`).\n"
    if rows:
        text += "\n" + table(["file", "parameter", "value", "spread", "step times and curves it rests on", "plausible?",
                              "fitted on"], rows, 7)
    if notes:
        text += (f"\n<details><summary>{len(notes)} that are called otherwise, whose source speaks of a fit</summary>\n\n" +
                 table(["file", "parameter", "called", "source"], notes, 4) + "\n</details>\n")
    return text


def corpus_section():
    rows = []
    for path in sorted((ROOT / "scenarios" / "corpus").glob("*.json")):
        data = json.loads(path.read_text())
        for entry in data.get("assumptions", []):
            rows.append([f"`{path.stem}`", ", ".join(map(str, entry["if"].values())),
                         ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in entry["is"].items()), entry["source"]])
    return ("\n## What is assumed where a run does not say\n\nNothing here is fitted; it widens intervals "
            "(`scenarios/corpus/`).\n\n" + table(["file", "not stated", "effect", "source"], rows, 4))


def page():
    return ("# Calibration\n\n<!-- Written by tests/accuracy/run; do not edit. -->\n\n"
            "Every parameter of the shipped data that is fitted: by its provenance, or, where a file states none, by its "
            "source. A parameter belongs to a device, a kind of network or collective, or a software stack; never to a run, a "
            "paper, a model or a number of GPUs. **Single source**: the step times of one source alone bear it, so that this "
            "source says nothing about it; what a fit without that source gives is in [accuracy.md](accuracy.md). "
            "`vtrain_multi` is never fitted on.\n\nThe column of sources is read off the words of the source by "
            "`tests/accuracy/calibration_sources.json`; parameters without one rest on kernels, tables or logs. *Plausible?* "
            "compares with the same parameter in other files of its kind; where a source's page was not opened, its text says "
            "unverified.\n" + "".join(section(*kind) for kind in KINDS) + corpus_section())
