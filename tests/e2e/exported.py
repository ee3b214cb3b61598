"""Reads what `dwell export` writes, by the formats' own rules and tools: never by dwell's code.

Every reader gives, for each kind of values, a Flat: the total, and what each function has. A
function counts once on a stack, however often it is there.
"""
import collections
import gzip
import json
import os
import re
import subprocess

import jsonschema

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
                     "\ufff9-\ufffb]")


def require(condition, what):
    if not condition:
        raise AssertionError(what)


class Flat:
    def __init__(self):
        self.total, self.exclusive = 0, collections.Counter()
        self.inclusive = collections.Counter()

    def add(self, stack, value):
        """@stack: names, innermost first."""
        self.total += value
        self.exclusive[stack[0]] += value
        for name in set(stack):
            self.inclusive[name] += value


def escaped(name):
    """As dwell shows @name to people."""
    return CONTROL.sub(lambda m: (r"\x%02x" if ord(m[0]) < 256 else r"\u%04x") % ord(m[0]), name)


# pprof

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def varints(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def message(data):
    """Field -> list of values."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        else:
            require(key & 7 == 0, f"type {key & 7}")
        fields[key >> 3].append(value)
    return fields


def one(fields, number):
    return fields.get(number, [0])[0]


class Pprof:
    def __init__(self, path):
        with gzip.open(path) as f:
            self.data = f.read()
        self.profile = message(self.data)
        self.texts = [text.decode("utf-8") for text in self.profile[6]]
        require(self.texts[0] == "", "the first string is not empty")
        self.functions = self.by_id(5)
        self.locations = self.by_id(4)
        self.mappings = self.by_id(3)
        self.kinds = [(self.texts[one(kind, 1)], self.texts[one(kind, 2)])
                      for kind in map(message, self.profile[1])]
        for location in self.locations.values():
            mapping = one(location, 2)
            require(not mapping or one(self.mappings[mapping], 2) <= one(location, 3) <
                    one(self.mappings[mapping], 3), "address outside its mapping")

    def by_id(self, field):
        rows = [message(data) for data in self.profile[field]]
        require(len({one(row, 1) for row in rows} - {0}) == len(rows), f"ids of field {field}")
        return {one(row, 1): row for row in rows}

    def stack(self, sample):
        return [(self.texts[one(self.functions[one(line, 1)], 2)], one(line, 2))
                for location in varints(sample[1][0])
                for line in map(message, self.locations[location][4])]

    def labels(self, sample):
        return {self.texts[one(label, 1)]: self.texts[one(label, 2)] or one(label, 3)
                for label in map(message, sample[3])}

    def samples(self):
        """(stack of names and lines, labels, values) of each."""
        for sample in map(message, self.profile[2]):
            yield self.stack(sample), self.labels(sample), varints(sample[2][0])


def check_by_protoc(path):
    """protoc reads the file by the schema and finds nothing that this does not have."""
    with gzip.open(path) as f:
        data = f.read()
    done = subprocess.run(["protoc", f"--proto_path={DATA}", "profile.proto",
                           "--decode=perftools.profiles.Profile"], input=data,
                          capture_output=True, check=True)
    unknown = re.search(rb"^\s*\d+(:| \{)", done.stdout, re.M)
    require(not unknown, f"unknown field {unknown and unknown[0]}")


def read_pprof(path):
    check_by_protoc(path)
    pprof = Pprof(path)
    flats = {kind: Flat() for kind, _ in pprof.kinds}
    for stack, _, values in pprof.samples():
        for (kind, _), value in zip(pprof.kinds, values, strict=True):
            flats[kind].add([name for name, _ in stack], value)
    return flats


def go_pprof_total(path, kind):
    """What `go tool pprof` adds up."""
    done = subprocess.run(["go", "tool", "pprof", "-raw", path], capture_output=True, text=True,
                          check=True)
    lines = done.stdout.splitlines()
    at = lines.index("Samples:") + 1
    column = [name.split("/")[0] for name in lines[at].split()].index(kind)
    rows = [line.split(":")[0].split() for line in lines[at + 1:lines.index("Locations")]
            if re.match(r"[\d ]+: ", line)]
    return sum(int(row[column]) for row in rows)


# The others: one kind of values in a file

def read_speedscope(path):
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    with open(os.path.join(DATA, "speedscope-schema.json"), encoding="utf-8") as f:
        jsonschema.validate(document, json.load(f))
    frames, flat = document["shared"]["frames"], Flat()
    for profile in document["profiles"]:
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            flat.add([frames[i]["name"] for i in reversed(stack)], weight)
        require(sum(profile["weights"]) == profile["endValue"], "endValue")
    check_shown_first(document)
    return flat


def check_shown_first(document):
    """The profile that viewers begin with: of the threads of the busiest process, named "NAME (PID) ...",
    the busiest."""
    profiles, processes = document["profiles"], collections.Counter()
    for profile in profiles:
        processes[process_of(profile)] += profile["endValue"]
    if not profiles:
        return
    shown = profiles[document["activeProfileIndex"]]
    require(processes[process_of(shown)] == max(processes.values()), "the process that is shown first")
    require(shown["endValue"] == max(profile["endValue"] for profile in profiles
                                     if process_of(profile) == process_of(shown)), "the thread that is shown first")


def process_of(profile):
    return re.match(r"(.*?\(\d+\))|", profile["name"])[0]


def check_columns(table, what):
    for name, column in table.items():
        if isinstance(column, list):
            require(len(column) == table["length"],
                    f"{what}.{name}: {len(column)} of {table['length']}")


def firefox_stacks(shared):
    """The names of each stack, innermost first."""
    for what, table in shared.items():
        if isinstance(table, dict):
            check_columns(table, what)
    texts, functions = shared["stringArray"], shared["funcTable"]["name"]
    names = [texts[functions[i]] for i in shared["frameTable"]["func"]]
    stacks = []
    for prefix, frame in zip(shared["stackTable"]["prefix"], shared["stackTable"]["frame"]):
        require(prefix is None or prefix < len(stacks), "a stack before its prefix")
        stacks.append([names[frame]] + (stacks[prefix] if prefix is not None else []))
    return stacks


def read_firefox(path):
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    require(document["meta"]["preprocessedProfileVersion"] == 60, "version")
    stacks, flat = firefox_stacks(document["shared"]), Flat()
    for thread in document["threads"]:
        samples = thread["samples"]
        check_columns(samples, "samples")
        require(samples["time"] == sorted(samples["time"]), "times rise")
        scale = 1000000 if samples["weightType"] == "tracing-ms" else 1
        for stack, weight in zip(samples["stack"], samples["weight"]):
            flat.add(stacks[stack], round(weight * scale))
    return flat


def read_folded(path):
    flat = Flat()
    with open(path, encoding="utf-8") as f:
        for line in f.read().split("\n")[:-1]:
            stack, value = line.rsplit(" ", 1)
            flat.add(stack.split(";")[:0:-1], int(value))
    return flat


def read_callgrind(path):
    """By callgrind_annotate: kind -> Flat."""
    flats = {}
    for inclusive in ("no", "yes"):
        done = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no",
                               f"--inclusive={inclusive}", path], capture_output=True, check=True)
        text = done.stdout.decode("utf-8")
        kinds = re.search(r"^Events shown: +(.*)$", text, re.M)[1].split()
        number = r"([\d,]+|\.)(?: \([ \d.]+%\))?\s+"
        for line in text.splitlines():
            row = re.match(r"\s*" + number * len(kinds) + r"(PROGRAM TOTALS|.*:.* \[.*)", line)
            if not row:
                continue
            *values, what = row.groups()
            values = [int(v.replace(",", "").replace(".", "0")) for v in values]
            add_annotated(flats, kinds, values, what, inclusive == "yes")
    return flats


def add_annotated(flats, kinds, values, what, inclusive):
    name = re.sub(r" \[(\[[^]]*\]|[^]]*)\]$", "", what.split(":", 1)[1]) if ":" in what else None
    for kind, value in zip(kinds, values, strict=True):
        flat = flats.setdefault(kind, Flat())
        if what == "PROGRAM TOTALS":
            flat.total = value
        elif inclusive:
            flat.inclusive[name] += value
        else:
            flat.exclusive[name] += value


READERS = {"speedscope": read_speedscope, "firefox": read_firefox, "folded": read_folded}
