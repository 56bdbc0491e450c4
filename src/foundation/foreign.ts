/**
 * Reads what other parties send. JSON documents, such as metadata and responses, are read strictly in the
 * members that are needed, and tolerantly in all others: a member that is null is absent, and unknown ones
 * are ignored (RFC 8414 §2 and §3.2, VCI §12.2.4).
 */
import * as z from 'zod'
import { isJsonObject, type JsonObject } from './json.ts'

/** The levels of a document in which null members are found. Documents are not read deeper. */
const deepest = 32

/** Reads a document. Its members are strict, unless they are `ifValid`. */
export function readForeign<Type extends z.ZodType>(
  type: Type,
  value: unknown,
): z.ZodSafeParseResult<z.output<Type>> {
  return type.safeParse(prune(value))
}

/** `readForeign`. @throws {z.ZodError} */
export function parseForeign<Type extends z.ZodType>(type: Type, value: unknown): z.output<Type> {
  return type.parse(prune(value))
}

/** A member that is not needed: it is absent if it has another form. */
export function ifValid<Type extends z.ZodType>(type: Type) {
  return type.optional().catch(undefined)
}

/** An array, of which the entries that have the form count. It can be empty. */
export function validOnes<Type extends z.ZodType>(type: Type) {
  return z.array(z.unknown()).transform((all) =>
    all.flatMap((each): z.output<Type>[] => {
      const parsed = type.safeParse(each)
      return parsed.success ? [parsed.data] : []
    }),
  )
}

/** A copy without the members that are null, at all levels. Entries of arrays stay, since their places count. */
export function withoutNullMembers(object: JsonObject): JsonObject {
  return prune(object) as JsonObject
}

function prune(value: unknown, levels = deepest): unknown {
  if (levels === 0) return value
  if (Array.isArray(value)) return value.map((each) => prune(each, levels - 1))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, prune(member, levels - 1)]),
  )
}

/**
 * A text on one line, without control, format and bidirectional characters, which could add lines or control
 * a terminal.
 */
export function oneLine(text: string, limit = 300): string {
  return text
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .trim()
    .slice(0, limit)
}

/**
 * Whether the status of a response is 408, 425, 429 or 5xx: another attempt may succeed (RFC 9110 §15, RFC
 * 6585 §4, RFC 8470 §5.2). Any other refusal is final.
 */
export function isPassingStatus(status: number): boolean {
  return status >= 500 || [408, 425, 429].includes(status)
}
