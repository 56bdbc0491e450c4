/** Requests and responses as the Digital Credentials API carries them (OpenID4VP 1.0 Appendix A). */
import * as z from 'zod'
import { JsonValue } from '../../foundation/json.ts'

/** The protocols by the signatures of the request. */
export const digitalProtocols = [
  'openid4vp-v1-unsigned',
  'openid4vp-v1-signed',
  'openid4vp-v1-multisigned',
] as const

export const DigitalRequest = z
  .object({
    protocol: z.enum(digitalProtocols),
    data: z
      .record(z.string(), JsonValue)
      .describe('The parameters of an unsigned request. `request` of a signed one.'),
  })
  .meta({ id: 'DigitalCredentialRequest' })
export type DigitalRequest = z.infer<typeof DigitalRequest>

export const DigitalCredential = z
  .object({
    protocol: z.enum(digitalProtocols),
    data: z
      .record(z.string(), JsonValue)
      .describe('`vp_token`, or `response` if the request asks for encryption, or `error`.'),
  })
  .meta({ id: 'DigitalCredential' })
export type DigitalCredential = z.infer<typeof DigitalCredential>

/** The audience of presentations for a page (A.4). The client id is never the audience. */
export function audienceOf(origin: string): string {
  return `origin:${origin}`
}
