/**
 * Media types in the header parameter `typ` of tokens (RFC 7515 §4.1.9): the prefix `application/` may be
 * left out, and case means nothing.
 */
import * as z from 'zod'

/**
 * Whether a `typ`, which may be anything, is one of these media types. They can be given with or without the
 * prefix.
 */
export function isMediaType(typ: unknown, ...types: readonly string[]): boolean {
  return typeof typ === 'string' && types.some((type) => withoutPrefix(type) === withoutPrefix(typ))
}

/** A `typ` that is this media type, as which it is read. */
export function MediaType(type: string) {
  const fault = `is not ${type}`
  return z
    .string(fault)
    .refine((typ) => isMediaType(typ, type), fault)
    .transform(() => type)
    .pipe(z.literal(type))
}

function withoutPrefix(type: string): string {
  return type.toLowerCase().replace(/^application\/(?=[^/]*$)/, '')
}
