// Multiplies subschemas out: the requirements on a value become a list of cases. In each case everything applied in
// place (`$ref`, `allOf`, `anyOf`, `oneOf`, `not`, `if`, `dependent…`, `unevaluated…`) is resolved into plain nodes.

import { once } from "../domain/once.ts";
import type { Apart } from "./apart.ts";
import { CaseState, type Choice, type Forbidden } from "./case-state.ts";
import { choicesOf, hasConditions } from "./choices.ts";
import type { Spend } from "./budget.ts";
import { MAX_CASES, MAX_STEPS } from "./limits.ts";
import { impliedKinds, isContradiction, kindsOf, memberNames, requiredNames } from "./merge.ts";
import type { Negator } from "./negate.ts";
import type { NodeMaker } from "./node-maker.ts";
import { KIND, type Kinds } from "./kinds.ts";
import type { RegexCache } from "./regex-cache.ts";
import { isPlain, type SchemaNode } from "./schema-node.ts";
import { unevaluated } from "./unevaluated.ts";

export interface Case {
  /** Nodes that must all hold; none of them is empty. */
  readonly nodes: readonly SchemaNode[];
  readonly kinds: Kinds;
  /** Paths of keywords that could not be expressed. */
  readonly lost: readonly string[];
  /** Whether keywords that were ignored may allow values that this case leaves out, such as further properties. */
  readonly isLoose: boolean;
}

export class CaseFinder {
  private readonly covers = new Map<string, readonly Case[]>();
  private readonly allChoices = once((node: SchemaNode) => choicesOf(node, false, this.maker));
  private readonly coverChoices = once((node: SchemaNode) => choicesOf(node, true, this.maker));
  /** Whether a tag makes the options of a `oneOf` exclude one another. */
  private readonly isTagged = once(({ oneOf = [] }: SchemaNode) => this.apart.areTagged(this, oneOf));
  private steps = MAX_STEPS;

  constructor(
    private readonly maker: NodeMaker,
    private readonly negator: Negator,
    private readonly apart: Apart,
    private readonly regexes: RegexCache,
    /** Whether keywords about one type narrow an untyped schema to that type. */
    private readonly infers: boolean,
    private readonly spend: Spend,
  ) {}

  /** Returns the cases of the values that satisfy all of `nodes`; empty when there is no such value. */
  find(nodes: readonly SchemaNode[]): readonly Case[] {
    const [only] = nodes;
    if (only && nodes.length === 1 && isPlain(only)) {
      const kinds = this.infers ? kindsOf(nodes) & impliedKinds(nodes) : kindsOf(nodes);
      return only.never ? [] : [{ nodes, kinds, lost: [], isLoose: false }];
    }
    const state = new CaseState();
    return nodes.every((node) => this.add(state, node, false)) ? this.expand(state, false, MAX_CASES) : [];
  }

  /** Returns cases that together contain at least all valid values; keywords that are costly to resolve are ignored. */
  cover(nodes: readonly SchemaNode[]): readonly Case[] {
    const key = nodes.map(({ id }) => id).join();
    const known = this.covers.get(key);
    if (known) return known;
    const state = new CaseState();
    const cases = nodes.every((node) => this.add(state, node, true)) ? this.expand(state, true, MAX_CASES) : [];
    this.covers.set(key, cases);
    return cases;
  }

  private expand(first: CaseState, cover: boolean, room: number): Case[] {
    const open = [first];
    const done: Case[] = [];
    for (let state = open.pop(); state; state = open.pop()) {
      // Copies of a state keep all choices that are left.
      this.spend((1 + state.choices.length / 64) / 8);
      const left = room - done.length - open.length;
      const choice = state.choices.shift();
      // Reversed, so that the first option is popped first.
      if (choice)
        open.push(...this.choose(state, choice, cover, isAlone(state, open, done) ? Infinity : left).reverse());
      else if (cover) done.push(state.finish(false));
      else this.settle(state, open, done, left);
    }
    return done;
  }

