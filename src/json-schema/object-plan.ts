// Plans the objects of a case for the converter, which knows maps of like properties and objects with only named
// properties. (Its rule for others beside named ones also accepts the names in an escaped form.)

import type { ObjectShape, Unit, Use } from "./graph.ts";
import { KIND } from "./kinds.ts";
import { MAX_OPTIONAL } from "./limits.ts";
import { sizeRange } from "./merge.ts";
import { under, type SchemaNode } from "./schema-node.ts";
import type { StringPlanner } from "./string-plan.ts";

export interface ObjectPlan {
  /** The objects have one of these forms. */
  readonly forms: readonly ObjectForm[];
  readonly lost: readonly string[];
}

export type ObjectForm =
  /** Without `value`, values are arbitrary. */
  | { readonly kind: "map"; readonly value?: Use }
  | { readonly kind: "record"; readonly members: readonly RecordMember[] };

interface RecordMember {
  readonly name: string;
  readonly use: Use;
  readonly required: boolean;
}

/** Forms that a property count may be multiplied out to. */
const MAX_FORMS = 32;

/** Returns the plan for the objects of a unit that has an object shape. */
export function objectPlan({ nodes, relaxed }: Unit, shape: ObjectShape, strings: StringPlanner): ObjectPlan {
  const [least, max] = sizeRange(nodes);
  const min = relaxed & KIND.object ? 0 : least;
  const { forms, lost } = planFor(nodes, shape, min, max, strings);
  return { forms, lost: min < least ? [...lost, ...paths(nodes, "minProperties")] : lost };
}

function planFor(
  nodes: readonly SchemaNode[],
  shape: ObjectShape,
  min: number,
  max: number,
  strings: StringPlanner,
): ObjectPlan {
  if (!shape.rest) return records(nodes, membersOf(shape.members, shape.required), min, max);
  const names = shape.names && namesOf(shape.names);
  if (names && shape.rest.part.alive) {
    const { rest } = shape;
    strings.spend(names.length / 4);
    return records(nodes, membersOf(new Map(names.map((name) => [name, rest])), shape.required), min, max);
  }
  if (max === 0 || (!shape.rest.part.alive && !isPatterned(nodes))) {
    return { forms: [{ kind: "record", members: [] }], lost: [] };
  }
  const lost = [
    ...(min > 0 ? paths(nodes, "minProperties") : []),
    ...(max < Infinity ? paths(nodes, "maxProperties") : []),
    ...(shape.names && !isAnyName(shape.names, strings)
      ? nodes.filter(({ object }) => object?.names).map(({ at }) => under(at, "propertyNames"))
      : []),
    ...(shape.rest.part.alive ? [] : nodes.filter(isPatternedNode).map(({ at }) => under(at, "patternProperties"))),
  ];
  return { forms: [{ kind: "map", ...(shape.rest.part.alive && { value: shape.rest }) }], lost };
}

const isPatternedNode = ({ object }: SchemaNode): boolean => object?.patterns !== undefined;
const isPatterned = (nodes: readonly SchemaNode[]): boolean => nodes.some(isPatternedNode);

function membersOf(uses: ReadonlyMap<string, Use>, required: ReadonlySet<string>): RecordMember[] {
  const members = [...uses].map(([name, use]) => ({ name, use, required: required.has(name) }));
  let optional = 0;
  return members.filter((member) => member.use.part.alive && (member.required || ++optional <= MAX_OPTIONAL));
}

/** Returns the property names when they are listed, otherwise undefined. */
function namesOf({ part }: Use): readonly string[] | undefined {
  const lists = part.cases.map(({ unit, lost }) =>
    lost.length === 0 && unit.lost.length === 0 ? unit.values : undefined,
  );
  if (!lists.every((list) => list !== undefined)) return undefined;
  return [...new Set(lists.flat().filter((name) => typeof name === "string"))];
}

/** Returns whether names are not constrained at all. */
const isAnyName = ({ part }: Use, strings: StringPlanner): boolean =>
  part.cases.some(({ unit: { nodes, kinds, values, lost }, lost: unmet }) => {
    if ((kinds & KIND.string) === 0 || values || lost.length + unmet.length > 0) return false;
    const plan = strings.plan(nodes);
    return plan.lost.length === 0 && Object.keys(plan.schema).length === 1;
  });

function records(nodes: readonly SchemaNode[], members: readonly RecordMember[], min: number, max: number): ObjectPlan {
  const optional = members.filter(({ required }) => !required);
  const needed = min - (members.length - optional.length);
  const room = max - (members.length - optional.length);
  const whole: ObjectPlan = { forms: [{ kind: "record", members }], lost: [] };
  if (needed <= 0 && room >= optional.length) return whole;
  if (room <= 0) return { forms: [{ kind: "record", members: members.filter(({ required }) => required) }], lost: [] };
  if (needed === optional.length) {
    return { forms: [{ kind: "record", members: members.map((member) => ({ ...member, required: true })) }], lost: [] };
  }
  if (needed <= 1 && optional.length <= MAX_FORMS && room === 1) {
    const none = needed <= 0 ? [variant(members, () => "absent")] : [];
    return {
      forms: [
        ...none,
        ...optional.map((chosen) => variant(members, (member) => (member === chosen ? "required" : "absent"))),
      ],
      lost: [],
    };
  }
  if (needed === 1 && optional.length <= MAX_FORMS && room >= optional.length) {
    // One form for each optional property that may be the first one present.
    const order = new Map(optional.map((member, index) => [member, index]));
    const forms = optional.map((_, first) =>
      variant(members, (member) => {
        const index = order.get(member) ?? 0;
        return index < first ? "absent" : index === first ? "required" : "optional";
      }),
    );
    return { forms, lost: [] };
  }
  return {
    ...whole,
    lost: [
      ...(needed > 0 ? paths(nodes, "minProperties") : []),
      ...(room < optional.length ? paths(nodes, "maxProperties") : []),
    ],
  };
}

/** Returns a record in which each optional member has become absent, optional or required. */
function variant(
  members: readonly RecordMember[],
  become: (member: RecordMember) => "absent" | "optional" | "required",
): ObjectForm {
  const kept = members.flatMap((member) => {
    const state = member.required ? "required" : become(member);
    return state === "absent" ? [] : [{ ...member, required: state === "required" }];
  });
  return { kind: "record", members: kept };
}

const paths = (nodes: readonly SchemaNode[], keyword: "minProperties" | "maxProperties"): string[] =>
  nodes.filter(({ object }) => object?.[keyword] !== undefined).map(({ at }) => under(at, keyword));
