// A device with some tabs, and the real server, without a clock: storage, locks, the channel between the tabs and the
// network are queues, of which chance picks what happens next. Tabs crash, freeze and wake; frozen ones may lose their
// locks; the storage fails or is wiped; connections are lost, or fall silent.

import assert from "node:assert/strict";
import { bytesOf } from "../../Sources/Web/client/bytes.js";
import { bytesOfDelta } from "../../Sources/Web/client/codec.js";
import { DeltaBuilder } from "../../Sources/Web/client/components.js";
import { encoded } from "../../Sources/Web/client/item.js";
import { Tab } from "../../Sources/Web/client/tabs.js";
import { Elsewhere, Host } from "./host.mjs";

const clone = structuredClone;
const MINUTE = 60_000;

/** What may go wrong, and how often in one world and in another one. */
const FAULTS = [
  ["crash", 1, 3, 10], ["freeze", 2, 12], ["lose locks", 1, 12], ["wake", 2, 12], ["network", 1, 3],
  ["disconnect", 1, 3], ["silence", 0, 1], ["sleep", 0, 1], ["storage", 0, 1, 8], ["look", 1, 2], ["wipe", 0, 0, 0, 1],
];

/** What the tabs of a device share. */
class Device {
  rows = new Map();
  owners = new Map();
  copies = new Map();
  /** Former holders of journals. */
  fences = new Set();
  /** Another one once all has been wiped. */
  number = 0;
  /** Who holds each lock. */
  locks = new Map();

  look() {
    const copies = [...this.copies.values()].map(({ items, ...head }) => ({ ...head, digest: items.digest }));
    return {
      rows: [...this.rows.values()].map(row => clone(row)),
      owners: [...this.owners.values()].map(owner => ({ ...owner })), copies,
    };
  }

  claim(client, owner) {
    const former = this.owners.get(client);
    if (former) {
      this.fences.add(`${client} ${former.holder}`);
      this.owners.set(client, owner);
    }
    const rows = [...this.rows.values()].filter(({ key }) => key[0] === client).map(row => clone(row));
    const names = rows.map(({ row }) => row.name);
    return { rows, copies: [...this.copies.values()].filter(({ name }) => names.includes(name)) };
  }

  /** Whether all of the rows belong to the job's holder. */
  write({ changes: { puts, deletes }, owner, fresh, leaves }) {
    const clients = new Set([...puts.map(({ key }) => key[0]), ...deletes.map(key => key[0])]);
    for (const client of [owner.client, ...clients]) if (this.fences.has(`${client} ${owner.holder}`)) return "taken";
    const holder = this.owners.get(owner.client)?.holder;
    if (fresh && holder !== undefined && holder !== owner.holder) return "taken";
    for (const key of deletes) this.rows.delete(String(key));
    for (const entry of puts) this.rows.set(String(entry.key), clone(entry));
    this.owners.set(owner.client, owner);
    if (leaves) this.owners.delete(leaves);
    return "stored";
  }

  /** A journal goes to an heir, or is deleted. */
  leave(client, holder, heir) {
    this.claim(client, { ...this.owners.get(client), ...heir, holder });
    if (heir) return;
    for (const [place, { key }] of this.rows) if (key[0] === client) this.rows.delete(place);
    this.owners.delete(client);
  }

  forget(client, holder) {
    if (this.owners.get(client)?.holder !== holder) return;
    if (![...this.rows.values()].some(({ key }) => key[0] === client)) this.owners.delete(client);
  }
}

/** A tab as the browser runs it. */
class SimTab {
  world;
  name;
  tab;
  isFrozen = false;
  isOffline = false;
  storageFails = false;
  /** In which storage the rows of a client are. */
  homes = new Map();
  /** What the storage has still to do, and what it has answered. */
  asked = [];
  answers = [];
  connections = new Map();
  /** Whether edits that it had made were lost with the storage, so that later ones may have nothing to change. */
  hasLost = false;
  /** The marks of its edits. */
  made = new Set();
  /** Jobs that have failed, to be written with the next one. */
  failed = [];
  opened;