  private choose(state: CaseState, choice: Choice, cover: boolean, room: number): CaseState[] {
    const { at, options, isExclusive, from } = choice;
    const count = options.length;
    if (count > room || !this.affords(count * state.weight)) return [state.lose(at)];
    const others = isExclusive && !this.isTagged(from) ? options.map(({ nodes }) => forbid(nodes, at)) : [];
    if (others.length > 0 && !this.affords(count * count)) return [state.lose(at)];
    return options.flatMap(({ nodes, forbidden = [] }, index) => {
      const next = state.copy();
      next.forbidden.push(...forbidden, ...others.filter((_, other) => other !== index).flat());
      const isPossible = nodes.every((node) => this.add(next, node, cover, from));
      return isPossible && !this.isContradiction(next, state.nodes.length, cover) ? [next] : [];
    });
  }

  /** Returns whether only objects are left and none of them satisfies the nodes. */
  private isContradiction({ kinds, nodes }: CaseState, start: number, cover: boolean): boolean {
    const left = cover || !this.infers ? kinds : kinds & impliedKinds(nodes);
    return left === KIND.object && isContradiction(nodes, start, this.regexes, this.spend);
  }

  /** Resolves what can be resolved only after all choices were made. */
  private settle(state: CaseState, open: CaseState[], done: Case[], room: number): void {
    const watcher = state.watchers.shift();
    if (watcher) {
      if (this.add(state, unevaluated(watcher, state.links, this.maker), false)) open.push(state);
      return;
    }
    // Checked anew each time: a negation added since may have made nodes overlap that were apart.
    this.spend(state.nodes.length / 8);
    const one = state.finish(this.infers);
    if (one.kinds === 0) return;
    const { forbidden } = state;
    for (let index = 0; index < forbidden.length;) {
      const doubtful = forbidden[index];
      if (!doubtful || this.apart.isApart(this, one, doubtful.node)) {
        index++;
        continue;
      }
      forbidden.splice(index, 1);
      const cases = this.without(state, doubtful, room);
      if (cases) {
        done.push(...cases);
        return;
      }
      state.lose(doubtful.at);
    }
    done.push(state.finish(this.infers));
  }

  /** Returns the cases of a state in which a node does not hold, or undefined when they cannot be expressed. */
  private without(state: CaseState, { node, mayAdd }: Forbidden, room: number): Case[] | undefined {
    const negation = room > 0 && this.affords(state.weight) ? this.negator.negate(node) : undefined;
    if (!negation) return undefined;
    const next = state.copy();
    const cases = this.add(next, negation.node, false) ? this.expand(next, false, room) : [];
    const names = memberNames(state.nodes);
    const usual = cases.filter((one) => [...requiredNames(one.nodes)].every((name) => names.has(name)));
    if (usual.length > 0) return usual;
    // A negation that leaves out valid values may have no cases. Reporting the keyword as not enforced is better then.
    const isUnsure = cases.length > 0 ? !mayAdd : negation.narrower;
    return isUnsure ? undefined : cases;
  }

  /** Takes steps from the budget; returns false when it is exhausted. */
  private affords(steps: number): boolean {
    this.steps -= steps;
    if (this.steps < 0) return false;
    this.spend(steps / 8);
    return true;
  }

  /** Adds a node and all that it applies to the same value. Returns false when no value is left. */
  private add(state: CaseState, node: SchemaNode, cover: boolean, from?: SchemaNode): boolean {
    if (from) state.links.push([from, node]);
    if (state.seen.has(node)) return true;
    if (!state.take(node)) return false;
    this.spend(1 / 4);
    state.choices.push(...(cover ? this.coverChoices(node) : this.allChoices(node)));
    if (hasConditions(node)) {
      if (cover) state.isLoose = true;
      else state.watch(node);
    }
    const { target, allOf = [] } = node;
    return [...(target ? [target] : []), ...allOf].every((other) => this.add(state, other, cover, node));
  }
}

const forbid = (nodes: readonly SchemaNode[], at: string): Forbidden[] =>
  nodes.map((node) => ({ node, at, mayAdd: false }));

/** Returns whether the next choice of a state is the only one, so that its options multiply with nothing. */
const isAlone = ({ choices }: CaseState, open: readonly CaseState[], done: readonly Case[]): boolean =>
  open.length + done.length + choices.length === 0;
