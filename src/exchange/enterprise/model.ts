/** REST models that DID requests and authentication challenges share. */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { optional } from '../../wallet/model.ts'
import { OpenId4VpOptions, SessionOpenId4Vp } from './openid4vp-model.ts'

const maxIdLength = 100

/** A label for the asking organisation, which the other side sees. */
export const From = z
  .string()
  .refine((text) => [...text].length <= 1_000, 'must have at most 1000 characters')
  // A lone surrogate changes when it is encoded in UTF-8, so the stored label and the signed one would
  // differ.
  .refine((text) => !/\p{Surrogate}/u.test(text), 'has a surrogate without its other half')
  .meta({ maxLength: 1_000 })

export const CreateSession = z
  .object({
    from: optional(From).describe('Your name, as the other side sees it.'),
    openid4vp: optional(OpenId4VpOptions).describe(
      'Wallets of OpenID4VP can answer too (extension). `{}`: with the defaults. Absent: as ENTERPRISE_OPENID4VP says.',
    ),
  })
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
  answeredBy: z
    .enum(['submission', 'openid4vp'])
    .optional()
    .describe('With `openid4vp`: how the session was answered (extension).'),
  openid4vp: SessionOpenId4Vp.optional().describe(
    'The request to wallets of OpenID4VP, and its result (extension).',
  ),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

/** The member of the document behind a link that its QR code leaves out, since it is long. */
export const LinkedRequest = {
  authorizationRequest: z
    .string()
    .optional()
    .describe('The URL for wallets of OpenID4VP: `openid4vp://?…` (extension).'),
}

/** The document behind the link of a session. */
export function withRequest<Document extends object>(
  document: Document,
  openid4vp: SessionOpenId4Vp | undefined,
): Document & { authorizationRequest?: string } {
  return { ...document, ...(openid4vp && { authorizationRequest: openid4vp.authorizationRequest }) }
}

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
