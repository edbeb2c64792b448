// Finds which parts of a schema have any values: an object that must contain itself has none.

import type { Spend } from "./budget.ts";
import { DEAD, type ArrayShape, type Graph, type ObjectShape, type Part, type Unit } from "./graph.ts";
import { valueKey } from "./json-value.ts";
import { KIND, NUMBER, type Kinds } from "./kinds.ts";
import { sizeRange } from "./merge.ts";
import { numberPlan } from "./number-plan.ts";

/** Marks every part and unit of the graph that has at least one value that can be written out. */
export function markAlive(graph: Graph, spend: Spend): void {
  // Reversed, because containers were found before their contents: most units are then looked at once.
  const units = graph.allUnits().reverse();
  const parts = graph.allParts();
  const settler = new Settler(units, parts, spend);
  settler.settle(units);
  // Only a part without any living case gets relaxed forms; elsewhere a case without a usual form is left out.
  for (const unit of parts.filter(({ alive }) => !alive).flatMap(({ cases }) => cases.map((one) => one.unit))) {
    const isOpen = unit.nodes.every(({ object }) => !object?.additional?.never);
    const possible = (unit.object && isOpen ? KIND.object : 0) | (unit.array ? KIND.array : 0);
    unit.relaxed = possible & ~unit.alive;
  }
  settler.settle(units.filter(({ relaxed }) => relaxed !== 0));
}

/** Carries life from contents to their containers. */
class Settler {
  /** The units that contain each part. */
  private readonly containers = new Map<Part, Unit[]>();
  /** The parts of which each unit is a case. */
  private readonly parts = new Map<Unit, Part[]>();
  /** What each unit allows without regard to its contents. */
  private readonly possible = new Map<Unit, Kinds>();

  constructor(
    units: readonly Unit[],
    parts: readonly Part[],
    private readonly spend: Spend,
  ) {
    for (const unit of units) {
      this.possible.set(unit, possibleKinds(unit, spend));
      for (const part of contents(unit)) add(this.containers, part, unit);
    }
    for (const part of parts) for (const { unit } of part.cases) add(this.parts, unit, part);
  }

  settle(units: readonly Unit[]): void {
    const open = new Set(units);
    for (const unit of open) {
      // A set goes through what is added later, too, also when it was in the set before.
      open.delete(unit);
      this.spend((1 + contentCount(unit) / 16) / 8);
      const alive = aliveKinds(unit, this.possible.get(unit) ?? 0);
      if (alive === unit.alive) continue;
      unit.alive = alive;
      for (const part of this.parts.get(unit) ?? []) {
        if (part.alive) continue;
        part.alive = true;
        for (const container of this.containers.get(part) ?? []) open.add(container);
      }
    }
  }
}

function add<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function contents({ object, array }: Unit): ReadonlySet<Part> {
  const uses = [
    ...(object ? [...object.members.values(), ...(object.rest ? [object.rest] : [])] : []),
    ...(array ? [...array.prefix, array.rest] : []),
  ];
  return new Set(uses.map(({ part }) => part));
}

const contentCount = ({ object, array }: Unit): number => (object?.members.size ?? 0) + (array?.prefix.length ?? 0);

/** Returns those of the kinds of a unit that have values. */
function possibleKinds({ nodes, kinds, values }: Unit, spend: Spend): Kinds {
  if (values) return values.length > 0 ? kinds : 0;
  let possible = kinds;
  const excludes = (value: unknown) => nodes.some(({ excluded }) => excluded?.byKey.has(valueKey(value)));
  if (excludes(null)) possible &= ~KIND.null;
  if (excludes(true) && excludes(false)) possible &= ~KIND.boolean;
  if ((kinds & NUMBER) !== 0 && !numberPlan(nodes, kinds, spend)) possible &= ~NUMBER;
  return possible;
}

function aliveKinds({ nodes, object, array, relaxed }: Unit, possible: Kinds): Kinds {
  let alive = possible;
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
  const isAlive = ({ alive }: Part = rest?.part ?? DEAD) => alive;
  if (![...required].every((name) => isAlive(members.get(name)?.part))) return false;
  const possible = rest?.part.alive ? Infinity : [...members.values()].filter(({ part }) => part.alive).length;
  return (isRelaxed || min <= possible) && required.size <= max;
}
