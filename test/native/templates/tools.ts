// The tools used to test the templates.

export const tool = (name: string, properties: object, required: readonly string[]) => ({
  type: "function",
  function: { name, description: `Does ${name}.`, parameters: { type: "object", properties, required } },
});

/** The tools of the manually written calls. */
export const TOOLS = [
  tool("get_weather", { city: { type: "string" }, days: { type: "integer" } }, ["city"]),
  tool("get_time", { zone: { type: "string" } }, ["zone"]),
];

/** Schemas as clients write them: lists, nested objects, choices, null, and an empty schema. */
export const CALENDAR_TOOLS = [
  tool(
    "add_event",
    {
      title: { type: "string", description: 'A "short" title' },
      guests: { type: "array", items: { type: "string" } },
      when: { type: "object", properties: { day: { type: "string" }, hour: { type: "number" } }, required: ["day"] },
      kind: { enum: ["work", "leisure"] },
      note: { type: ["string", "null"] },
      reminder: { anyOf: [{ type: "integer" }, { type: "boolean" }] },
    },
    ["title", "guests"],
  ),
  tool("list_events", {}, []),
];

/** A parameter of each type; a value that looks like a number or `true` may be text. */
export const TYPED_TOOL = tool(
  "set_all",
  {
    id: { type: "string" },
    flag: { type: "string" },
    count: { type: "integer" },
    ratio: { type: "number" },
    on: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    place: { type: "object", properties: { lat: { type: "number" }, name: { type: "string" } }, required: ["lat"] },
  },
  ["id", "flag", "count", "ratio", "on", "tags", "place"],
);
export const TYPED_CALL = {
  name: "set_all",
  arguments: {
    id: "42",
    flag: "true",
    count: -7,
    ratio: 0.5,
    on: true,
    tags: ["1", "x"],
    place: { lat: 1.5, name: "3" },
  },
};
