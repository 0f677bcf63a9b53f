"""What JSON takes to read and to write, without a network: Dunlin's reader and writer beside Foundation's."""
import pathlib
import statistics
import tempfile

import clients
import measure

NAME = "codec"
# How often one text is read in a run.
CASES = {"records": 4000, "records-large": 40, "integers": 400, "doubles": 400, "texts": 400, "dates": 400, "data": 400,
         "decimals": 400, "uuids": 400}
# What does nothing is measured with what most texts are.
FLOOR_CASE = "records"
ROUNDS = 5


def microseconds(path, *words):
    output, _ = measure.execute([str(path), *words], 120)
    return float(output)


def mallocs(path, probe, case, work, codec):
    """By difference, of a few values."""
    def count(times):
        with tempfile.TemporaryDirectory(prefix="dunlin-count-") as folder:
            file = pathlib.Path(folder, "count")
            measure.execute([str(path), case, work, codec, str(times)], 120,
                            {"LD_PRELOAD": str(probe), "MALLOC_COUNT_FILE": str(file)})
            return int(file.read_text())
    # A tenth and one more come first.
    return (count(40) - count(20)) / (44 - 22)


def rows():
    path, probe = clients.swift("JSONCodec"), clients.malloc_probe()
    rows = []
    for case, count in CASES.items():
        for work in ("decode", "encode"):
            codecs = ["dunlin", "foundation"]
            if case == FLOOR_CASE and work == "decode":
                codecs.append("nothing")
            times = {codec: [] for codec in codecs}
            for turn in range(ROUNDS):
                for codec in codecs[turn % len(codecs):] + codecs[:turn % len(codecs)]:
                    times[codec].append(microseconds(path, case, work, codec, str(count)))
            rows.append({"client": NAME, "case": case, "work": work} | {
                codec: {"cpu_us": round(statistics.median(taken), 2),
                        "mallocs": round(mallocs(path, probe, case, work, codec), 1)}
                for codec, taken in times.items()})
    return rows


def table(rows):
    lines = ["| case | work | Foundation µs | Dunlin µs | × Foundation | mallocs | of Foundation | nothing × Foundation |",
             "|---|---|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        theirs, ours = row["foundation"], row["dunlin"]
        floor = f"{row['nothing']['cpu_us'] / theirs['cpu_us']:.2f}" if "nothing" in row else ""
        lines.append(f"| {row['case']} | {row['work']} | {theirs['cpu_us']:.1f} | {ours['cpu_us']:.1f} | "
                     f"{ours['cpu_us'] / theirs['cpu_us']:.2f} | {ours['mallocs']:.0f} | {theirs['mallocs']:.0f} | "
                     f"{floor} |")
    return "\n".join(["## codec: JSON read and written, without a network", "", *lines])
