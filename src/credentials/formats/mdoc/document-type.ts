/**
 * The type of a document and the CBOR types of its elements, as a credential configuration keeps them. The
 * annotations of the JSON schema decide: JSON has neither dates nor byte strings.
 */
import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../../foundation/json.ts'

/**
 * `full-date`: tag 1004 (RFC 8943). `tdate`: tag 0 (RFC 8949 §3.4.1). `bytes`: a byte string, from base64url
 * or base64. `float`: also for whole numbers.
 */
export const encodings = ['full-date', 'tdate', 'bytes', 'float'] as const
export type Encoding = (typeof encodings)[number]

/** A path from the namespace on. Null stands for each element of an array. */
const Path = z.array(z.union([z.string(), z.null()])).min(2)

/** `encodings` has the elements, and their parts, that are not encoded as their JSON is. */
export const DocumentType = z.object({
  docType: z.string(),
  /** The namespace of each claim, if the claims are not grouped by namespace. */
  namespaces: z.record(z.string(), z.string()).optional(),
  encodings: z.array(z.object({ path: Path, as: z.enum(encodings) })),
})
export type DocumentType = z.infer<typeof DocumentType>

/** The depth of a schema that is read. */
const maxDepth = 12

/** The encodings of an element, by the schema of its values. `path` is that of the element. */
export function encodingsOf(schema: unknown, path: (string | null)[]): DocumentType['encodings'] {
  if (!isJsonObject(schema) || path.length > maxDepth) return []
  const as = encodingOf(schema)
  if (as) return [{ path, as }]
  const { properties, items } = schema
  const ofMembers = isJsonObject(properties)
    ? Object.entries(properties).flatMap(([name, each]) => encodingsOf(each, [...path, name]))
    : []
  return [...ofMembers, ...encodingsOf(items, [...path, null])]
}

function encodingOf({ type, format, contentEncoding }: JsonObject): Encoding | undefined {
  if (format === 'date') return 'full-date'
  if (format === 'date-time') return 'tdate'
  if (contentEncoding === 'base64url' || contentEncoding === 'base64') return 'bytes'
  return type === 'number' ? 'float' : undefined
}
