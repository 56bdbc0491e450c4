/**
 * The part of a prover's record that is about a request over OpenID4VP: as it is stored, and as REST shows
 * it.
 */
import * as z from 'zod'
import { DcqlQuery } from '../../credentials/dcql/query.ts'
import { DigitalCredential, digitalProtocols } from './digital-credentials.ts'
import { responseModes } from './openid4vp.ts'
import { toExpiresAt } from '../protocols/model.ts'

export const RequestingVerifier = z
  .object({
    clientIdPrefix: z.string(),
    authentication: z
      .enum(['none', 'did', 'certificate', 'origin'])
      .describe(
        'How the request proves its client id. `none`: anyone can make such a request. `origin`: the platform says which page makes it.',
      ),
    name: z.string().optional().describe('The name that the verifier gives itself. It is not verified.'),
    certificateSubject: z.string().optional(),
    responseHost: z.string().describe('The host that gets the presentation.'),
    isTrusted: z.boolean().describe('A trust anchor of this wallet vouches for the verifier.'),
    trustReason: z.string(),
  })
  .meta({ id: 'OpenId4VpVerifier' })
export type RequestingVerifier = z.infer<typeof RequestingVerifier>

/** A step of the wallet: a request that it made, or a check that passed. */
export const Step = z.object({ step: z.string(), detail: z.string() }).meta({ id: 'OpenId4VpStep' })
export type Step = z.infer<typeof Step>

const shown = {
  clientId: z
    .string()
    .describe(
      'The client id. Of an unsigned request of the Digital Credentials API: `origin:` and the origin.',
    ),
  verifier: RequestingVerifier,
  responseMode: z.enum(responseModes),
  responseUri: z
    .string()
    .describe('Where the presentation is sent. Digital Credentials API: the origin of the page.'),
  digital: z
    .object({ protocol: z.enum(digitalProtocols), origin: z.string() })
    .optional()
    .describe('A request of the Digital Credentials API: its protocol, and the origin of the page.'),
  digitalCredential: DigitalCredential.optional().describe(
    'The answer for the platform to return to the page, once the request is accepted or declined.',
  ),
  dcqlQuery: DcqlQuery,
  steps: z.array(Step).describe('The requests and checks of the wallet, in their order.'),
  redirectUri: z
    .string()
    .optional()
    .describe('Where the person’s browser continues: the verifier’s answer to the response.'),
}

export const StoredRequest = z.object({
  ...shown,
  nonce: z.string(),
  state: z.string().optional(),
  /** The key of the verifier that the response is encrypted to. */
  encryption: z.object({ jwk: z.looseObject({ kty: z.string() }), enc: z.string() }).optional(),
  /** `org-iso-mdoc`: what the response is encrypted by, base64url as received. */
  encryptionInfo: z.string().optional(),
  /** Epoch seconds from which the request must not be answered. */
  expiresTime: z.number().optional(),
  /** The form of the response. It is made once, so that every attempt to deliver it sends the same. */
  response: z.string().optional(),
  /** An attempt to deliver the response was begun: the verifier may have it. */
  isAttempted: z.boolean().optional(),
})
export type StoredRequest = z.infer<typeof StoredRequest>

export const OpenId4VpRequest = z
  .object({ ...shown, expiresAt: z.iso.datetime().optional() })
  .meta({ id: 'ReceivedOpenId4VpRequest' })

/** What is not shown, such as the nonce and the response, is left out. */
export function toOpenId4VpRequest(stored: StoredRequest): z.infer<typeof OpenId4VpRequest> {
  return OpenId4VpRequest.parse({ ...stored, expiresAt: toExpiresAt(stored.expiresTime) })
}
