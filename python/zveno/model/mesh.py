"""Triangle meshes: files of STL and OBJ, which are not trusted, and the volume integrals of what they enclose."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._check import LARGEST, Array, Fail, _show, as_array, as_path

__all__ = ["moments", "require_closed", "triangles_of"]

LARGEST_FILE: Final = 256 * 2**20  # bytes
_HEADER: Final = 84  # of a binary STL: 80 bytes of text, the number of triangles
_FACET: Final = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_CORNERS: Final = 1000  # of one polygon of an OBJ


def triangles_of(source: Any, fail: Fail) -> Array:
    """Corners (n, 3, 3) of the triangles of a file, of a pair (vertices, faces) or of such an array."""
    if isinstance(source, str | os.PathLike):
        corners = _read(source, fail)
    elif isinstance(source, tuple | list) and len(source) == 2:
        corners = _indexed(source, fail)
    else:
        shape = np.shape(source) if isinstance(source, np.ndarray) else None
        if shape is None or shape[1:] != (3, 3):
            came = f"has shape {shape}" if shape else f"is {_show(source)}"
            fail(f"source {came}, expected a path, a pair (vertices, faces) or an array (n, 3, 3) of triangles")
        corners = as_array(source, fail, "source", shape)
    if not len(corners):
        fail("the mesh has no triangles")
    if np.abs(corners).max() > LARGEST:
        fail(f"the mesh has a coordinate of {np.abs(corners).max():g}, too large to compute with")
    return corners


def _indexed(source: Any, fail: Fail) -> Array:
    """Triangles of vertices (v, 3) and of their numbers (n, 3)."""
    numbers = []
    for value, what in zip(source, ("vertices", "faces"), strict=True):
        try:
            raw = np.asarray(value)
        except Exception:
            fail(f"{what} is {_show(value)}, expected an array (n, 3)")
        if raw.ndim != 2 or raw.shape[1] != 3:
            fail(f"{what} has shape {raw.shape}, expected (n, 3)")
        numbers.append(raw)
    vertices, faces = as_array(numbers[0], fail, "vertices", numbers[0].shape), numbers[1]
    if faces.dtype.kind not in "iu":
        fail(f"faces has type {faces.dtype}, expected integers")
    if faces.size and (faces.min() < 0 or faces.max() >= len(vertices)):
        outside = faces.min() if faces.min() < 0 else faces.max()
        fail(f"faces names vertex {outside}, expected 0 to {len(vertices) - 1}")
    return np.asarray(vertices[faces])


# ---- files ----------------------------------------------------------------------------------------------------------


def _read(source: Any, fail: Fail) -> Array:
    path = as_path("Body.mesh", source)
    shown = _show(os.path.basename(path))
    try:
        size = os.path.getsize(path)
        if not os.path.isfile(path):  # reading a pipe would wait
            fail(f"cannot read {_show(path)}: it is no file")
        if size > LARGEST_FILE:
            fail(f"{shown} has {size} bytes, more than {LARGEST_FILE}")
        with open(path, "rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        fail(f"cannot read {_show(path)}: {error.strerror or error}")
    if len(data) > LARGEST_FILE:  # it has grown, or is no plain file
        fail(f"{shown} has more than {LARGEST_FILE} bytes")

    def refuse(text: str) -> NoReturn:
        fail(f"{shown}: {text}")

    count = int.from_bytes(data[80:84], "little") if len(data) >= _HEADER else -1
    if count >= 0 and len(data) == _HEADER + _FACET.itemsize * count:
        return _finite(np.frombuffer(data, _FACET, count, _HEADER)["corners"].astype(np.float64), refuse)
    if path.lower().endswith(".obj"):
        return _finite(_obj(data, refuse), refuse)
    if data.lstrip()[:5].lower() == b"solid" and b"\0" not in data:
        return _finite(_ascii_stl(data, refuse), refuse)
    if path.lower().endswith(".stl"):
        expected = f"a binary STL of {count} triangles would have {_HEADER + _FACET.itemsize * count}"
        why = expected if count >= 0 else f"a binary STL has {_HEADER} at least"
        refuse(f"{len(data)} bytes are no text that begins with 'solid', and {why}")
    refuse("expected a file that is named .stl or .obj")


def _finite(corners: Array, refuse: Fail) -> Array:
    if not np.isfinite(corners).all():
        first = int(np.argwhere(~np.isfinite(corners))[0][0])
        refuse(f"triangle {first + 1} has a coordinate that is not finite")
    return corners


def _numbers(words: list[bytes], line: int, refuse: Fail) -> list[float]:
    try:
        return [float(word) for word in words[:3]] if len(words) >= 3 else [float(b"")]
    except ValueError:
        text = b" ".join(words)[:40].decode("latin-1")
        refuse(f"line {line}: {_show(text)}, expected three numbers")


def _ascii_stl(data: bytes, refuse: Fail) -> Array:
    points: list[list[float]] = []
    inside = 0  # vertices of the present facet
    for number, line in enumerate(data.splitlines(), 1):
        words = line.split()
        key = words[0].lower() if words else b""
        if key == b"vertex":
            points.append(_numbers(words[1:], number, refuse))
            inside += 1
        elif key == b"endfacet":
            if inside != 3:
                refuse(f"line {number}: a facet of {inside} vertices, expected 3")
            inside = 0
        elif key not in (b"", b"solid", b"facet", b"outer", b"endloop", b"endsolid"):
            refuse(f"line {number}: {_show(line[:40].decode('latin-1'))}, expected a word of STL")
    if inside:
        refuse("the last facet does not end")
    return np.array(points, dtype=np.float64).reshape(-1, 3, 3)


def _obj(data: bytes, refuse: Fail) -> Array:
    points: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for number, line in enumerate(data.splitlines(), 1):
        words = line.split()
        key = words[0] if words else b""
        if key == b"v":
            points.append(_numbers(words[1:], number, refuse))
        elif key == b"f":
            if not 4 <= len(words) <= _CORNERS:
                refuse(f"line {number}: a face of {len(words) - 1} vertices, expected 3 to {_CORNERS - 1}")
            corners = []
            for word in words[1:]:
                text = word.partition(b"/")[0]
                try:
                    i = int(text[:20])
                except ValueError:
                    i = 0
                place = i - 1 if i > 0 else len(points) + i
                if i == 0 or not 0 <= place < len(points):
                    shown = _show(word[:20].decode("latin-1"))
                    refuse(f"line {number}: a face names vertex {shown}, and {len(points)} are known")
                corners.append(place)
            faces += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
    if not faces:
        refuse("no face ('f') was found")
    return np.asarray(np.array(points)[np.array(faces)])


# ---- what a surface encloses ----------------------------------------------------------------------------------------


def require_closed(corners: Array, fail: Fail) -> None:
    """Each edge of a closed surface belongs to two triangles, which run along it in opposite directions."""
    _, index = np.unique(corners.reshape(-1, 3) + 0.0, axis=0, return_inverse=True)
    faces: NDArray[np.int64] = index.reshape(-1, 3).astype(np.int64)
    whole = (faces != np.roll(faces, 1, axis=1)).all(axis=1)  # triangles without area close nothing and open nothing
    edges = np.stack([faces[whole], np.roll(faces[whole], -1, axis=1)], axis=-1).reshape(-1, 2)
    width = int(faces.max()) + 1
    way, back = edges[:, 0] * width + edges[:, 1], edges[:, 1] * width + edges[:, 0]
    keys, counts = np.unique(np.concatenate([way, back]), return_counts=True)
    ways, forward = np.unique(way, return_counts=True)
    full = np.zeros(len(keys), np.int64)
    full[np.searchsorted(keys, ways)] = forward
    # as many along an edge as against it; a surface may touch itself
    bad = int(np.count_nonzero(2 * full != counts)) // 2
    if bad:
        x, y, z = corners.reshape(-1, 3)[np.flatnonzero(index == keys[np.argmax(2 * full != counts)] // width)[0]]
        where = f"({x:.6g}, {y:.6g}, {z:.6g})"
        fail(
            f"the surface is not closed, or its triangles are not turned the same way: {bad} of {len(keys) // 2} edges"
            f" are not shared by two triangles that run along them in opposite directions, one at {where};"
            " closed=False takes it as it is"
        )


def moments(corners: Array) -> tuple[float, Array, Array]:
    """Volume, centroid (3,) and second moments ∫ x x' dV (3, 3) about it of what triangles (n, 3, 3) enclose.

    Sums over the tetrahedra from a point to each triangle, with the sign of their volume: of one with corners 0, a, b,
    c the volume V is det(a, b, c) / 6, ∫ x dV = V (a + b + c) / 4 and
    ∫ x x' dV = V / 20 (a a' + b b' + c c' + (a + b + c) (a + b + c)').
    """
    middle = corners.reshape(-1, 3).mean(axis=0)  # the nearer, the fewer digits are lost
    local = corners - middle
    a, b, c = local[:, 0], local[:, 1], local[:, 2]
    V = (np.cross(a, b) * c).sum(axis=1) / 6
    s = a + b + c
    volume = float(V.sum())
    if volume == 0.0:
        return 0.0, middle, np.zeros((3, 3))
    centroid = (V[:, None] * s).sum(axis=0) / (4 * volume)
    second = np.einsum("n,nki,nkj->ij", V, local, local) + np.einsum("n,ni,nj->ij", V, s, s)
    about = second / 20 - volume * np.outer(centroid, centroid)
    return volume, middle + centroid, (about + about.T) / 2
