#!/usr/bin/env python3
"""The tables of docs/tuned_tables.md of what is shipped, as Markdown.

    shipped_table.py TOOL SOURCE_FOLDER              writes them into SOURCE_FOLDER/docs/tuned_tables.md, between two comments, from SOURCE_FOLDER/db/tuned
    shipped_table.py TOOL SOURCE_FOLDER --check      exit code 1 when others stand there; what needs the portfolios is not looked at, which would take a debug build half a minute
    shipped_table.py TOOL DATABASE [KERNEL…]         prints those of a database, the tuner's own say

A row for each winner: its time, what the model's floor is of that, the default's time, and how much slower than the winner the lookup's answer would be if this shape had not been tuned (over its workloads the worst;
"default": it answers with the default)."""
import glob, json, os, subprocess, sys, tempfile

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


def served_text(portfolio):
    shapes, apart, unserved = portfolio["shapes"], portfolio["apart"], portfolio["unserved"]
    text = f"has a variant within {portfolio['within']:.2f}× of the best on {shapes - apart} of {shapes} shapes"
    return text if apart == unserved else text + f", of the best single variant for all workloads of the shape on {shapes - unserved} (worst {portfolio['worst']:.2f}× of a workload's own best)"


def kernel_table(winners, portfolio, say):
    usual = usual_knobs(winners)
    trials = {trial["shape"]: trial for trial in portfolio.get("left_out", [])} if portfolio else {}
    first = winners[0]
    say(f"## {first['kernel']} on {first['gpu_name']}, {first['l2']}, source {first['kernel_key'][:8]}\n")
    say(f"Usual knobs, left out below: `{knobs_text(usual, {})}`\n")
    say("| shape | workload | winner | µs | % of floor | default µs | × | without the row |\n|---|---|---|---|---|---|---|---|")
    for w in winners:
        floor = w["model_floor_us"]
        default = w["default_us"]
        cells = [w["shape"], w["workload"], f"`{knobs_text(w['knobs'], usual) or 'the usual'}`", microseconds(w["median_us"]), "-" if not floor else f"{100 * floor / w['median_us']:.0f}",
                 microseconds(default), "-" if default is None else f"{default / w['median_us']:.2f}", fallback_text(trials.get(w["shape"]))]
        say("| " + " | ".join(cells) + " |")
    say()
    if portfolio and portfolio.get("predictor", {}).get("geomean"):
        say(f"A portfolio of {len(portfolio['members'])} {served_text(portfolio)}. Left out one at a time"
              + (f" (on {portfolio['not_measured']} the predictor's answer was not measured):\n" if portfolio["not_measured"] else ":\n"))
        say("| | geomean | worst | shapes |\n|---|---|---|---|")
        for name, title in (("predictor_alone", "the predictor, wherever its answer has a time"), ("predictor", "the predictor, where all three have one"), ("always_default", "always the default"), ("nearest_by_volume", "nearest by volume")):
            score = portfolio[name]
            say(f"| {title} | {score['geomean']:.3f} | {score['worst']:.3f} | {score['shapes']} |")
        say()


def tables(tool, database, wanted=(), with_portfolios=True):
    lines = []
    winners = ask(tool, "show", "--db", database, "--json")
    portfolios = ask(tool, "portfolio", "--db", database, "--max", "64", "--evaluate", "--json") if with_portfolios else []
    portfolios = {(p["kernel_key"], p["gpu"], p["l2"]): p for p in portfolios}
    groups = {}
    for w in winners:
        if not wanted or w["kernel"] in wanted:
            groups.setdefault((w["kernel"], w["gpu_name"], w["kernel_key"], w["gpu"], w["l2"]), []).append(w)
    for key, group in sorted(groups.items()):
        kernel_table(group, portfolios.get(key[2:]), lambda line="": lines.append(line))
    return "\n".join(lines)


# ---- in docs/tuned_tables.md

BEGIN = "<!-- by tests/bench/shipped_table.py, from here -->\n"
END = "<!-- to here -->\n"


def of_source(tool, folder, with_portfolios):
    with tempfile.TemporaryDirectory() as scratch:
        database = os.path.join(scratch, "shipped.sqlite")
        subprocess.run([tool, "import", "--as", "measured", "--db", database, *sorted(glob.glob(os.path.join(folder, "db/tuned/*.jsonl")))], stdout=subprocess.PIPE, check=True)
        return tables(tool, database, with_portfolios=with_portfolios)


def rows_alone(text):
    """Without what needs the portfolios: their own tables, and the last column."""
    lines = [line for line in text.split("\n") if line and not line.startswith("A portfolio of") and not (line.startswith("|") and line.count(" | ") == 3)]
    return [line.rsplit(" | ", 1)[0] if line.startswith("| ") else line for line in lines if not line.startswith("|---")]


def differences(now, then):
    for line in [line for line in now if line not in then][:5]:
        print("db/tuned gives:             ", line)
    for line in [line for line in then if line not in now][:5]:
        print("docs/tuned_tables.md has:     ", line)
    return now != then


def in_document(tool, folder, is_check):
    path = os.path.join(folder, "docs/tuned_tables.md")
    with open(path, encoding="utf-8") as document:
        before, rest = document.read().split(BEGIN)
    then, after = rest.split(END)
    now = "\n" + of_source(tool, folder, not is_check) + "\n"
    if is_check:
        sys.exit(differences(rows_alone(now), rows_alone(then)) and f"run {sys.argv[0]} TOOL SOURCE_FOLDER")
    with open(path, "w", encoding="utf-8") as document:
        document.write(before + BEGIN + now + END + after)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tool, place, words = sys.argv[1], sys.argv[2], sys.argv[3:]
    if os.path.isdir(place):
        in_document(tool, place, words == ["--check"])
    else:
        print(tables(tool, place, words))


main()
