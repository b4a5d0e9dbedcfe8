# python3 check.py FILE…: runs algebra.py on test vectors, and prints those that it answers otherwise.
import json, sys
from algebra import *

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
    if law == "map": return map_gap(v["delta"], v["gap"], v["side"]) == e["gap"]

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
