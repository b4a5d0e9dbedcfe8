// The programs in Python of the protocol's page, asked one question after the other.

import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const path = name => fileURLToPath(new URL(name, import.meta.url));

export const hasPython = spawnSync("python3", ["--version"]).status === 0;

export class Python {
  #process = spawn("python3", [path("answers.py"), path("../../Sources/Examples/Python")], { stdio: ["pipe", "pipe", "inherit"] });
  #lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();

  /** The answers to some questions. */
  async ask(questions) {
    this.#process.stdin.write(questions.map(question => JSON.stringify(question) + "\n").join(""));
    const answers = [];
    for (const question of questions) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error(`Python ended at ${JSON.stringify(question)}`);
      answers.push(JSON.parse(value));
    }
    return answers;
  }

  close() {
    this.#process.stdin.end();
  }
}