  constructor(world, name, who) {
    const { random } = world;
    this.world = world;
    this.name = name;
    const draw = () => Array.from({ length: 32 }, () => random.below(16).toString(16)).join("");
    const chance = { chance: () => random.next(), draw };
    this.tab = new Tab({ ...who, program: "test", holder: name, chance });
    this.run(this.tab.begin(world.now));
  }

  get device() {
    return this.world.device;
  }

  get canEdit() {
    return !this.isFrozen && this.opened !== undefined;
  }

  /** The marks of what waits in its memory. */
  get pending() {
    const edits = this.tab.opened.flatMap(({ replica }) => replica.pending);
    return marksOf(edits.map(({ delta }) => ({ row: { delta: bytesOfDelta(delta) } })));
  }

  run(effects) {
    for (const effect of effects) this.#do(effect);
    if (!this.opened && this.tab.hasBegun) {
      this.opened = this.tab.open("list", this.world.now);
      this.run(this.tab.tick(this.world.now));
    }
  }

  tick() {
    if (!this.isFrozen && this.world.now >= this.tab.deadline) this.run(this.tab.tick(this.world.now));
  }

  /** The storage does the next thing, whether the tab is frozen or not: first what has failed before. */
  store() {
    if (!this.storageFails && this.failed.length > 0) {
      for (const job of this.failed.splice(0)) this.answers.push(this.#write(job));
      return true;
    }
    const next = this.asked.shift();
    if (next) this.answers.push(next());
    return next !== undefined;
  }

  /** The tab hears of it. */
  answer() {
    if (this.isFrozen) return false;
    const next = this.answers.shift();
    if (next) this.run(next());
    return next !== undefined;
  }

  #ask(work, answer = () => []) {
    this.asked.push(() => {
      const result = this.storageFails ? undefined : work();
      return () => answer(result);
    });
  }

  #do(effect) {
    const { tab, device, world } = this;
    switch (effect.do) {
      case "look":
        return this.#ask(() => device.look(), found => tab.looked(found, world.now));
      case "claim":
        return this.#ask(() => this.#claim(effect), claimed => tab.claimed(effect.client, claimed, world.now));
      case "write":
        return this.asked.push(() => this.#write(effect));
      case "forget":
        return this.#ask(() => device.forget(effect.client, effect.holder));
      case "leave":
        return this.#ask(() => device.leave(effect.client, effect.holder, effect.heir));
      case "copy":
        return this.#ask(() => device.copies.get(effect.name), copy => tab.copied(effect.name, copy, world.now));
      case "keep":
        return this.#ask(() => device.copies.set(effect.copy.name, effect.copy));
      case "lock":
      case "verify": {
        // The browser decides at once; the tab hears of it later.
        const wasFree = !device.locks.has(effect.client);
        const isHeld = this.#lock(effect.client) && (wasFree && effect.do === "verify" ? "again" : true);
        return this.answers.push(() => tab.locked(effect.client, isHeld, world.now));
      }
      case "unlock":
        if (device.locks.get(effect.client) === this) device.locks.delete(effect.client);
        return;
      case "announce":
        for (const other of world.tabs) if (other !== this) other.answers.push(() => other.tab.announced(world.now));
        return;
      case "connect":
        return this.connections.set(effect.line, new Connection(this, effect.line));
      case "send":
        return this.connections.get(effect.line)?.up.push(effect.bytes);
      case "close":
        return this.connections.get(effect.line)?.close();
      case "tell":
        return world.told.push([this.name, effect.told]);
    }
  }

