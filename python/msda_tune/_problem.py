"""What the lookup is asked for one call of multi-scale deformable attention, from shapes alone; wrong shapes are refused here. Needs no torch."""

DTYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}  # those that search_spaces/msda.ini knows


def dtype_of(tensor):
    """The space's word for a tensor's elements; None where it has none."""
    return DTYPES.get(str(tensor.dtype).removeprefix("torch."))


def check_ranks(value, locations, weights):
    if len(value) != 4 or len(locations) != 6 or len(weights) != 5:
        raise ValueError(f"value, sampling_locations and attention_weights have {len(value)}, {len(locations)} and {len(weights)} dimensions, expected 4, 6 and 5")


def check(value, levels, starts, locations, weights):
    """Shapes as tuples: value [N, S, M, D], locations [N, Lq, M, L, P, 2], weights [N, Lq, M, L, P]; levels [(H, W), …]; starts: first pixel of each level."""
    check_ranks(value, locations, weights)
    n, pixels, heads, _ = value
    if any(height < 1 or width < 1 for height, width in levels) or not levels:
        raise ValueError(f"spatial_shapes is {levels}, expected heights and widths of at least 1")
    expected, first = [], 0
    for height, width in levels:
        expected.append(first)
        first += height * width
    if list(starts) != expected:
        raise ValueError(f"level_start_index is {list(starts)}, but levels of {levels} start at {expected}")
    if first != pixels:
        raise ValueError(f"value has {pixels} pixels, but levels of {levels} have {first}")
    if locations[0] != n or locations[2] != heads or locations[3] != len(levels) or locations[5] != 2:
        raise ValueError(f"sampling_locations is {tuple(locations)}, expected [{n}, Lq, {heads}, {len(levels)}, P, 2]")
    if tuple(weights) != tuple(locations[:5]):
        raise ValueError(f"attention_weights is {tuple(weights)}, expected {tuple(locations[:5])}")


def guess_queries(pixels, query_count):
    """How queries lie when nobody says so: an encoder asks once per pixel of the levels, a decoder freely."""
    return "levels" if query_count == pixels else "free"


def question(value, levels, locations, dtype, location_dtype, queries, workload=None, grad_dtype=None):
    """(names for prepare, values for find): kernel msda of search_spaces/msda.ini; with grad_dtype (of grad_value) msda_backward of msda_backward.ini."""
    n, pixels, heads, channels = value
    names = ["N", "M", "D", "P", "Lq"]
    values = [n, heads, channels, locations[4], locations[1]]
    for axis, letter in enumerate("HW"):
        names += [f"{letter}[{i}]" for i in range(len(levels))]
        values += [level[axis] for level in levels]
    names += ["S"] + [f"START[{i}]" for i in range(len(levels))]
    values += [pixels] + [sum(height * width for height, width in levels[:i]) for i in range(len(levels))]
    names += [f"dtype={dtype}", f"loc_dtype={location_dtype}", "attn=weights", f"queries={queries}"] + ([f"grad_dtype={grad_dtype}"] if grad_dtype else [])
    return names + ([f"workload={workload}"] if workload else []), values


def shape_of(names, values):
    """The shape that a question asks about, {"N": 1, "H": [92, 46], "dtype": "f16"}: what a kernel's macros are made of."""
    shape, integers = {}, [name for name in names if "=" not in name]
    for name, value in zip(integers, values):
        if "[" in name:
            shape.setdefault(name[:name.index("[")], []).append(value)
        else:
            shape[name] = value
    return {**shape, **dict(name.split("=") for name in names if "=" in name and not name.startswith("workload="))}


GIVEN = ("value", "loc", "attn")  # the inputs that a call has; its gradients' kernel has grad_out too


def level_table(shape):
    """What variants with run-time level sizes read (argument `levels`, i32 [L][3]): height, width and first pixel of each level."""
    return [list(row) for row in zip(shape["H"], shape["W"], shape["START"])]


def check_inputs(names, made, given=GIVEN):
    """Inputs of a kernel that nobody here fills must not be run with."""
    unknown = [name for name in names if name not in given and name not in made]
    if unknown:
        raise ValueError(f"the kernel reads {', '.join(unknown)}, which this op does not have: expected {', '.join([*given, *made])}")
