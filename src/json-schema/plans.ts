// Plans how the values of each unit are written out, once per unit.

import { once } from "../domain/once.ts";
import { arrayPlan, type ArrayPlan } from "./array-plan.ts";
import type { Spend } from "./budget.ts";
import type { Part, Unit, Use } from "./graph.ts";
import { KIND } from "./kinds.ts";
import { MAX_INLINE_VALUES } from "./limits.ts";
import { numberPlan, type NumberPlan } from "./number-plan.ts";
import { objectPlan, type ObjectPlan } from "./object-plan.ts";
import { StringPlanner, type StringPlan } from "./string-plan.ts";

const NOTHING = { forms: [], lost: [] };
const NO_NUMBERS = { schema: {}, lost: [] };

export class Plans {
  readonly object = once((unit: Unit): ObjectPlan =>
    unit.object && unit.alive & KIND.object ? objectPlan(unit, unit.object, this.planner) : NOTHING,
  );
  readonly array = once((unit: Unit): ArrayPlan =>
    unit.array && unit.alive & KIND.array ? arrayPlan(unit, unit.array) : NOTHING,
  );
  readonly string = once((unit: Unit): StringPlan => this.planner.plan(unit.nodes));
  /** Returns the plan for a unit that has numbers. */
  readonly number = once((unit: Unit): NumberPlan => numberPlan(unit.nodes, unit.kinds, this.spend) ?? NO_NUMBERS);
  private readonly planner: StringPlanner;

  constructor(private readonly spend: Spend) {
    this.planner = new StringPlanner(spend);
  }

  /** Returns the units worth a definition: large ones that are written out more than once or contain themselves. */
  shared(root: Part): ReadonlySet<Unit> {
    const seen = new Set<Unit>();
    const shared = new Set<Unit>();
    const open: Part[] = [root];
    for (let part = open.pop(); part; part = open.pop()) {
      for (const { unit } of part.cases) {
        if (unit.alive === 0) continue;
        if (seen.has(unit) && isLarge(unit)) shared.add(unit);
        if (seen.has(unit)) continue;
        seen.add(unit);
        const uses = this.contents(unit);
        this.spend(uses.length / 16);
        for (const use of uses) open.push(use.part);
      }
    }
    return shared;
  }

  /** Returns what a unit contains, repeated as often as it is written out. */
  private contents(unit: Unit): Use[] {
    const objects = this.object(unit).forms.flatMap((form) =>
      form.kind === "record" ? form.members.map(({ use }) => use) : (form.value ?? []),
    );
    const arrays = this.array(unit).forms.flatMap((form) => (form.kind === "tuple" ? form.items : (form.item ?? [])));
    return [...objects, ...arrays];
  }
}

/** Returns whether a unit contains others, so that writing it out might never end, or is long in itself. */
export const isLarge = ({ object, array, values }: Unit): boolean =>
  object !== undefined || array !== undefined || (values?.length ?? 0) > MAX_INLINE_VALUES;
