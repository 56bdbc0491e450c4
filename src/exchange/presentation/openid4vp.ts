/** The part of a presentation record that is about OpenID4VP: as it is stored, and as REST shows it. */
import * as z from 'zod'
import { JsonValue } from '../../foundation/json.ts'
import { DcqlQuery } from '../../credentials/dcql/query.ts'
import { PresentationCheck, PresentedCredential } from '../../credentials/formats/presented.ts'
import { decodeTransaction } from '../../wallet/verification/transaction-data.ts'
import { AcceptedIssuers } from '../../wallet/verification/trust.ts'
import { toExpiresAt } from '../protocols/model.ts'
import { DigitalRequest } from './digital-credentials.ts'

/** An attestation about the verifier, for wallets that understand its format (OpenID4VP 1.0 §5.11). */
export const VerifierInfo = z
  .object({
    format: z.string().min(1).max(200),
    data: z.union([z.string().max(50_000), z.record(z.string(), JsonValue)]),
    credential_ids: z.array(z.string()).min(1).max(50).optional(),
  })
  .meta({ id: 'OpenId4VpVerifierInfo' })

export const directPostModes = ['direct_post', 'direct_post.jwt'] as const
export const digitalModes = ['dc_api', 'dc_api.jwt'] as const
export const responseModes = [...directPostModes, ...digitalModes] as const

/** The members that REST shows as they are stored. */
const shown = {
  authorizationRequest: z
    .string()
    .describe('The URL for the wallet: `openid4vp://?…`. With `directPost: false`, that of the page.'),
  digitalRequest: DigitalRequest.optional().describe(
    'Digital Credentials API: the argument of `navigator.credentials.get({ digital: { requests: [digitalRequest] } })`.',
  ),
  isoMdocRequest: DigitalRequest.optional().describe(
    'Digital Credentials API: the same by the protocol `org-iso-mdoc`, another member of `requests`.',
  ),
  origins: z
    .array(z.string())
    .optional()
    .describe(
      'Digital Credentials API: the origins whose pages may request the presentation. `origin:` and the origin is then the audience of the presentations.',
    ),
  clientId: z.string().describe('The audience of the presentations by `direct_post`.'),
  responseMode: z.enum(responseModes),
  dcqlQuery: DcqlQuery,
  checks: z.array(PresentationCheck).optional().describe('The checks of the received response.'),
  credentials: z.array(PresentedCredential).optional().describe('The credentials, if all checks passed.'),
}

/** With the secrets of the request, which whoever has its URL can read. */
export const StoredOpenId4Vp = z.object({
  ...shown,
  nonce: z.string(),
  /** The public JWK that the response is encrypted to. */
  encryptionKey: z.looseObject({ kid: z.string() }).optional(),
  state: z.string(),
  responseUri: z.string(),
  /** Epoch seconds from which responses are refused. */
  expiresTime: z.number(),
  signer: z
    .union([z.object({ did: z.string(), keyId: z.string() }), z.object({ certificateId: z.string() })])
    .optional(),
  /** The members of `transaction_data`, encoded. */
  transactionData: z.array(z.string()).optional(),
  verifierInfo: z.array(VerifierInfo).optional(),
  /** Absent: any. */
  issuers: AcceptedIssuers.optional(),
  /** Whether all credentials must be of one holder. Absent: no. */
  sameHolder: z.boolean().optional(),
  /** Digital Credentials API. False: no wallet gets the request for `direct_post`, nor its `state`. */
  directPost: z.boolean().optional(),
  /** Where the wallet sends the person after the response. */
  redirectUri: z.string().optional(),
  /** The id of the DID request or the authentication challenge that the response answers. */
  sessionId: z.string().optional(),
  /** The issuance that the response is needed for, whose page the browser goes on to at `redirectUri`. */
  issuance: z
    .object({
      /** The checked authorization request, sealed for its issuer. */
      sealed: z.string(),
      /** The digest of the cookie of the browser that has begun. */
      browser: z.string(),
    })
    .optional(),
})
export type StoredOpenId4Vp = z.infer<typeof StoredOpenId4Vp>

export const OpenId4VpStatus = z
  .object({
    ...shown,
    transactionData: z.array(z.record(z.string(), JsonValue)).optional(),
    pageUrl: z
      .string()
      .describe('A page for a person: the request as QR code, and then whether the presentation is valid.'),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'OpenId4VpPresentation' })

/** The page of the request that is answered at a URL. */
export function pageOf(responseUri: string): string {
  return responseUri.replace(/\/response$/, '/page')
}

/** The request for the Digital Credentials API, by each of its protocols. */
export function digitalRequestsOf({
  digitalRequest,
  isoMdocRequest,
}: Pick<StoredOpenId4Vp, 'digitalRequest' | 'isoMdocRequest'>): DigitalRequest[] {
  return [digitalRequest ?? [], isoMdocRequest ?? []].flat()
}

/** What is not shown, the secrets of the request, is left out. */
export function toOpenId4VpStatus({
  transactionData,
  ...stored
}: StoredOpenId4Vp): z.infer<typeof OpenId4VpStatus> {
  return OpenId4VpStatus.parse({
    ...stored,
    transactionData: transactionData?.map(decodeTransaction),
    pageUrl: pageOf(stored.responseUri),
    expiresAt: toExpiresAt(stored.expiresTime),
  })
}
