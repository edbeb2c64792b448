import type { JsonSchema } from "../domain/generate.ts";

export const prepareSchema = (schema: unknown, _param: string) => ({
  schema: schema as JsonSchema,
  inexpressible: [] as string[],
});
