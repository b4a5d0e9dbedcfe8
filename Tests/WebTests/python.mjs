// The programs in Python of the protocol's page, asked one question after the other.

import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { same } from "./same.mjs";

const path = name => fileURLToPath(new URL(name, import.meta.url));

export const hasPython = spawnSync("python3", ["--version"]).status === 0;

export class Python {
  #process = spawn("python3", [path("answers.py"), path("../../Sources/Examples/Python")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  #lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();

  /** Throws unless Python answers a question so. */
  async agrees({ question, answer }, where) {
    this.#process.stdin.write(JSON.stringify(question) + "\n");
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`Python ended at ${JSON.stringify(question)}`);
    same(answer, JSON.parse(value), where);
  }

  close() {
    this.#process.stdin.end();
  }
}
