/** REST models that DID requests and authentication challenges share. */
import * as z from 'zod'
import { Problem } from '../base/problem.ts'
import { optional } from '../wallet/model.ts'

/** The longest id in a path. */
const maxIdLength = 100

/** A label for the asking organisation, which the other side sees. */
export const From = z
  .string()
  .refine((text) => [...text].length <= 1_000, 'must have at most 1000 characters')
  // A lone surrogate changes when it is encoded in UTF-8, so the stored label and the signed one would differ.
  .refine((text) => !/\p{Surrogate}/u.test(text), 'has a surrogate without its other half')
  .meta({ maxLength: 1_000 })

export const CreateSession = z
  .object({ from: optional(From).describe('Your name, as the other side sees it.') })
  .meta({ id: 'EnterpriseCreateRequest' })
export type CreateSession = z.output<typeof CreateSession>

export const SubmittedDid = z.string().min(1).max(4_000)

/** The short link and the result of a session. */
export const SessionResult = z.object({
  shortUrl: z
    .string()
    .optional()
    .describe('A short URL for QR codes, from which others retrieve the document while it can be answered.'),
  did: z.string().nullable(),
  state: z.enum(['pending', 'success', 'error']),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

/** The reply of an operation that returns nothing else. */
export const OperationResult = z
  .object({ title: z.string(), detail: z.string(), status: z.literal(200) })
  .meta({ id: 'EnterpriseOperationResult' })
export type OperationResult = z.infer<typeof OperationResult>

export function toResult(title: string, detail: string): OperationResult {
  return { title, detail, status: 200 }
}

/** @throws {Problem} `/errors/common/bad-request` when an id in a path is too long. */
export function assertIdLength(parameter: string, id: string): void {
  if (id.length <= maxIdLength) return
  const detail = `${parameter}: it is longer than ${maxIdLength} characters. Use the id as it was given.`
  throw new Problem('/errors/common/bad-request', detail)
}

/** The first fault of a body, as `field: reason`. */
export function firstFault(error: z.ZodError): string {
  const { path, message } = error.issues[0]!
  return `${path.join('.') || 'body'}: ${message}`
}
