"""Holds JSON from stdin against a JSON Schema. Usage: json_schema.py SCHEMA.json. The keywords that docs/schemas uses, and no others: one that is not checked is an error."""
import json
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
TOLD = {"$schema", "$id", "title", "description"}
CHECKED = {"type", "enum", "properties", "required", "additionalProperties", "items"}


def is_a(value, name):
    if name in ("number", "integer"):
        return isinstance(value, (int, float)) and not isinstance(value, bool) and (name == "number" or value == int(value))
    return isinstance(value, TYPES[name])


def problems(value, schema, path):
    unknown = set(schema) - TOLD - CHECKED
    if unknown:
        yield f"{path}: the schema has {sorted(unknown)}, which is not checked"
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_a(value, name) for name in names):
        yield f"{path}: is {json.dumps(value)[:60]}, expected {' or '.join(names)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: is {json.dumps(value)}, expected one of {schema['enum']}"
    if isinstance(value, dict):
        properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
        for name in schema.get("required", []):
            if name not in value:
                yield f"{path}: has no {name}"
        for name, member in value.items():
            if name in properties:
                yield from problems(member, properties[name], f"{path}.{name}")
            elif more is False:
                yield f"{path}: the schema does not know {name}"
            elif isinstance(more, dict):
                yield from problems(member, more, f"{path}.{name}")
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), f"{path}[{i}]")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    found = list(problems(json.load(sys.stdin), schema, "$"))
    for problem in found[:20]:
        print(problem)
    return bool(found)


sys.exit(main())
