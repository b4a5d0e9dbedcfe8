// The types in the comments, checked by the compiler of TypeScript, if there is one.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../Sources/Web/", import.meta.url));
const files = ["client", "view"].flatMap(
  part => readdirSync(folder + part).filter(name => name.endsWith(".js")).map(name => `${part}/${name}`),
);
const options = [
  "--checkJs", "--strict", "--noEmit", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node",
  "--lib", "es2022,dom,dom.iterable",
];
const hasCompiler = spawnSync("tsc", ["--version"]).status === 0;

test("tsc finds no error", { skip: !hasCompiler && "tsc is not installed" }, () => {
  const { stdout, status } = spawnSync("tsc", [...options, ...files], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stdout);
});
