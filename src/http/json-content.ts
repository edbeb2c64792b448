// Schemas for a route's `detail`. svc reads and checks bodies itself, so Elysia's `body` and `response` hooks, which
// would do so again, stay unused, and the API description takes the schemas from here.

import { t, type TSchema } from "../contract/schema.ts";

/**
 * Returns an OpenAPI request body or response of one of these types, with this schema; TypeBox values are JSON Schema.
 * The table of operations describes responses.
 */
export const typedContent = (types: readonly string[], schema: TSchema) => ({
  description: "",
  content: Object.fromEntries(types.map((type) => [type, { schema }])),
});

/** Returns an OpenAPI request body or response of JSON. */
export const jsonContent = (schema: TSchema) => typedContent(["application/json"], schema);

/** Returns an OpenAPI response that is a text of one of these types. */
export const textContent = (types: readonly string[]) => typedContent(types, t.String());

/** Returns an OpenAPI request body or response that is a file of one of these types. */
export const fileContent = (types: readonly string[]) => typedContent(types, t.String({ format: "binary" }));

type Content = ReturnType<typeof typedContent>;
type Answer = Pick<Content, "description"> & Partial<Content>;

/** Returns the hooks of a route with this answer and this request body, if any; Elysia must not read the body. */
export const hooksOf = (answer: Answer, requestBody?: Content & { required?: false }) =>
  ({ parse: "none", detail: { ...(requestBody && { requestBody }), responses: { 200: answer } } }) as const;

/** Returns the hooks of a route that answers with JSON. */
export const jsonAnswer = (answer: TSchema) => hooksOf(jsonContent(answer));

/** Returns the hooks of a route that takes and answers JSON. */
export const jsonRoute = (body: TSchema, answer: TSchema) => hooksOf(jsonContent(answer), jsonContent(body));

/** Returns the hooks of a route that takes JSON or no body, and answers with JSON. */
export const optionalRoute = (body: TSchema, answer: TSchema) =>
  hooksOf(jsonContent(answer), { ...jsonContent(body), required: false });

/** Returns hooks of a route that takes a form with a file, or JSON, and answers with JSON or one of these texts. */
export const formRoute = (what: string, form: TSchema, body: TSchema, answer: TSchema, texts: readonly string[]) => {
  const content = { ...typedContent(["multipart/form-data"], form).content, ...jsonContent(body).content };
  const answers = { description: "", content: { ...jsonContent(answer).content, ...textContent(texts).content } };
  return hooksOf(answers, { description: `A form with ${what}, or JSON.`, content });
};
