/** How the parts of documents are read: CBOR by zod, with the place of what is wrong. */
import * as z from 'zod'
import type { CborValue } from '../../../foundation/cbor/index.ts'
import { type CoseWarning, coseWarnings } from '../../../foundation/cose/index.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { VerificationError } from '../../codecs/verification-error.ts'

export const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'is not a byte string')
export const Value = z.custom<CborValue>(() => true)
export const Text = z.string('is not text').max(65_536)
/** A map whose keys are text, as an object. What is `undefined` is absent. */
export function members<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(
    (value) => (value instanceof Map ? Object.fromEntries(value as Map<string, CborValue>) : value),
    z.object(shape, 'is not a map'),
  )
}

export type Note = (warning: string) => void

/** Notes the warnings of COSE about a message. */
export function warnerOf(name: string, note: Note): (warning: CoseWarning) => void {
  return (warning) => note(`${name} ${coseWarnings[warning]}`)
}

/** Notes each warning once. */
export function noteIn(warnings: string[]): Note {
  return (warning) => void (warnings.includes(warning) || warnings.push(warning))
}

/** Runs a reader of a part. @throws {VerificationError} `malformed` with the place */
export function within<Result>(place: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof VerificationError) throw error
    throw malformed(`${place}: ${reasonOf(error)}`, error)
  }
}

/** Parses a part. @throws {VerificationError} `malformed` with the place and the member */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: string,
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const [{ path, message }] = error.issues as [z.core.$ZodIssue]
  const where = [place, ...path.map(String)].filter((part) => part !== '').join('.')
  throw malformed(`${where}: ${message}`)
}

export function malformed(reason: string, cause?: unknown): VerificationError {
  return new VerificationError('malformed', `The document cannot be read: ${reason}`, { cause })
}
