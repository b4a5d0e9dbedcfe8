"""Answers questions about the algebra and the machine, one on each line, with the programs in Python of the protocol's
page, whose folder is the argument. The tests of the client in JavaScript compare their own answers with these."""
import json, sys
from types import SimpleNamespace
sys.path.insert(0, sys.argv[1])
from machine import *

def algebra(q):
    law = q["law"]
    if law == "apply":
        result = apply(q["list"], q["delta"])
        return {"result": result, "digest": digest(result)}
    if law == "transform":
        return {"first": transform(q["first"], q["second"], False), "second": transform(q["second"], q["first"], True),
                "superseded": superseded(q["list"], q["first"], q["second"])}
    if law == "compose": return {"delta": compose(q["first"], q["second"])}
    if law == "invert": return {"inverse": invert(q["list"], q["delta"])}
    if law == "diff": return {"delta": diff(q["from"], q["to"])}
    if law == "map" and "index" in q: return {"index": map_index(q["delta"], q["index"])}
    if law == "map": return {"gap": map_gap(q["delta"], q["gap"], q["side"])}

CLOSING = ("handshakeTimeout", "idleTimeout", "tooManyConnections", "replaced", "shuttingDown", "internalError", "tooFast")

def happens(m, step):
    message, fields = step.get("message"), dict(step.get("fields", {}))
    if "edit" in step: m.edited(step["edit"], step.get("exact", False))
    elif "undo" in step: m.undo()
    elif "redo" in step: m.redo()
    elif "lost" in step: m.lost()
    elif "connected" in step: return
    elif message == "error" and fields["code"] in CLOSING: m.give_up()
    elif message not in ("subscribed", "error") and fields.get("list", m.list) != m.list: return
    elif message == "chunk":
        if fields["request"] == m.request: m.chunk(fields["items"])
    elif message == "commit": m.commit(SimpleNamespace(**fields["commit"]))
    else: getattr(m, message)(SimpleNamespace(**fields))

def machine(q):
    m, answers = Machine(), []
    for step in q["steps"]:
        m.out, m.told = [], []
        happens(m, step)
        answers.append({"out": [{"message": name, "fields": fields} for name, fields in m.out],
                        "view": digest(m.view), "told": m.told})
    return {"steps": answers}

for line in sys.stdin:
    question = json.loads(line)
    try: answer = machine(question) if question["law"] == "machine" else algebra(question)
    except (AssertionError, UnicodeDecodeError) as e: answer = {"error": str(e)}
    print(json.dumps(answer, ensure_ascii=False), flush=True)