  #claim({ client, owner }) {
    this.homes.set(client, this.device.number);
    return this.device.claim(client, owner);
  }

  #lock(client) {
    const { locks } = this.device;
    if (!locks.has(client)) locks.set(client, this);
    return locks.get(client) === this;
  }

  /** Gives the answer. */
  #write(effect) {
    const { job, line, write } = effect;
    if (this.storageFails) this.failed.push(effect);
    const { client } = job.owner;
    if (job.fresh && !this.storageFails) this.homes.set(client, this.device.number);
    const isOther = this.homes.get(client) !== this.device.number;
    const outcome = this.storageFails ? "failed" : isOther ? "wiped" : this.device.write(job);
    this.world.noteKept();
    return () => this.tab.wrote(line, write, outcome, this.world.now);
  }

  /** The tab is gone; what it has asked the storage for may still happen. */
  crash() {
    for (let left = this.world.random.below(this.asked.length + 1); left > 0; left--) this.store();
    for (const connection of this.connections.values()) connection.vanish();
    this.loseLocks();
  }

  loseLocks() {
    for (const [client, holder] of this.device.locks) if (holder === this) this.device.locks.delete(client);
  }
}

/** A connection of a line; whichever side closes it, the other hears of it later, or never. */
class Connection {
  sim;
  line;
  up = [];
  down = [];
  isDead = false;
  /** Nothing gets through, and nobody knows. */
  isMute = false;
  /** The connection's number at the server, once it is made. */
  #number;
  /** The server has closed its end. */
  #isOver = false;

  constructor(sim, line) {
    this.sim = sim;
    this.line = line;
    sim.world.connections.add(this);
  }

  get isOpen() {
    return this.#number !== undefined;
  }

  get isMine() {
    return this.sim.connections.get(this.line) === this;
  }

