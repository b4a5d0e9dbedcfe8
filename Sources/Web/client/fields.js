// The sorts of fields that messages have: each knows how it is written and read.

import { Malformed, MAX_COUNT } from "./bytes.js";
import { readCommit, readDelta, readRejection, readRules } from "./codec.js";
import { writeCommit, writeDelta, writeRejection, writeRules } from "./codec.js";
import { readItem } from "./item.js";

/** @typedef {import('./bytes.js').Reader} Reader */
/** @typedef {import('./bytes.js').Writer} Writer */
/** @typedef {import('./item.js').Item} Item */
/**
 * How a value is read and written.
 * @template T
 * @typedef {{ read: (reader: Reader) => T, write: (writer: Writer, value: T) => void }} Codec
 */
/** @template C @typedef {C extends Codec<infer T> ? T : never} Value */
/** @template {Record<string, Codec<any>>} F @typedef {{ [K in keyof F]: Value<F[K]> }} Values */
/**
 * Where a person is: 0 on no item, 1 on an item, 2 editing an item, 3 away.
 * @typedef {{ place: number, item?: string }} Focus
 */
/**
 * Somebody's presence: 0 gone, 1 here, 2 here on an item, 3 here editing an item, 4 away.
 * @typedef {{ author: number, place: number, person?: string, item?: string }} Presence
 */
/** @typedef {{ resumed: { head: number, digest: string } }} Resumed */
/** @typedef {{ snapshot: { revision: number, count: number, digest: string } }} Snapshot */
/** @typedef {Resumed | Snapshot | { newest: number }} Start */
/** @typedef {{ positions: { start: number, count: number } } | { ids: [string, string] }} Selection */

/** @type {Codec<number>} */
export const number = { read: reader => reader.varint(), write: (writer, value) => writer.varint(value) };
/** @type {Codec<number>} */
export const count = { read: reader => reader.varint(MAX_COUNT), write: number.write };
/** @type {Codec<string>} */
export const string = { read: reader => reader.string(), write: (writer, value) => writer.string(value) };
/** @type {Codec<boolean>} */
export const flag = { read: reader => reader.flag(), write: (writer, value) => writer.flag(value) };
/** @type {Codec<string>} */
export const word = { read: reader => reader.word(), write: (writer, value) => writer.word(value) };
/** @type {Codec<string>} */
export const id = { read: reader => reader.id(), write: (writer, value) => writer.id(value) };
/** @type {Codec<Item>} */
export const item = { read: readItem, write: (writer, value) => writer.raw(value.whole) };
export const rules = { read: readRules, write: writeRules };
export const commit = { read: readCommit, write: writeCommit };
export const delta = { read: readDelta, write: writeDelta };
export const rejection = { read: readRejection, write: writeRejection };

/**
 * A byte up to a limit.
 * @param {number} limit
 * @returns {Codec<number>}
 */
export const choice = limit => ({
  read: reader => {
    const byte = reader.byte();
    if (byte > limit) throw new Malformed("a choice that does not exist");
    return byte;
  },
  write: (writer, value) => writer.byte(value),
});

/**
 * A number from 1 to a limit.
 * @param {number} limit
 * @returns {Codec<number>}
 */
export const oneOf = limit => ({
  read: reader => {
    const value = reader.varint(limit);
    if (value === 0) throw new Malformed("a choice that does not exist");
    return value;
  },
  write: number.write,
});

/**
 * A flag, and a value if it is 1.
 * @template T
 * @param {Codec<T>} value
 * @returns {Codec<T | undefined>}
 */
export const optional = value => ({
  read: reader => (reader.flag() ? value.read(reader) : undefined),
  write: (writer, it) => {
    writer.flag(it !== undefined);
    if (it !== undefined) value.write(writer, it);
  },
});

/**
 * A number of values, and the values, each of at least `size` bytes.
 * @template T
 * @param {Codec<T>} value @param {number} size
 * @returns {Codec<T[]>}
 */
export const many = (value, size) => ({
  read: reader => {
    const values = [];
    for (let left = reader.count(size); left > 0; left--) values.push(value.read(reader));
    return values;
  },
  write: (writer, values) => {
    writer.varint(values.length);
    for (const it of values) value.write(writer, it);
  },
});

/**
 * Values with names, in this order.
 * @template {Record<string, Codec<any>>} F
 * @param {F} fields
 * @returns {Codec<Values<F>>}
 */
export const record = fields => ({
  read: reader => {
    /** @type {any} */
    const values = {};
    for (const [name, field] of Object.entries(fields)) values[name] = field.read(reader);
    return values;
  },
  write: (writer, values) => {
    for (const [name, field] of Object.entries(fields)) field.write(writer, values[name]);
  },
});

/**
 * The four bytes that a hello begins with; nobody needs their value.
 * @type {Codec<unknown>}
 */
export const magic = {
  read: reader => {
    for (const byte of [72, 65, 78, 68]) if (reader.byte() !== byte) throw new Malformed("a hello of something else");
  },
  write: writer => writer.raw(Uint8Array.of(72, 65, 78, 68)),
};

/**
 * A client id: 32 hexadecimal digits, the high half first.
 * @type {Codec<string>}
 */
export const client = {
  read: reader => reader.word() + reader.word(),
  write: (writer, value) => {
    writer.word(value.slice(0, 16));
    writer.word(value.slice(16));
  },
};

/** @type {Codec<Focus>} */
export const focus = {
  read: reader => {
    const place = choice(3).read(reader);
    return place === 1 || place === 2 ? { place, item: reader.id() } : { place };
  },
  write: (writer, value) => {
    writer.byte(value.place);
    if (value.item !== undefined) writer.id(value.item);
  },
};

/** @type {Codec<Presence>} */
export const presence = {
  read: reader => {
    const [author, place] = [reader.varint(), choice(4).read(reader)];
    if (place === 0) return { author, place };
    const person = reader.string();
    return place === 2 || place === 3 ? { author, place, person, item: reader.id() } : { author, place, person };
  },
  write: (writer, value) => {
    writer.varint(value.author);
    writer.byte(value.place);
    if (value.person !== undefined) writer.string(value.person);
    if (value.item !== undefined) writer.id(value.item);
  },
};

const resumed = record({ head: number, digest: word });
const snapshot = record({ revision: number, count, digest: word });

/** @type {Codec<Start>} */
export const start = {
  read: reader => {
    const byte = choice(2).read(reader);
    if (byte === 0) return { resumed: resumed.read(reader) };
    return byte === 1 ? { snapshot: snapshot.read(reader) } : { newest: reader.varint() };
  },
  write: (writer, value) => {
    writer.byte("resumed" in value ? 0 : "snapshot" in value ? 1 : 2);
    if ("resumed" in value) resumed.write(writer, value.resumed);
    else if ("snapshot" in value) snapshot.write(writer, value.snapshot);
    else writer.varint(value.newest);
  },
};

const positions = record({ start: count, count });

/** @type {Codec<Selection>} */
export const selection = {
  read: reader => {
    if (choice(1).read(reader) === 0) return { positions: positions.read(reader) };
    const [lowest, highest] = [reader.id(), reader.id()];
    // The characters of an id rise as its bits do.
    if (highest < lowest) throw new Malformed("the highest id is below the lowest");
    return { ids: [lowest, highest] };
  },
  write: (writer, value) => {
    writer.byte("positions" in value ? 0 : 1);
    if ("positions" in value) positions.write(writer, value.positions);
    else for (const one of value.ids) writer.id(one);
  },
};
