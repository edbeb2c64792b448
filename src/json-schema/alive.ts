// Finds which parts of a schema have any values: an object that must contain itself has none.

import type { ArrayShape, Graph, ObjectShape, Part, Unit } from "./graph.ts";
import { KIND, NUMBER, type Kinds } from "./kinds.ts";
import { lengthRange, sizeRange } from "./merge.ts";
import { numberPlan } from "./number-plan.ts";

/** Marks every part and unit of the graph that has at least one value that can be written out. */
export function markAlive(graph: Graph): void {
  // Reversed, because containers were found before their contents: most of the graph then settles in one round.
  const units = graph.allUnits().reverse();
  const parts = graph.allParts().reverse();
  settle(units, parts);
  // Only a part without any living case gets relaxed forms; elsewhere a case without a usual form is left out.
  for (const unit of parts.filter(({ alive }) => !alive).flatMap(({ cases }) => cases.map((one) => one.unit))) {
    const isOpen = unit.nodes.every(({ object }) => !object?.additional?.never);
    const possible = (unit.object && isOpen ? KIND.object : 0) | (unit.array ? KIND.array : 0);
    unit.relaxed = possible & ~unit.alive;
  }
  if (units.some(({ relaxed }) => relaxed !== 0)) settle(units, parts);
}

function settle(units: readonly Unit[], parts: readonly Part[]): void {
  let open = units;
  let changed = true;
  while (changed) {
    changed = false;
    for (const unit of open) {
      const alive = aliveKinds(unit);
      changed ||= alive !== unit.alive;
      unit.alive = alive;
    }
    for (const part of parts) {
      const alive = part.cases.some(({ unit }) => unit.alive !== 0);
      changed ||= alive !== part.alive;
      part.alive = alive;
    }
    // The other units contain no parts, so they cannot come alive later.
    open = open.filter(({ object, array }) => object !== undefined || array !== undefined);
  }
}

function aliveKinds({ nodes, kinds, values, object, array, relaxed }: Unit): Kinds {
  if (values) return values.length > 0 ? kinds : 0;
  const excluded = nodes.flatMap((node) => node.excluded ?? []);
  let alive = kinds;
  if (excluded.includes(null)) alive &= ~KIND.null;
  if (excluded.includes(true) && excluded.includes(false)) alive &= ~KIND.boolean;
  const [minLength, maxLength] = lengthRange(nodes);
  if (minLength > maxLength) alive &= ~KIND.string;
  if ((kinds & NUMBER) !== 0 && !numberPlan(nodes, kinds)) alive &= ~NUMBER;
  if (array && !arrayIsAlive(array, (relaxed & KIND.array) !== 0)) alive &= ~KIND.array;
  if (object && !objectIsAlive(object, sizeRange(nodes), (relaxed & KIND.object) !== 0)) alive &= ~KIND.object;
  return alive;
}

/** Returns the largest number of items that an array can have. */
export function mostItems({ prefix, rest, range }: ArrayShape): number {
  const dead = prefix.findIndex(({ part }) => !part.alive);
  const most = dead >= 0 ? dead : rest.part.alive ? Infinity : prefix.length;
  return Math.min(range[1], most);
}

/** Returns the length of a tuple when the schema does not state one: that of its prefix, within the limits. */
export const usualLength = ({ prefix, range: [min] }: ArrayShape, max: number): number =>
  Math.max(Math.min(prefix.length, max), min);

function arrayIsAlive(array: ArrayShape, isRelaxed: boolean): boolean {
  const [min, max] = array.range;
  const least = isRelaxed || array.prefix.length === 0 ? min : usualLength(array, max);
  return min <= max && least <= mostItems(array);
}

function objectIsAlive(
  { members, required, rest }: ObjectShape,
  [min, max]: readonly [number, number],
  isRelaxed: boolean,
): boolean {
  const isAlive = ({ alive }: Part = rest?.part ?? NONE) => alive;
  if (![...required].every((name) => isAlive(members.get(name)?.part))) return false;
  const possible = rest?.part.alive ? Infinity : [...members.values()].filter(({ part }) => part.alive).length;
  return (isRelaxed || min <= possible) && required.size <= max && min <= max;
}

const NONE: Part = { nodes: [], cases: [], alive: false };
