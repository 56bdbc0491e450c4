/**
 * Requests and responses as the Digital Credentials API carries them (OpenID4VP 1.0 Appendix A; ISO/IEC TS
 * 18013-7 Annex C).
 */
import * as z from 'zod'
import { JsonValue } from '../../foundation/json.ts'

/** The protocol of ISO/IEC TS 18013-7 Annex C, which is without OpenID4VP. */
export const isoMdoc = 'org-iso-mdoc'

/** Those of OpenID4VP by the signatures of the request, and that of ISO. */
export const digitalProtocols = [
  'openid4vp-v1-unsigned',
  'openid4vp-v1-signed',
  'openid4vp-v1-multisigned',
  isoMdoc,
] as const

/** What a request chooses: the signatures follow from its signers. */
export const digitalFamilies = ['openid4vp', isoMdoc] as const

export const DigitalRequest = z
  .object({
    protocol: z.enum(digitalProtocols),
    data: z
      .record(z.string(), JsonValue)
      .describe(
        'The parameters of an unsigned request. `request` of a signed one. `org-iso-mdoc`: `deviceRequest` and `encryptionInfo`, base64url.',
      ),
  })
  .meta({ id: 'DigitalCredentialRequest' })
export type DigitalRequest = z.infer<typeof DigitalRequest>

export const DigitalCredential = z
  .object({
    protocol: z.enum(digitalProtocols),
    data: z
      .record(z.string(), JsonValue)
      .describe(
        '`vp_token`, or `response` if the request asks for encryption, as `org-iso-mdoc` always does, or `error`.',
      ),
  })
  .meta({ id: 'DigitalCredential' })
export type DigitalCredential = z.infer<typeof DigitalCredential>

/** The audience of presentations for a page (A.4). The client id is never the audience. */
export function audienceOf(origin: string): string {
  return `origin:${origin}`
}
