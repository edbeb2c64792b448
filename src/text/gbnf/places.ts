// Measures what may come next at places inside the rules of a GBNF grammar. llama.cpp has a stack for each alternative
// that is open there, and compares each stack with all others.

import { components } from "./components.ts";
import type { Openings } from "./openings.ts";
import type { Rule } from "./rules.ts";

/** The use of a rule inside another rule, after which the end of the outer rule is open. */
interface Use {
  readonly of: number;
  /** Alternatives of the outer rule that are open after it as well. */
  readonly behind: number;
}

interface Places {
  /** Most alternatives that may be open after characters of the rule. */
  middle: number;
  /** The same where the end of the rule is open too, and with it what follows the rule. */
  end: number;
  /** Most alternatives that may be open after the rule, wherever it is used. */
  outside: number;
  readonly uses: Use[];
}

/** Returns the most alternatives that may be open at once, or in a row. `openings` must have measured all rules. */
export function mostOpen(rules: readonly Rule[], openings: Openings, measure: "beginnings" | "row"): number {
  const all: Places[] = rules.map(() => ({ middle: 0, end: 0, outside: 0, uses: [] }));
  for (const rule of rules) look(rule, all, openings, measure);
  const found = components(all.map(({ uses }) => uses.map(({ of }) => of)));
  const componentOf = new Int32Array(all.length);
  for (const [component, members] of found.entries()) {
    for (const member of members) componentOf[member] = component;
  }
  let most = 0;
  // Outer rules come before the rules that they use.
  for (let component = found.length - 1; component >= 0; component--) {
    const members = found[component] as readonly number[];
    // Rules may use one another to any depth, but each counts once: deeper uses open one by one.
    let outside = 0;
    let inside = 0;
    for (const member of members) {
      const places = all[member] as Places;
      outside = Math.max(outside, places.outside);
      let highest = 0;
      for (const { of, behind } of places.uses) {
        if (componentOf[of] === component) highest = Math.max(highest, behind);
      }
      inside += highest;
    }
    outside += inside;
    for (const member of members) {
      const { uses, middle, end } = all[member] as Places;
      most = Math.max(most, middle, end + outside);
      for (const { of, behind } of uses) {
        const used = all[of] as Places;
        if (componentOf[of] !== component) used.outside = Math.max(used.outside, behind + outside);
      }
    }
  }
  return rules.reduce((highest, rule) => Math.max(highest, openings.of(rule)[measure]), most);
}

/** Records what may be open at each place of a rule, from the end of the rule. */
function look(rule: Rule, all: readonly Places[], openings: Openings, measure: "beginnings" | "row"): void {
  const { emptiness } = openings;
  const places = all[rule.index] as Places;
  for (const items of rule.alternatives) {
    let open = 0;
    let endIsOpen = true;
    for (const item of items.toReversed()) {
      const own = openings.ofItem(item, measure);
      let behind = open;
      if (item.isRepeated) {
        const both = item.fewest !== item.copies || emptiness.ofOne(item);
        behind = both ? open + own : Math.max(open, own);
      }
      if (item.rule) {
        const used = all[item.rule.index] as Places;
        if (endIsOpen) places.uses.push({ of: item.rule.index, behind });
        else used.outside = Math.max(used.outside, behind);
      } else if (endIsOpen) places.end = Math.max(places.end, behind);
      else places.middle = Math.max(places.middle, behind);
      const isEmpty = emptiness.of(item);
      open = isEmpty ? open + own : own;
      endIsOpen &&= isEmpty;
    }
  }
}
