#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts the rows of tests/validation/*.csv and writes what came out: tests/validation/expected/predicted.csv, which
the drift test compares with, and docs/validation.md. tools/update_validation builds the program and calls this."""

import csv
import json
import subprocess
import sys
from pathlib import Path

# Sets that values of the shipped GPU files were fitted to or taken from (their `source` says which); all others
# judge.
USED = {
    "BLK": "`cp_async.group`, `cluster.barrier`, `tma.rate`, `tma.boxes`, `l2.latency_far` of the B200",
    "COA": "`hbm.row_access`, `hbm.burst`",
    "DSM": "`cluster.pair_latency`, `cluster.latency`",
    "DRV": "`launch.block_start`, `launch.block_exit`",
    "AMD": "`launch.stream_gap` of the MI300X",
    "L1B": "`l1.ways`, `l1.age`; `address_unit.lanes` of the MI300X",
    "L2B": "`crossbar.ingress`, `l2.capacity` of the H200",
    "L2S": "`crossbar.egress`, `crossbar.ingress` of the A100; `memory_side_cache`, `store_acknowledgement`, `address_unit` of the MI300X",
    "LAT": "`l1.latency`, `l1.ways`, `l1.age`, `l2.latency_near`, `hbm.latency`",
    "LCH": "`launch.host_launch`, `launch.graph_gap`",
    "LGM": "`wgmma.start`, `power.energy.tensor` of the H100, on half of its rows; which parts of its code an A100's product reads first",
    "OCC": "the rules themselves",
    "STD": "`l1.tag_banks`",
    "STR": "`hbm.efficiency`, `hbm.write_drain`, `launch.warp_start`",
    "TMA": "`tma.latency`, `tma.tensor_map`, `tma.rate`, `tma.request`",
    "XLA": "-",
}

INTRO = """# Validation

Published measurements beside what the simulator predicts for them, misses included. `tools/update_validation` writes this
page and the predictions that `tests/validation` compares new ones with (0.5 %). The rows, with the source of each, are
`tests/validation/*.csv`; to see one file:

```
tools/wavetail validate tests/validation/launches.csv
```

## Measurement files

CSV with the header `id,gpu,kind,params,metric,value,unit,lo,hi,source,confidence,notes`. `params` is `key=value;...`; the
set is the id up to its first `-`; `value`, `lo` and `hi` may be empty, and a row without a value is predicted all the
same. Mistakes in the file are shown with line and column, all in one go.

- `id`, `gpu`, `kind`, `params`, `metric` and `unit` decide a prediction, and of `notes` only that a chain of dependent
  loads was one of TMA bulk copies. It is given in the row's unit.
- `gpu` is a name or an alias of a GPU file: case, separators, text in brackets, `-SXM`, `-80GB` and `-Server` do not
  matter. `--gpu` stands for the GPU of every row, `--set gpu.*` changes all of them.
- The SM clock is the row's own (`clock_mhz` of its parameters, or `1755MHz` in its GPU), else the boost clock. Rows of
  gpu-benches on an H200 have its memory at 2619 MHz ([deviations.md](deviations.md), `memory-clock-of-rows`).
- A row is skipped, with the reason, where there is no GPU file or no protocol, or where parameters are missing, unknown
  or contradict each other. Nothing is guessed.
- Rows that come down to one simulation share it. `--jobs` changes nothing but the time it takes.

`--format json` has `rows` (`id`, `set`, `gpu`, `predicted`, `unit`, and where there are such, `measured`, `error_pct`,
`outside_pct`, `skipped`, `apart`), `sets` (`n` predicted, `skipped`, `compared`, `mape_pct`, `median_ape_pct`, `bias_pct`,
`outside_pct`) and `groups`, the same by set and GPU file, with the `tight` rows (at least three collections in `notes`,
spread up to 25 %), the rows that a single mechanism can give (`single`) and those counted `apart`, and by decade of
measured duration. A row is apart by what it says itself: `hi` above 2.5 times `lo`; and of attention, heads above 256
elements, 48 or more query heads per KV head from at most two collections, or keys and values that L2 cannot hold, read
faster than DRAM's peak. `tight` rows are not apart. Errors are (predicted - measured) / measured; bias is their
mean, MAPE the mean of their magnitudes, `outside_pct` the distance to `lo`...`hi`.

## Protocols

A row becomes a scenario by its *protocol*: what was launched, and which figure of the run is the published one.
`sim/study/protocols/` has one file per family. Nothing is fitted there, and what is reported comes out of the events. A
grid too long to simulate is cut to three launches: one brings the caches into their steady state; the time per block
comes from the difference between a short and a long one, a whole number of waves.

<!-- output of: wavetail list protocols -->
```text
```
<!-- end of output -->

## Calibration

`wavetail calibrate` fits values of a GPU file to the rows of that GPU that have a measured value and a prediction:

```
tools/wavetail calibrate --gpu h100-sxm tests/golden/cli/calibrate.csv --fit launch.host_launch,launch.host_sync
```

It seeks the values with the least sum of squares of the rows' relative errors, (predicted - measured) / |measured|, all
rows weighted alike. Every error is that of a simulation, the same that `validate --gpu` with `--set` of those values
reports.

- `--fit` takes paths as `--set` does (`gpu.` may be left out), each with bounds (`=70%:99%`), a start (`=85%`), or both
  (`=70%:85%:99%`). Values start where the GPU file or `--set` has them. Bounds are the file's `range`, else half and
  twice the start, within what is allowed.
