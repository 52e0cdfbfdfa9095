// Arguments of tools from clients that send what is no string as a string, and the other way round. The schema that a model sees
// is the strict one.
import { z } from "zod";

/** A schema of these arguments that also accepts them in another type if only one reading is possible, and no other argument. */
export function lenientArguments<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> {
  const fields = Object.entries(shape).map(([name, schema]) => [
    name,
    z.preprocess((value) => readAs(schema as z.ZodType, value), schema as z.ZodType),
  ]);
  return z.strictObject(Object.fromEntries(fields)) as unknown as z.ZodObject<Shape>;
}

/** The value in the form that the schema accepts; unchanged if there is none. */
function readAs(schema: z.ZodType, value: unknown): unknown {
  const accepts = (reading: unknown) => schema.safeParse(reading).success;
  if (accepts(value)) return value;
  // Null stands for a missing argument.
  if (value === null) return undefined;
  const parsed = typeof value === "string" ? parseJson(value) : value;
  return [parsed, asStrings(parsed)].find(accepts) ?? value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Numbers and booleans as strings: the value itself, the items of a list, the values of an object. */
function asStrings(value: unknown): unknown {
  const one = (item: unknown) => (typeof item === "number" || typeof item === "boolean" ? String(item) : item);
  if (Array.isArray(value)) return value.map(one);
  if (typeof value !== "object" || value === null) return one(value);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, one(item)]));
}
