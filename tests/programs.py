"""Random programs: short lists of Python statements over an array module `xp`, made together with NumPy so that each is legal.

    python tests/programs.py --count 300 --digests FILE     # run them with Cupric; one line a program

A variable is *exact* while its values may not depend on how a function rounds or in which order a sum is taken; exact ones are
compared with NumPy bit by bit, the others within bounds. Only exact values may decide (compare, index, convert to integers).
"""

import argparse
import hashlib
import random
import warnings
from contextlib import nullcontext

import numpy as np

DTYPES = ["?", "i1", "u1", "i2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(), (1,), (7,), (4, 5), (1, 5), (4, 1), (3, 4, 5), (0, 5), (33, 40), (1500,)]
STATEMENTS = 14
VARIABLES = 7


class Program:
    """Statements, and what NumPy makes of them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.lines = []
        self.values = {}
        self.inexact = set()  # ids of the owners of inexact elements
        self.count = 0
        for _ in range(3):
            self.create()
        while len(self.lines) < STATEMENTS:
            self.random.choice(STEPS)(self)

    # --- parts of statements

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def pick(self, want=lambda value: True):
        names = [name for name, value in self.values.items() if want(value)]
        return self.random.choice(names) if names else None

    def exact(self, *names):
        return not any(id(owner(self.values[name])) in self.inexact for name in names)

    def emit(self, line, target, exact, view=False):
        """Tries a statement with NumPy; keeps it if it is legal. A name that is new is added, `target` is what it writes."""
        line = self.on_a_stream(line)
        space = namespace(np)
        space.update(self.values)
        before = {name: value.copy() for name, value in self.values.items()}
        try:
            run(line, space)
        except (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError):
            for name, value in before.items():
                if self.values[name].flags.writeable:
                    self.values[name][...] = value
            return
        value = space[target]
        # An element is a view for us and a number for NumPy.
        if view and getattr(value, "base", None) is None:
            return
        value = np.asarray(value)
        if value.size > 20_000 or value.ndim > 4:
            return
        self.values[target] = value
        if not exact:
            self.inexact.add(id(owner(value)))
        self.lines.append(line)
        while len(self.values) > VARIABLES:
            self.drop(self.random.choice([name for name in self.values if name != target]))

    def drop(self, name):
        self.lines.append(f"del {name}")
        # The array stays alive here, so that no id is used twice.
        self.dropped = [*getattr(self, "dropped", []), self.values.pop(name)]

    def on_a_stream(self, line):
        return f"with streams[{self.random.randrange(3)}]: {line}" if self.random.random() < 0.25 else line

    def index(self, value):
        parts = []
        for length in value.shape[: self.random.randint(0, value.ndim)]:
            start = self.random.randint(0, max(0, length - 1))
            step = self.random.choice([1, 1, 2, -1, 3])
            choices = [":", f"{start}:", f":{start + 1}", f"::{step}", f"{start}::{step}"]
            parts.append(self.random.choice(choices if length < 2 or self.random.random() < 0.8 else [str(start)]))
        if self.random.random() < 0.15:
            parts.insert(self.random.randint(0, len(parts)), "None")
        return ", ".join(parts) or "..."

    # --- steps

    def create(self):
        shape, dtype, new = self.random.choice(SHAPES), self.random.choice(DTYPES), self.name()
        size = int(np.prod(shape))
        factor, offset = self.random.choice([3, 7, 11]), self.random.choice([0, 3, 8])
        scale = " / 8" if dtype[0] in "fc" else ""
        dtype_text = f"(xp.arange({size}) * {factor} % 17 - {offset * (dtype[0] not in 'u?')}){scale}"
        self.emit(f"{new} = ({dtype_text}).astype('{dtype}').reshape({shape})", new, True)

    def binary(self):
        one, new = self.pick(), self.name()
        other = self.pick() if self.random.random() < 0.75 else None
        function = self.random.choice(
            [
                "add",
                "subtract",
                "multiply",
                "maximum",
                "minimum",
                "fmax",
                "divide",
                "floor_divide",
                "remainder",
                "bitwise_xor",
                "left_shift",
            ]
        )
        operand = other or self.random.choice(["2", "3", "1", "0.5", "-1"])
        names = [one] + ([other] if other else [])
        exact = self.exact(*names)
        if not exact and function not in ("add", "subtract", "multiply", "maximum", "minimum"):
            return
        if function in ("multiply", "divide") and any(self.values[name].dtype.kind == "c" for name in names):
            exact = False
        self.emit(f"{new} = xp.{function}({one}, {operand})", new, exact)

    def unary(self):
        one, new = self.pick(), self.name()
        function = self.random.choice(["negative", "absolute", "sqrt", "rint", "floor", "square", "sin", "exp", "tanh"])
        exact = self.exact(one)
        if not exact and function not in ("negative", "absolute", "tanh"):
            return
        rounded = function in ("sin", "exp", "tanh") or self.values[one].dtype.kind == "c"
        self.emit(f"{new} = xp.{function}({one})", new, exact and not rounded)

    def compare(self):
        one, other, new = self.pick(), self.pick(), self.name()
        if self.exact(one, other):
            function = self.random.choice(["less", "less_equal", "equal", "not_equal", "logical_and"])
            self.emit(f"{new} = xp.{function}({one}, {other})", new, True)

    def choose(self):
        mask, one, other, new = self.pick(lambda v: v.dtype == bool), self.pick(), self.pick(), self.name()
        if mask:
            self.emit(f"{new} = xp.where({mask}, {one}, {other})", new, self.exact(one, other))

    def view(self):
        one, new = self.pick(), self.name()
        value = self.values[one]
        forms = [
            f"{one}[{self.index(value)}]",
            f"{one}[{self.index(value)}]",
            f"{one}.T",
            f"{one}.reshape(-1)",
            f"{one}[::-1]",
        ]
        forms += [f"{one}.real"] if value.dtype.kind == "c" else []
        self.emit(f"{new} = {self.random.choice(forms)}", new, self.exact(one), view=True)

    def in_place(self):
        one, other = self.pick(lambda v: v.flags.writeable), self.pick()
        if not one or self.values[one].dtype.kind == "c" or not self.exact(one):
            return
        operand = self.random.choice([other, other, "2", "1"])
        exact = operand != other or self.exact(other)
        where = f"[{self.index(self.values[one])}]"
        if not isinstance(eval(f"value{where}", {"value": self.values[one]}), np.ndarray):
            return  # NumPy would make a new number, and allow it any shape.
        symbol = self.random.choice(["+=", "-=", "*=", "="])
        if (symbol == "=" and not exact) or (not exact and self.values[one].dtype.kind not in "fc"):
            return
        if symbol == "=" and self.unsafe(one, operand):
            return
        self.emit(f"{one}{where} {symbol} {operand}", one, exact)

    def overlapping(self):
        one = self.pick(lambda v: v.flags.writeable and v.ndim >= 1 and v.shape[0] > 2 and v.dtype.kind != "c")
        if one:
            forms = [
                "{0}[1:] += {0}[:-1]",
                "{0}[:-1] -= {0}[1:]",
                "{0}[...] = {0}[::-1]",
                "{0}[1:] = {0}[:-1] + {0}[1:]",
            ]
            self.emit(self.random.choice(forms).format(one), one, self.exact(one))

    def masked(self):
        one = self.pick(lambda v: v.flags.writeable and v.ndim >= 1 and v.dtype.kind in "iuf")
        if one and self.exact(one):
            forms = [
                "{0}[{0} > 2] = 1",
                "{0}[xp.arange(len({0})) % 2 == 0] += 1",
                "{0}[[0, -1]] = 3",
                "{0}[[0, 0]] += 1",
            ]
            self.emit(self.random.choice(forms).format(one), one, True)

    def gather(self):
        one, new = self.pick(lambda v: v.ndim >= 1), self.name()
        if one and self.exact(one):
            forms = [
                "{0}[[0, -1, 0]]",
                "{0}[{0} > 1]",
                "xp.take({0}, xp.arange(3) % max(1, len({0})), axis=0)",
                "xp.sort({0}, axis=-1)",
            ]
            form = self.random.choice(forms)
            if "sort" in form and self.values[one].dtype.kind in "c":
                return
            self.emit(f"{new} = {form.format(one)}", new, True)

    def reduce(self):
        one, new = self.pick(), self.name()
        value = self.values[one]
        function = self.random.choice(["sum", "sum", "max", "min", "any", "argmax", "mean", "cumsum"])
        axis = self.random.choice([None, *range(value.ndim)])
        rounds = value.dtype.kind in "fc" and function in ("sum", "mean", "cumsum")
        if not self.exact(one) and function not in ("sum", "mean", "max", "min"):
            return
        if function == "cumsum" and value.dtype == np.float16:
            return  # NumPy adds one by one in half precision, and is far off.
        if (
            value.dtype.kind in "fc"
            and function in ("max", "min", "argmax")
            and (value.dtype.kind == "c" or np.any(value == 0))
        ):
            return  # Which zero is the larger one is nobody's promise.
        self.emit(
            f"{new} = xp.{function}({one}, axis={axis})", new, self.exact(one) and not rounds and function != "mean"
        )

    def convert(self):
        one, new = self.pick(), self.name()
        dtype = self.random.choice(DTYPES)
        value = self.values[one]
        if (
            (value.dtype.kind in "fc" and dtype[0] in "iu?")
            or value.dtype.kind == "c"
            or (not self.exact(one) and dtype[0] not in "fc")
        ):
            return
        self.emit(f"{new} = {one}.astype('{dtype}')", new, self.exact(one))

    def copy(self):
        one, new = self.pick(), self.name()
        self.emit(f"{new} = {one}.copy()", new, self.exact(one))

    def unsafe(self, target, operand):
        """Whether an assignment would convert floats to integers, or drop imaginary parts."""
        kinds = "b", "u", "i", "f", "c"
        return operand in self.values and kinds.index(self.values[operand].dtype.kind) > kinds.index(
            self.values[target].dtype.kind
        )


STEPS = [
    Program.binary, Program.binary, Program.binary, Program.binary, Program.unary, Program.compare, Program.choose, Program.view,
    Program.view, Program.view, Program.in_place, Program.in_place, Program.in_place, Program.overlapping, Program.masked,
    Program.gather, Program.reduce, Program.reduce, Program.convert, Program.copy, Program.create,
]  # fmt: skip


def owner(value):
    """The array whose memory a view shows."""
    while isinstance(value.base, np.ndarray):
        value = value.base
    return value


def namespace(xp):
    """What a program may name."""
    streams = (
        [nullcontext()] * 3 if xp is np else [xp.cuda.Stream.null, xp.cuda.Stream(non_blocking=True), xp.cuda.Stream()]
    )
    return {"xp": xp, "streams": streams}


def run(line, space):
    """Runs a statement without warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(line, space)
    for name, value in space.items():
        if isinstance(value, np.generic):
            space[name] = np.asarray(value)


def results(program, xp):
    """Runs a program and gives the arrays that are left, on the host, by name."""
    space = namespace(xp)
    for line in program.lines:
        try:
            run(line, space)
        except Exception as error:
            raise AssertionError(
                f"program {program.seed} failed at {line!r}: {error!r}\n" + "\n".join(program.lines)
            ) from error
    return {
        name: space[name].get() if hasattr(space[name], "get") else np.asarray(space[name]) for name in program.values
    }


def digest(arrays):
    """A hash of names, dtypes, shapes and bits; all NaNs count as one, for their signs differ between processors."""
    text = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name]).reshape(arrays[name].shape)
        if array.dtype.kind in "fc":
            part = array.dtype if array.dtype.kind == "f" else np.dtype(f"f{array.dtype.itemsize // 2}")
            array = array.reshape(-1).view(part).copy()
            array[np.isnan(array)] = np.nan
        text.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        text.update(array.tobytes())
    return text.hexdigest()[:32]


def digests(count, first=0):
    """The digests of Cupric's results, of so many programs."""
    import cupric as cp

    return [digest(results(Program(seed), cp)) for seed in range(first, first + count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--digests", metavar="FILE", required=True)
    arguments = parser.parse_args()
    with open(arguments.digests, "w") as file:
        file.writelines(f"{line}\n" for line in digests(arguments.count, arguments.first))


if __name__ == "__main__":
    main()
