/** What verifiers record of presentations: their checks and their credentials. */
import * as z from 'zod'
import { JsonValue } from '../../foundation/json.ts'

/**
 * The checks of a presentation, in their order, and of the whole response (`answer`, `same-holder`,
 * `identity`).
 */
export const checkNames = [
  'form',
  'audience',
  'nonce',
  'time',
  'transaction',
  'query',
  'disclosure',
  'policy',
  'trust',
  'validity',
  'holder-binding',
  'signature',
  'digests',
  'status',
  'answer',
  'same-holder',
  'identity',
] as const
export type CheckName = (typeof checkNames)[number]

export const PresentationCheck = z
  .object({
    credentialId: z
      .string()
      .optional()
      .describe('The id of the credential query. Absent for a check of the whole response.'),
    name: z
      .enum(checkNames)
      .describe(
        '`form`: it can be read. `audience`, `nonce`, `time`: it is for this request. `transaction`: the holder authorized the requested transactions. `query`: it is of the requested type, with the requested claims. `disclosure`: it discloses no others. `policy`: the policy accepts issuer and type. `trust`: the issuer’s certificates end at a trust anchor, and are of an authority of the query. `validity`: the dates. `holder-binding`: the holder presents it. `signature`: the issuer signed it. `digests`: of an mdoc, its elements are those that the issuer signed. `status`: it is not revoked. `answer`: the presentations together answer the query. `same-holder`: they are of one holder. `identity`: the holder is who a DID request or an authentication challenge asks for.',
      ),
    result: z.enum(['passed', 'failed', 'skipped']).describe('`skipped`: an earlier check failed.'),
    reason: z.string().optional(),
  })
  .meta({ id: 'PresentationCheck' })
export type PresentationCheck = z.infer<typeof PresentationCheck>

export const PresentedCredential = z
  .object({
    credentialId: z
      .string()
      .optional()
      .describe('The id of the credential query. Absent if the request is not a query in DCQL.'),
    format: z.string(),
    issuer: z
      .string()
      .describe(
        'The DID in `iss`, or the subject of the certificate in `x5c`: `iss` if the certificate names it, else its first URI, its first DNS name as URL, or its hash. For AnonCreds whose definition does not prove its issuer, the URL of the definition.',
      ),
    certificateSubject: z
      .string()
      .optional()
      .describe('The subject of the certificate in `x5c`, once it is verified.'),
    types: z.array(z.string()),
    holder: z
      .string()
      .optional()
      .describe(
        'The DID that signed the presentation. The did:jwk of the key, if the credential is bound to a key.',
      ),
    subject: z.string().optional().describe('The subject that the issuer names, which may have no DID.'),
    claims: z
      .record(z.string(), JsonValue)
      .describe(
        'The disclosed claims, without those about the credential itself. Of an mdoc: the elements by namespace.',
      ),
    deviceClaims: z
      .record(z.string(), JsonValue)
      .optional()
      .describe('mdoc: the elements that the holder’s device has signed, by namespace.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe('mdoc: what does not conform to ISO/IEC 18013-5 and does not matter for what is verified.'),
    signedAt: z.iso.datetime().optional().describe('mdoc: when the issuer signed it.'),
    validFrom: z.iso.datetime().optional().describe('mdoc: when its validity begins.'),
    validUntil: z.iso.datetime().optional().describe('mdoc: when its validity ends.'),
    expectedUpdate: z.iso.datetime().optional().describe('mdoc: when the issuer expects to issue it anew.'),
  })
  .meta({ id: 'PresentedCredential' })
export type PresentedCredential = z.infer<typeof PresentedCredential>