- Values move in four significant digits of their start; cycles, counts and bytes in whole steps. A value both of whose
  neighbours break a rule of GPU files (the lanes of a pipe) is refused: compare such ones by `validate --set`.
- A simulation jumps a little where one event overtakes another. Slopes are therefore taken over 4 % of a value to each
  side, one step of its grid at least, and never at a point.
- The search is Levenberg-Marquardt's. It ends where no value moves by more than 0.1 % of its start, where a step
  gains less than 0.01 % of the sum, or after 50 rounds. The least that it finds is the nearest one, not the least of all.
- Standard errors and correlations come from the slopes at the end and the errors that are left, as if predictions were
  linear in the values and rows independent of each other. Rows of one publication share their faults: the errors with a
  set left out say more.
- The report names values that no row feels (a step of 4 % moves no prediction by more than 0.01 %), values that the rows
  do not tell apart (alike to a correlation of 0.998), and values that stopped at a bound. They have no standard error.
- *Left out*: for every set, the values are fitted again from the same start to all other sets, and the set is predicted.
  What only that set feels is then where it began. `--no-cross-validation` saves the time.
- `--variants` takes in rows of GPUs whose files have this one as their `base` and no value of their own for what is
  fitted; then every GPU is left out once, too.
- `--write FILE.yaml` writes the GPU with the fitted values on top of its `base`: `measured`, with the sets and counts of
  the rows that feel a value as the source; `assumed` what the rows do not tell apart, what stopped at a bound, or
  what has a standard error above 20 % of it. What no row has felt stays as it was. Settings of `--set` are in it too.
  It is called as the file. To go on from it: `--gpu FILE.yaml --rows-of H200-SXM`, whose rows are then its rows.
- A fit that a budget or a signal ended reports the best values so far, exits with 4 and writes no file.

`--format json` is described by `wavetail schema calibration`. `--jobs` changes nothing but the time it takes; a fit of
p values predicts all rows at 2p + 1 points a round or a few more, in some three to six rounds, and about as often
again for every set.

## Accuracy

Some sets were used to find values of the GPU files: the last column says which. Their errors say how well the mechanisms
fit, not how well the simulator predicts. Misses whose mechanism is known to be lacking are in
[deviations.md](deviations.md).
"""


def pct(value, sign=False):
    return "-" if value is None else f"{value:+.1f} %" if sign else f"{value:.1f} %"


def figure(value):
    return f"{value:.4g}" if abs(value) < 10000 else f"{value:.0f}"


def predict(program, root, file):
    run = subprocess.run([program, "validate", file, "--format", "json"], cwd=root, capture_output=True, text=True,
                         check=False)
    if run.returncode != 0:
        sys.exit(f"{file}: exit code {run.returncode}\n{run.stderr}")
    return json.loads(run.stdout)


def summary(groups):
    lines = ["| set | GPU | rows | MAPE | median APE | bias | weakest value of the GPU file | values of the GPU files from this set |",
             "|---|---|---:|---:|---:|---:|---|---|"]
    for g in groups:
        lines.append(f"| {g['set']} | `{g['gpu']}` | {g['compared']} | {pct(g['mape_pct'])} | {pct(g['median_ape_pct'])} | "
                     f"{pct(g['bias_pct'], True)} | {g['confidence']} | {USED.get(g['set'], '-')} |")
    return lines


def rows_of(name, rows, predictions):
    lines = [f"## {name}", "", "| id | GPU | parameters | measured | predicted | unit | error |",
             "|---|---|---|---:|---:|---|---:|"]
    for row in rows:
        p = predictions[row["id"]]
        params = row["params"].replace("|", "\\|")
        lines.append(f"| {row['id']} | `{p['gpu_file']}` | {params} | {row['value'] or '-'} | {figure(p['predicted'])} | "
                     f"{row['unit']} | {pct(p.get('error_pct'), True)} |")
    sources = sorted({row["source"] for row in rows})
    return lines + ["", "Sources: " + "; ".join(sources) + ".", ""]


def main(root, program):
    folder = root / "tests/validation"
    groups, body, predicted = [], [], [["id", "predicted", "unit"]]
    for file in sorted(folder.glob("*.csv")):
        result = predict(program, root, file)
        predictions = {row["id"]: row for row in result["rows"]}
        skipped = [f"{row['id']}: {row['skipped']}" for row in result["rows"] if "skipped" in row]
        if skipped:
            sys.exit(f"{file}: rows without a prediction do not belong here:\n" + "\n".join(skipped))
        with open(file, newline="", encoding="utf-8") as text:
            rows = list(csv.DictReader(text))
        groups += result["groups"]
        body += rows_of(file.stem, rows, predictions)
        predicted += [[row["id"], row["predicted"], row["unit"]] for row in result["rows"]]
    (folder / "expected").mkdir(exist_ok=True)
    with open(folder / "expected/predicted.csv", "w", newline="", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerows(predicted)
    groups.sort(key=lambda g: (g["set"], g["gpu"]))
    listing = subprocess.run([program, "list", "protocols"], capture_output=True, text=True, check=True).stdout
    page = [INTRO.replace("```text\n", "```text\n" + listing), *summary(groups), "", *body]
    (root / "docs/validation.md").write_text("\n".join(page).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
