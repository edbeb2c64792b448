// Schemas for a route's `detail`. svc reads and checks bodies itself, so Elysia's `body` and `response` hooks, which
// would do so again, stay unused, and the API description takes the schemas from here.

import { t, type TSchema } from "../contract/schema.ts";

/** Returns an OpenAPI request body or response of JSON with this schema. TypeBox values are JSON Schema. */
export const jsonContent = (schema: TSchema, description = "") => ({
  description,
  content: { "application/json": { schema } },
});

/** Returns the hooks of a route that answers with JSON; Elysia must not read its body, if any. */
export const jsonAnswer = (answer: TSchema) =>
  ({ parse: "none", detail: { responses: { 200: jsonContent(answer) } } }) as const;

/** Returns the hooks of a route that takes and answers JSON. */
export const jsonRoute = (body: TSchema, answer: TSchema) =>
  ({ parse: "none", detail: { requestBody: jsonContent(body), responses: { 200: jsonContent(answer) } } }) as const;

/** Returns the hooks of a route that takes JSON or no body, with these parameters in the query, and answers with JSON. */
export const optionalRoute = <Parameter>(body: TSchema, answer: TSchema, parameters: Parameter[]) => ({
  parse: "none" as const,
  detail: {
    parameters,
    requestBody: { ...jsonContent(body), required: false },
    responses: { 200: jsonContent(answer) },
  },
});

/** Returns an OpenAPI response that is a file of one of these types. */
export const fileContent = (types: readonly string[]) => ({
  description: "",
  content: Object.fromEntries(types.map((type) => [type, { schema: t.String({ format: "binary" }) }])),
});

/** Returns hooks of a route that takes a form with a file, or JSON, and answers with JSON or one of these texts. */
export const formRoute = (what: string, form: TSchema, body: TSchema, answer: TSchema, texts: readonly string[]) => {
  const content = { "multipart/form-data": { schema: form }, ...jsonContent(body).content };
  const plain = Object.fromEntries(texts.map((type) => [type, { schema: t.String() }]));
  const answers = { description: "", content: { ...jsonContent(answer).content, ...plain } };
  const requestBody = { description: `A form with ${what}, or JSON.`, content };
  return { parse: "none", detail: { requestBody, responses: { 200: answers } } } as const;
};
