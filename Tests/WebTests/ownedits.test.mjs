// The edits that a person makes on the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestError } from "../../Sources/Web/client/requests.js";
import { OwnEdits } from "../../Sources/Web/view/ownedits.js";
import { appended, begun, done, note, texts } from "./live.mjs";

test("an undo that cannot ask the server does not keep later ones from being done", async () => {
  const replica = begun(note(1, "milk"));
  const toasts = [];
  const app = {
    client: {
      ownCommits: () => [[3, ""]], request: () => Promise.reject(new RequestError("offline", "there is no connection")),
    },
    toast: text => (toasts.push(text), () => {}), isSent: async () => true, draw: () => {}, speech: { say: () => {} },
    act: (open, role, action) => (action(open.replica), true), refusal: () => undefined,
  };
  const edits = new OwnEdits(app, { name: "list", replica, subscription: { isLive: true } }, () => {});
  edits.turn(true);
  await new Promise(resolve => setTimeout(resolve, 20));
  assert.deepEqual(toasts, ["The server cannot be reached right now."]);
  replica.edit(appended(1, note(2, "mine")));
  edits.turn(true);
  await new Promise(resolve => setTimeout(resolve, 20));
  assert.deepEqual(texts(replica.view), ["milk"]);
});