  /** One thing happens: it is made, or bytes arrive at one of its ends. */
  step(random) {
    const { sim } = this;
    const { world } = sim;
    if (sim.isOffline || this.isDead) {
      if (!sim.isFrozen && this.isMine && (this.isDead || random.is(0.3))) this.#lose();
      return;
    }
    if (!this.isOpen) {
      if (sim.isFrozen) return;
      this.#number = world.host.connect(this, world.now);
      return sim.run(sim.tab.connected(this.line, world.now));
    }
    if (this.isMute) return;
    if (this.up.length > 0 && random.is(0.5)) {
      return world.host.receive(this.#number, this.#piece(this.up, random), world.now);
    }
    if (sim.isFrozen || !this.isMine) return;
    if (this.down.length > 0) sim.run(sim.tab.received(this.line, this.#piece(this.down, random), world.now));
    else if (this.#isOver) this.#lose();
  }

  get isIdle() {
    return this.isOpen && !this.isDead && (this.isMute || (this.up.length + this.down.length === 0 && !this.#isOver));
  }

  received(bytes) {
    this.down.push(bytes);
  }

  closed() {
    this.#isOver = true;
  }

  close() {
    this.sim.connections.delete(this.line);
    // What was sent may still arrive.
    if (this.sim.isOffline || this.sim.world.random.is(0.5)) this.up = [];
    if (this.up.length === 0) this.vanish();
  }

  /** The server hears of it at once, or finds out. */
  vanish() {
    const { host, now, random } = this.sim.world;
    this.isDead = true;
    this.sim.world.connections.delete(this);
    if (this.isOpen && random.is(0.8)) host.lose(this.#number, now);
  }

  /** The next bytes of a direction, as the network cuts them. */
  #piece(queue, random) {
    const bytes = queue.shift();
    const count = random.is(0.1) ? 1 + random.below(bytes.length) : bytes.length;
    if (count < bytes.length) queue.unshift(bytes.subarray(count));
    return bytes.subarray(0, count);
  }

  #lose() {
    const { sim } = this;
    sim.connections.delete(this.line);
    this.vanish();
    sim.run(sim.tab.lost(this.line, sim.world.now));
  }
}

/** One server for all worlds, which begins anew for each. */
let host;

export class World {
  random;
  now = 0;
  device = new Device();
  host = (host ??= new Host());
  /** Somebody on another device, who sees what the server has. */
  server;
  tabs = [];
  connections = new Set();
  told = [];
  /** Marks of edits that were in the storage, and those of edits that a wiped storage had and nobody else. */
  kept = new Set();
  excused = new Set();
  reloads = 0;
  /** All tabs that there ever were. */
  #all = [];
  /** Marks that were in a storage when it was wiped. */
  #wiped = new Set();
  #names = 0;
  #marks = 0;
  #faults;
  #edits;

  constructor(random) {
    this.random = random;
    this.#faults = FAULTS.flatMap(([fault, ...weights]) => Array(random.pick(weights)).fill(fault));
    this.#edits = random.pick([4, 14]);
    this.host.begin(random.below(2 ** 32), this.now);
    this.server = new Elsewhere(this.host, "list", this.now);
    const items = [this.#note("start"), this.#note("second")];
    this.server.edit([{ op: "insert", items, side: "after" }], this.now);
  }

  /** Everybody's time goes by. */
  pass(until) {
    this.now = until;
    this.server.ping(until);
    this.host.tick(until);
    for (const sim of this.tabs) sim.tick();
  }

  /** Somebody else, on another device. */
  others() {
    this.server.edit(this.#delta(this.server.list, "o"), this.now);
  }

  // Edits: each leaves one mark, a word that nobody removes

  #note(text) {
    return encoded(this.random.bytes(8), 2, { text: bytesOf(text), level: 0 });
  }

  #delta(view, prefix) {
    const { random } = this;
    const mark = `[${prefix}${++this.#marks}]`;
    const builder = new DeltaBuilder();
    if (view.count === 0 || random.is(0.5)) {
      builder.keep(random.below(view.count + 1));
      builder.insert([this.#note(mark)], random.side());
    } else {
      const index = random.below(view.count);
      const { text } = view.at(index);
      builder.keep(index);
      const inserted = random.is(0.5) ? ` ${mark}` : ` ${mark}.`;
      builder.edit({ text: [{ at: bytesOf(text).length, removed: new Uint8Array(0), inserted: bytesOf(inserted) }] });
    }
    return builder.finish();
  }

  edit(sim) {
    for (let left = 1 + this.random.below(2); left > 0; left--) {
      sim.made.add(`[e${this.#marks + 1}]`);
      sim.run(sim.tab.act(sim.opened, replica => replica.edit(this.#delta(replica.view, "e")), this.now));
    }
  }

  /** An edit is made, and taken back unless it may have been sent. */
  withdraw(sim) {
    this.edit(sim);
    const { replica } = sim.opened;
    const last = replica.pending[replica.pending.length - 1];
    while (this.random.is(0.5) && sim.store()) sim.answer();
    if (!sim.canEdit || last.sequence !== undefined || !last.inverse) return;
    sim.run(sim.tab.act(sim.opened, replica => replica.undo(), this.now));
    assert(!replica.pending.includes(last));
    for (const mark of marksOf([{ row: { delta: bytesOfDelta(last.delta) } }])) {
      sim.made.delete(mark);
      this.excused.add(mark);
    }
  }

  noteKept() {
    for (const mark of marksOf([...this.device.rows.values()])) this.kept.add(mark);
  }

  // Tabs

  get lossy() {
    return this.#all.filter(({ hasLost }) => hasLost);
  }

  open(who = { person: "Ada" }) {
    const sim = new SimTab(this, `tab${++this.#names}`, who);
    this.tabs.push(sim);
    this.#all.push(sim);
    return sim;
  }

  crash(sim) {
    this.tabs = this.tabs.filter(other => other !== sim);
    sim.crash();
    // What was wiped under it, and not written again.
    const stored = new Set(marksOf([...this.device.rows.values()]));
    const lost = [...sim.made, ...sim.pending].filter(mark => this.#wiped.has(mark) && !stored.has(mark));
    for (const mark of lost) this.excused.add(mark);
    if (lost.length > 0) this.#loseWith([sim.tab.client]);
  }

  reload(sim) {
    this.reloads++;
    this.crash(sim);
    this.open();
  }

  wake(sim) {
    sim.isFrozen = false;
    sim.run(sim.tab.woke(this.now));
  }

  /** All rows are gone; what of them no tab has in its memory as its own is lost. */
  wipe() {
    const { owners, rows } = this.device;
    const isInMemory = ({ key: [client] }) =>
      this.tabs.some(({ tab }) => tab.client === client && tab.holder === owners.get(client)?.holder);
    const lost = [...rows.values()].filter(row => !isInMemory(row));
    for (const mark of marksOf(lost)) this.excused.add(mark);
    for (const mark of marksOf([...rows.values()])) this.#wiped.add(mark);
    this.#loseWith(lost.map(({ key: [client] }) => client));
    // Whoever waits for the edits of another tab goes on without them, since nobody can tell that they are still alive.
    const clients = [...rows.values()].map(({ key: [client] }) => client);
    for (const sim of this.tabs) sim.hasLost ||= clients.includes(sim.opened?.awaits);
    this.device.number++;
    this.device.rows.clear();
    this.device.owners.clear();
    this.device.fences.clear();
    this.device.copies.clear();
  }

  /** Edits that were made upon those of some clients, which nobody has sent, may have nothing to change. */
  #loseWith(clients) {
    for (const sim of this.tabs) {
      sim.hasLost ||= clients.includes(sim.tab.client) || clients.includes(sim.opened?.awaits);
    }
  }

  /** One thing happens. */
  step() {
    const { random, tabs } = this;
    const sim = random.pick(tabs);
    const what = random.below(100);
    if (!sim || (tabs.length < 3 && what === 0)) return void this.open();
    if (what < 2) return sim.canEdit && this.withdraw(sim);
    if (what < 14) return sim.canEdit && random.below(14) < this.#edits && this.edit(sim);
    if (what < 30) return sim.store();
    if (what < 46) return sim.answer();
    if (what < 78) return [...this.connections].filter(one => random.is(0.5)).forEach(one => one.step(random));
    if (what < 88) {
      return this.pass(this.now + random.pick([1, 20, 300, 300, 3000, 20_000, random.is(0.2) ? 400_000 : 1]));
    }
    if (what < 90) return this.others();
    return this.#fault(sim);
  }

  #fault(sim) {
    const { random } = this;
    switch (random.pick(this.#faults)) {
      case "crash":
        return this.crash(sim);
      case "freeze":
        sim.isFrozen = true;
        return;
      case "lose locks":
        return sim.isFrozen && sim.loseLocks();
      case "wake":
        return sim.isFrozen && this.wake(sim);
      case "sleep":
        return this.#sleep(sim);
      case "network":
        for (const other of this.tabs) other.isOffline = random.is(0.7) ? !sim.isOffline : other.isOffline;
        return;
      case "disconnect":
        for (const one of sim.connections.values()) one.isDead = true;
        return;
      case "silence":
        for (const one of sim.connections.values()) one.isMute = true;
        return;
      case "storage":
        sim.storageFails = !sim.storageFails && random.is(0.5);
        return;
      case "look":
        return sim.canEdit && sim.run(random.is(0.5) ? sim.tab.hidden(this.now) : sim.tab.woke(this.now));
      case "wipe":
        return this.wipe();
    }
  }

  /** A tab is frozen for so long that another one takes over what it has left; then its person goes on at once. */
  #sleep(sim) {
    sim.isFrozen = true;
    sim.loseLocks();
    for (let left = this.random.below(8); left > 0; left--) {
      for (let i = 0; i < 20 && this.deliver(); i++);
      this.pass(this.now + 20_000);
    }
    this.wake(sim);
    if (sim.canEdit) this.edit(sim);
  }

  // The end

  /** What a tab has in its memory is in the storage, once that has answered. */
  checkKept() {
    for (const sim of this.tabs) {
      const { tab, opened, asked, answers, failed, isFrozen, homes } = sim;
      if (!opened || isFrozen || tab.stopped || asked.length + answers.length + failed.length > 0) continue;
      const isOther = homes.has(tab.client) && homes.get(tab.client) !== this.device.number;
      if (isOther || this.device.owners.get(tab.client)?.holder !== tab.holder) continue;
      const rows = marksOf([...this.device.rows.values()].filter(({ key }) => key[0] === tab.client));
      assert.deepEqual(sim.pending.filter(mark => !rows.includes(mark)), [], "what is pending is in the storage");
    }
  }

  /** Everything works again: what is kept gets to the server, and all tabs see the same. */
  settle() {
    const { random } = this;
    if (this.tabs.length === 0) this.open();
    for (const sim of this.tabs) {
      sim.storageFails = sim.isOffline = false;
      this.wake(sim);
    }
    for (let round = 0; round < 400; round++) {
      for (let i = 0; i < 2000 && this.deliver(); i++);
      this.checkKept();
      if (this.isQuiet) return;
      const due = [this.host.deadline, ...this.tabs.map(({ tab }) => tab.deadline)];
      this.pass(Math.max(this.now + 1, Math.min(this.now + MINUTE, ...due)));
      // It has edits that were never stored, and may be sent; its person has to reload it.
      for (const sim of this.tabs) if (sim.tab.stopped === "taken") this.reload(sim);
    }
    const tabs = this.tabs.map(({ name, tab, opened }) =>
      `${name} ${tab.state} ${tab.stopped} ${opened?.replica.pending.length} ${opened?.awaits ?? ""}`);
    assert.fail(`nothing more happens: ${this.device.rows.size} rows, ${tabs}`);
  }

  get isQuiet() {
    const isDone = sim => sim.opened?.isLive && sim.opened.replica.pending.length === 0;
    // Whose connection has fallen silent has still to notice that.
    const isSilent = [...this.connections].some(({ isMine, isMute }) => isMine && isMute);
    return this.device.rows.size === 0 && !isSilent && this.tabs.every(isDone);
  }

  /** Everything that waits to happen, once. Gives whether there was anything. */
  deliver() {
    const { random } = this;
    let has = false;
    for (const sim of this.tabs) {
      while (sim.store()) has = true;
      while (sim.answer()) has = true;
    }
    for (const one of [...this.connections]) {
      if (one.isIdle) continue;
      has = true;
      one.step(random);
    }
    return has;
  }

  judge() {
    const { list } = this.server;
    const texts = [...list].map(({ text }) => text).join(" ");
    const marks = texts.match(/\[[eo]\d+\]/g) ?? [];
    const seen = new Set(marks);
    assert.equal(seen.size, marks.length, `twice: ${marks.filter((mark, i) => marks.indexOf(mark) !== i)}`);
    for (const sim of this.lossy) for (const mark of sim.made) this.excused.add(mark);
    const missing = [...this.kept].filter(mark => !seen.has(mark) && !this.excused.has(mark));
    assert.deepEqual(missing, [], "all that was kept is there");
    for (const { made, name } of this.tabs) {
      assert.deepEqual(
        [...made].filter(mark => !seen.has(mark) && !this.excused.has(mark)),
        [],
        `what ${name} made is there`,
      );
    }
    for (const { opened, name } of this.tabs) {
      assert.equal(opened.replica.confirmed.digest, list.digest, `${name} sees what the server has`);
    }
    const problems = this.told.filter(([, { type }]) => ["usedTwice", "diverged", "rejected", "ended"].includes(type));
    return { problems, marks: marks.length };
  }
}

/** The marks in the deltas of some rows. */
function marksOf(rows) {
  return rows.flatMap(({ row }) => (row.delta ? (new TextDecoder().decode(row.delta).match(/\[e\d+\]/g) ?? []) : []));
}
