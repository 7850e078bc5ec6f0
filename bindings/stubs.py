"""Writes python/zveno/_core.pyi: the text of core.pyi.in with the methods of the tables of functions filled in.

``python bindings/stubs.py`` with the package installed; a test compares the file with what this makes.
"""

from pathlib import Path

from zveno import _core

HERE = Path(__file__).parent
TEMPLATE = HERE / "core.pyi.in"
STUBS = HERE.parent / "python" / "zveno" / "_core.pyi"
OPTIONS = {
    "external": "_External = None",
    "external_frame": 'Literal["world", "link"] = "world"',
    "link": "str",
    "point": "ArrayLike | None = None",
    "about": 'Literal["com", "base"] = "com"',
    "base": "Body",
    "section": "Section",
    "parts": 'Literal["total", "static", "dynamic"] = "total"',
    "order": "Literal[1, 2] = 1",
    "i": "str | SupportsIndex",
    "j": "str | SupportsIndex",
    "by": "Sequence[str | SupportsIndex] = ()",
    "motion": 'Literal["link", "outboard"] = "link"',
}


def literal(names):
    """A choice of words."""
    return "Literal[" + ", ".join(f'"{name}"' for name in names) + "]"


def alias(row, what, names):
    """Name and definition of a choice that is too long for the line of a parameter."""
    words = row.get("prefix", "") + row["name"]  # functions of several mechanisms may share a name
    name = "_" + "".join(part.capitalize() for part in words.split("_")) + what
    return name, f"{name}: TypeAlias = Literal[\n" + "".join(f'    "{x}",\n' for x in names) + "]\n"


def choices(row):
    """Aliases of a row by what they stand for."""
    made = {}
    if len(row["methods"]) > 4:
        made["method"] = alias(row, "Method", row["methods"])
    if row["several"]:
        made["outputs"] = alias(row, "Output", [slot["name"] for slot in row["outputs"]])
    return made


def parameter(row, item):
    """A parameter as the stub writes it."""
    name = item["name"]
    if name == "r" and any(other["name"] == "R" for other in row["parameters"]):
        return "r: _Pose"
    if name == "R":
        return "R: ArrayLike | None"
    if item["array"]:
        return f"{name}: ArrayLike" if item["required"] else f"{name}: ArrayLike | None = None"
    if name == "method":
        kind = choices(row)["method"][0] if "method" in choices(row) else literal(row["methods"])
        return f'method: {kind} = "{row["methods"][0]}"'
    if name == "frame" and row["frame"] == "section":
        return 'frame: Literal["section", "link", "world"] = "section"'
    if name == "frame":
        return f'frame: _Frame = "{row["frame"]}"'
    return f"{name}: {OPTIONS[name]}"


def method(row, *, out, result, arrays="ArrayLike", on_error='_OnError = "raise"', overload=False):
    """One def; `arrays` is the type of the arrays that must be given."""
    parameters = [parameter(row, item).replace(": ArrayLike", f": {arrays}") for item in row["parameters"]]
    keywords = [f"outputs: Sequence[{choices(row)['outputs'][0]}] | None = None"] if row["several"] else []
    keywords += [f"on_error: {on_error}", "status: NDArray[np.int16] | None = None", f"out: {out}"]
    keywords += ["threads: SupportsIndex | None = None"]
    lines = ["self", *parameters, "*", *keywords]
    head = ["    @overload"] if overload else []
    return [*head, f"    def {row['name']}(", *(f"        {line}," for line in lines), f"    ) -> {result}: ..."]


def methods(row):
    """The method of a row, with overloads where its result depends on the arguments."""
    if row["block"]:
        return method(row, out=f"{row['result']} | None = None", result=row["result"])
    if row["wrt"]:
        lines = method(row, out="tuple[_Array, ...] | None = None", result=row["result"], overload=True)
        asked = [
            line.replace("*,", "*,\n        wrt: str | Sequence[str | tuple[str, str | Sequence[str]]],")
            for line in lines
        ]
        lines = [line.replace("*,", "*,\n        wrt: None = None,") for line in lines]
        return lines + [line.replace(f"-> {row['result']}", "-> Sensitivities") for line in asked]
    if row["several"]:
        return method(row, out="tuple[_Array, ...] | None = None", result=row["result"])
    if row["private"]:
        plain = method(
            row, out="_Array | None = None", result="_Array", on_error='Literal["raise"] = "raise"', overload=True
        )
        pair = "tuple[_Array, NDArray[np.int16]]"
        return plain + method(row, out="_Array | None = None", result=pair, on_error='Literal["nan"]', overload=True)
    if row["outputs"][0]["shape"]:
        return method(row, out="_Array | None = None", result="_Array")
    # one state gives a number; whether an array holds one state or many, its type does not tell
    needed = [x for x in row["parameters"] if x["array"] and x["required"]]
    lines = method(row, out="_Array", result="_Array", overload=True)
    if all(len(x["shape"]) == 1 for x in needed):
        lines += method(row, out="None = None", result="float", arrays="Sequence[float]", overload=True)
    return lines + method(row, out="None = None", result="float | _Array", overload=True)


def kinds(mechanism, rows):
    """Names of functions by the kind of their result, for the types of compiled ones."""
    public = [row for row in rows if not row["private"]]
    made = {"Blocks": [row["name"] for row in public if row["block"]]}
    single = [row for row in public if not row["block"] and not row["several"]]
    made["Arrays"] = [row["name"] for row in single if row["outputs"][0]["shape"]]
    made["Numbers"] = [row["name"] for row in single if not row["outputs"][0]["shape"]]
    for kind, names in made.items():
        if names:
            yield alias({"name": mechanism}, kind, names)[1]


def text():
    """The whole file."""
    made, names = TEMPLATE.read_text(encoding="utf-8"), ""
    for mechanism in ("chain", "hexapod", "linkage"):
        rows = [row | {"prefix": "linkage_" if mechanism == "linkage" else ""} for row in _core.functions(mechanism)]
        lines = [line for row in rows for line in methods(row)]
        names += "".join(definition for row in rows for _, definition in choices(row).values())
        names += "".join(kinds(mechanism, rows))
        made = made.replace(f"    # functions of a {mechanism}\n", "\n".join(lines) + "\n")
    return made.replace("# choices of words\n", names)


if __name__ == "__main__":
    STUBS.write_text(text(), encoding="utf-8")
