// The operations of an OpenAPI document, as far as requests are made from them and answers are compared with them.

/** The keywords of JSON Schema that the document uses for requests. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** A list: one schema for each item. */
  readonly items?: Schema | readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly format?: string;
}

interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
}
type Contents = Readonly<Record<string, Content>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Described {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, { readonly content?: Contents }>>;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

export interface Operation {
  /** Method and path, such as `GET /v1/files/{id}`. */
  readonly name: string;
  /** In capitals. */
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** By media type. */
  readonly bodies: Contents;
  /** By status, then by media type; none where an answer has no body. */
  readonly answers: Readonly<Record<string, Contents>>;
}

export const operationsOf = ({ paths }: Document): Operation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, { parameters = [], requestBody, responses }]) => ({
      name: `${verb.toUpperCase()} ${path}`,
      method: verb.toUpperCase(),
      path,
      parameters,
      bodies: requestBody?.content ?? {},
      answers: Object.fromEntries(Object.entries(responses).map(([status, { content = {} }]) => [status, content])),
    })),
  );
