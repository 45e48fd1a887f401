#!/usr/bin/env python3
"""The table of docs/benchmarks.md of what is shipped, as Markdown on stdout.

    shipped_table.py TOOL DATABASE [KERNEL…]

DATABASE is one that `msda-tune import --as measured` made of db/tuned, or the tuner's own. A row for each winner: its time, what the model's floor is of that, the default's time, and
how much slower than the winner the lookup's answer would be if this shape had not been tuned (over its workloads the worst; "default": it answers with the default)."""
import json, subprocess, sys

USUAL = 3  # knobs that this share of a kernel's winners has are told once


def ask(tool, *words):
    run = subprocess.run([tool, *words], stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def microseconds(value):
    return "-" if value is None else f"{value:.4g}" if value < 1000 else f"{value:.0f}"


def usual_knobs(winners):
    """The most frequent value of each knob, where at least two of three winners that have the knob agree."""
    counts = {}
    for winner in winners:
        for knob, value in winner["knobs"].items():
            counts.setdefault(knob, {}).setdefault(value, 0)
            counts[knob][value] += 1
    usual = {}
    for knob, values in counts.items():
        value, count = max(values.items(), key=lambda item: item[1])
        if count * USUAL >= 2 * sum(values.values()):
            usual[knob] = value
    return usual


def knobs_text(knobs, but):
    return " ".join(f"{knob}={value}" for knob, value in sorted(knobs.items()) if but.get(knob) != value)


def fallback_text(trial):
    if trial is None or trial["slowdown"] is None:
        return "-"
    return f"{trial['slowdown']:.2f}×" + (" (default)" if trial["is_default"] else "")


def kernel_table(winners, portfolio):
    usual = usual_knobs(winners)
    trials = {trial["shape"]: trial for trial in portfolio.get("left_out", [])} if portfolio else {}
    first = winners[0]
    print(f"### {first['kernel']} on {first['gpu_name']}, {first['regime']}, source {first['kernel_key'][:8]}\n")
    print(f"Usual knobs, left out below: `{knobs_text(usual, {})}`\n")
    print("| shape | workload | winner | µs | % of floor | default µs | × | without the row |\n|---|---|---|---|---|---|---|---|")
    for w in winners:
        floor = w["model_floor_us"]
        default = w["default_us"]
        cells = [w["shape"], w["workload"], f"`{knobs_text(w['knobs'], usual) or 'the usual'}`", microseconds(w["median_us"]), "-" if not floor else f"{100 * floor / w['median_us']:.0f}",
                 microseconds(default), "-" if default is None else f"{default / w['median_us']:.2f}", fallback_text(trials.get(w["shape"]))]
        print("| " + " | ".join(cells) + " |")
    print()
    if portfolio and portfolio.get("ladder", {}).get("geomean"):
        print(f"A portfolio of {len(portfolio['members'])} serves {portfolio['shapes'] - portfolio['unserved']} of {portfolio['shapes']} shapes within {portfolio['within']:.2f}×. Left out one at a time"
              + (f" (on {portfolio['not_measured']} the ladder's answer was not measured):\n" if portfolio["not_measured"] else ":\n"))
        print("| | geomean | worst | shapes |\n|---|---|---|---|")
        for name, title in (("ladder_alone", "the ladder, wherever its answer has a time"), ("ladder", "the ladder, where all three have one"), ("always_default", "always the default"), ("nearest_by_volume", "nearest by volume")):
            score = portfolio[name]
            print(f"| {title} | {score['geomean']:.3f} | {score['worst']:.3f} | {score['shapes']} |")
        print()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tool, database, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    winners = ask(tool, "show", "--db", database, "--json")
    portfolios = {(p["kernel_key"], p["gpu"], p["regime"]): p for p in ask(tool, "portfolio", "--db", database, "--max", "64", "--evaluate", "--json")}
    groups = {}
    for w in winners:
        if not wanted or w["kernel"] in wanted:
            groups.setdefault((w["kernel_key"], w["gpu"], w["regime"]), []).append(w)
    for key, group in groups.items():
        kernel_table(group, portfolios.get(key))


main()
