# python3 check.py FILE…: runs algebra.py and machine.py on test vectors, and prints those that they answer otherwise.
import json, sys
from types import SimpleNamespace
from machine import *

def answers(v, e):
    """Whether the algebra gives the expected answer; None for a law that it does not have."""
    law = v["law"]
    if law == "apply": return apply(v["list"], v["delta"]) == e["result"]
    if law == "transform":
        first, second = transform(v["first"], v["second"], False), transform(v["second"], v["first"], True)
        return ((first, second) == (e["first"], e["second"])
                and apply(apply(v["list"], v["first"]), second) == e["afterFirst"]
                and apply(apply(v["list"], v["second"]), first) == e["afterSecond"]
                and superseded(v["list"], v["first"], v["second"]) == e["superseded"])
    if law == "compose": return apply(v["list"], compose(v["first"], v["second"])) == e["result"]
    if law == "invert": return invert(v["list"], v["delta"]) == e["inverse"]
    if law == "diff": return apply(v["from"], diff(v["from"], v["to"])) == v["to"] == apply(v["from"], e["delta"])
    if law == "map" and "index" in v: return map_index(v["delta"], v["index"]) == e["index"]
    if law == "digest":
        return digest(v["list"]) == e["digest"] and [f"{hash_of(item):016x}" for item in v["list"]] == e["hashes"]
    if law == "machine": return follow(v["steps"], e["steps"])
    if law == "map": return map_gap(v["delta"], v["gap"], v["side"]) == e["gap"]

CLOSING = "shuttingDown", "internalError", "idleTimeout", "replaced", "tooManyConnections"

def happens(m, step):
    """Gives one step of a vector to the machine."""
    message, fields = step.get("message"), dict(step.get("fields", {}))
    if "edit" in step: m.edited(step["edit"], step.get("exact", False))
    elif "undo" in step: m.undo()
    elif "redo" in step: m.redo()
    elif "lost" in step: m.lost()
    elif "connected" in step: return
    elif message is None or message == "error" and fields["code"] in CLOSING: m.give_up()
    elif message not in ("subscribed", "error") and fields.get("list", m.list) != m.list: return     # another list
    elif message == "chunk":
        if fields["request"] == m.request: m.chunk(fields["items"])
    elif message == "commit": m.commit(SimpleNamespace(**fields["commit"]))
    else: getattr(m, message)(SimpleNamespace(**fields))

def follow(steps, expected):
    """Whether the machine sends, shows and tells what is expected after each step. Fields of a message that the machine
    does not name are always the same."""
    m = Machine()
    for step, e in zip(steps, expected):
        m.out, m.told = [], []
        happens(m, step)
        sent = [(message, {**o["fields"], **fields}) for (message, fields), o in zip(m.out, e["out"])]
        if len(m.out) != len(e["out"]) or sent != [(o["message"], o["fields"]) for o in e["out"]]: return False
        if m.view != e["view"] or m.told != e["told"]: return False
    return True

def holds(v):
    """Whether a vector holds; None if the algebra has nothing to say about it."""
    e = v["expect"]
    if "error" in e and not (v["law"] == "apply" and "text: " in v["name"]): return None
    try: return answers(v, e)
    except (AssertionError, UnicodeDecodeError): return "error" in e        # a delta that does not fit
    except (KeyError, IndexError): return False

asked = wrong = 0
for line in (line for name in sys.argv[1:] for line in open(name, encoding="utf-8")):
    right = holds(json.loads(line))
    asked += right is not None
    if right is False: wrong += 1; print("differs:", line.strip())
print(asked, "vectors,", wrong, "differ")
sys.exit(wrong > 0)
