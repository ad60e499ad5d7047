"""Run the benchmarks: `python -m benchmarks`, or with --quick without peers and large vectors."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks import groups, ledger, neighbours_in_time, one_row, quantiles, releases, studio
from benchmarks.peers import PINS, PeerRow, install, measured_peer
from benchmarks.report import Results, clock, page, size
from benchmarks.selections import MAXIMUM, NOISES, Row, drawn, measured

SIZES = [10, 10**3, 10**5, 10**6, 10**7, 10**8]
RESULTS = Path(__file__).parent / "RESULTS.md"


def main() -> None:
    """Measure, show how far it is, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to a million scores, without peers")
    parser.add_argument("--largest", type=int, default=SIZES[-1], metavar="N", help="the most scores")
    options = parser.parse_args()
    largest = min(options.largest, 10**6) if options.quick else options.largest
    started = time.monotonic()
    peers: list[PeerRow] = []
    versions = {} if options.quick else {peer: install(peer) for peer in PINS}
    for peer, version in versions.items():
        if version is not None:
            for peer_row in measured_peer(peer, largest):
                show(peer_row)
                peers.append(peer_row)
    rows: list[Row] = []
    for row in measured([n for n in SIZES if n <= largest]):
        show(row)
        rows.append(row)
    print("  what the time of one call tells of neighbours", flush=True)
    text = page(Results(rows, peers, versions, list(neighbours_in_time.measured())))
    if largest == SIZES[-1]:
        RESULTS.write_text(text, encoding="utf-8")
        print(f"Wrote {RESULTS.parent.name}/{RESULTS.name}.")
        ledger.main()
        one_row.main([])
        releases.main()
        quantiles.main([])
        groups.main([])
        studio.main([])
    else:
        print(text)
    print(f"Took {time.monotonic() - started:.0f} s.")


def show(row: Row | PeerRow) -> None:
    """Tell a person that it goes on."""
    if isinstance(row, PeerRow):
        told = f"{row.pattern}, {row.noise}: {row.peer} {clock(row.draw)}, {MAXIMUM} {clock(row.maximum)}"
    else:
        times = [f"{noise} {clock(row.seconds[drawn(noise, 1)])}" for noise in NOISES]
        told = f"{row.pattern}, scale {row.scale}: {', '.join(times)}"
        told += f", {MAXIMUM} {clock(row.seconds[MAXIMUM])}"
    print(f"  n = {size(row.n):5}{told}", flush=True)


if __name__ == "__main__":
    main()
