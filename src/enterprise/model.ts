/** What both products of the enterprise suite say and take (service §2.10–2.13, §8; api.md 8.3). */
import { z } from 'zod'
import { Problem } from '../base/problem.ts'
import { optional } from '../wallet/model.ts'

/** Ids in paths are no longer than this. */
const longestId = 100
const longestDid = 4_000

/** Who asks, in words that the other side sees. */
export const From = z
  .string()
  .refine((text) => [...text].length <= 1_000, 'must have at most 1000 characters')
  // Half a character would not come back from disk as it was, nor be what is signed.
  .refine((text) => !/\p{Surrogate}/u.test(text), 'has half a character, a surrogate without its other')
  .meta({ maxLength: 1_000 })

export const CreateSession = z
  .object({ from: optional(From).describe('Who asks, in words that the other side sees.') })
  .meta({ id: 'EnterpriseCreateRequest' })
export type CreateSession = z.output<typeof CreateSession>

export const SubmittedDid = z.string().min(1).max(longestDid)

export const States = z.enum(['pending', 'success', 'error'])

/** What has become of an operation that answers with nothing else. */
export const OperationResult = z
  .object({ title: z.string(), detail: z.string(), status: z.literal(200) })
  .meta({ id: 'EnterpriseOperationResult' })
export type OperationResult = z.infer<typeof OperationResult>

export function result(title: string, detail: string): OperationResult {
  return { title, detail, status: 200 }
}

/** @throws {Problem} `/errors/common/bad-request` for an id in a path that is longer than any. */
export function mustBeShort(name: string, id: string): void {
  if (id.length > longestId)
    throw new Problem(
      '/errors/common/bad-request',
      `${name}: it is longer than ${longestId} characters. Take the id as it was given.`,
    )
}

/** The first thing that is wrong with a body, as `field: reason`. */
export function reasonIn(error: z.ZodError): string {
  const { path, message } = error.issues[0]!
  return `${path.join('.') || 'body'}: ${message}`
}
