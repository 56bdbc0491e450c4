/** The part of a holder's credential record that is about OpenID4VCI: as it is stored, and as REST shows it. */
import * as z from 'zod'
import { openIdFormats } from '../../definitions/format-names.ts'
import { Renewal, RunningRenewal } from './renewal.ts'

/** Grants of offers by their names here. */
export const grants = ['pre-authorized_code', 'authorization_code'] as const

/** A claim that the issuer describes. `path` is as in the credential. */
const OfferedClaim = z.object({
  path: z.array(z.union([z.string(), z.number(), z.null()])),
  name: z.string().optional(),
  mandatory: z.boolean().optional(),
})

const locale = z.string().optional()

/** How a received credential looks, in the languages of its issuer. */
export const Look = z
  .object({
    display: z.array(
      z.object({
        locale,
        name: z.string(),
        description: z.string().optional(),
        logo: z.string().optional().describe('What the logo shows.'),
        backgroundColor: z.string().optional(),
        textColor: z.string().optional(),
      }),
    ),
    claims: z
      .array(
        z.object({ path: OfferedClaim.shape.path, labels: z.array(z.object({ locale, name: z.string() })) }),
      )
      .describe('What people call the claims, in the order in which they are shown.'),
    note: z.string().optional().describe('Why the look is not that of the type metadata.'),
  })
  .meta({ id: 'CredentialLook' })
export type Look = z.infer<typeof Look>

/** A request to the issuer or its authorization server, without its content. */
export const IssuerCall = z
  .object({
    at: z.iso.datetime(),
    method: z.enum(['GET', 'POST']),
    url: z.string().describe('Without query.'),
    outcome: z.string().describe('The status, and the code of an error.'),
  })
  .meta({ id: 'OpenId4VciCall' })
export type IssuerCall = z.infer<typeof IssuerCall>

/** The members that REST shows as they are stored. */
const shown = {
  credentialIssuer: z.string().describe('The Credential Issuer Identifier, a URL.'),
  issuerName: z.string().optional().describe('The name that the issuer gives itself. It proves nothing.'),
  credentialConfigurationId: z.string(),
  credentialName: z.string().optional(),
  format: z.enum(openIdFormats),
  types: z.array(z.string()).describe('The `vct`, or the types of the credential.'),
  claims: z.array(OfferedClaim).describe('The claims that the issuer describes.'),
  look: Look.optional().describe(
    'By the type metadata of the received credential, or else by the metadata of the issuer.',
  ),
  grant: z.enum(grants),
  txCode: z
    .object({
      inputMode: z.enum(['numeric', 'text']),
      length: z.int().optional(),
      description: z.string().optional(),
    })
    .optional()
    .describe(
      'Present if `accept-offer` needs a transaction code, which the issuer gives on another channel.',
    ),
  copies: z
    .int()
    .optional()
    .describe('How many copies are asked for, each bound to a key of its own. Absent: one.'),
  authorizationServer: z.string().describe('The identifier of the authorization server.'),
  authorizationUrl: z
    .string()
    .optional()
    .describe('The page on which the person consents, after `begin-authorization`.'),
  authorizationState: z
    .string()
    .optional()
    .describe(
      'The `state` of the redirect that answers `authorizationUrl`. Ignore a redirect with another one.',
    ),
  renewal: Renewal.optional().describe('Present when the credential was received.'),
  calls: z.array(IssuerCall).describe('The requests so far, the newest 50.'),
}

/**
 * With the endpoints as they were when the offer was received, so that later metadata cannot redirect the
 * flow. A renewal reads them again.
 */
export const StoredOpenId4VciOffer = z.object({
  ...shown,
  endpoints: z.object({
    credential: z.string(),
    token: z.string(),
    nonce: z.string().optional(),
    deferred: z.string().optional(),
    notification: z.string().optional(),
    authorization: z.string().optional(),
    pushedAuthorization: z.string().optional(),
    challenge: z.string().optional(),
  }),
  clientId: z.string(),
  /** Whether the token request with a pre-authorized code names the client. */
  isNamed: z.boolean(),
  /** How the proof names its key. Absent: the credential is bound to no key. */
  binding: z.enum(['jwk', 'did:jwk']).optional(),
  /** The proof of the key (VCI Appendix F). Absent in records of earlier releases: `jwt`. */
  proof: z.enum(['jwt', 'attested jwt', 'attestation']).optional(),
  /** The issuer certificate that signs attestations. */
  attestationCertificateId: z.string().optional(),
  /** Whether the authorization server requires a wallet attestation. */
  attestsClient: z.boolean().optional(),
  /** How requests of credentials are encrypted, and their responses. Absent: they are not. */
  encryption: z
    .object({
      request: z.object({ jwk: z.looseObject({}), enc: z.string() }),
      response: z.object({ enc: z.string() }).optional(),
    })
    .optional(),
  usesDpop: z.boolean(),
  /** Whether authorization responses have `iss` (RFC 9207). */
  namesIssuer: z.boolean(),
  /** The `scope` of the credential, or else `authorization_details` ask for it. */
  scope: z.string().optional(),
  /** Whether the metadata lists authorization servers, so that `authorization_details` name the issuer. */
  listsServers: z.boolean(),
  /** JSON of the secrets of the flow, sealed, see `oid4vci/holder/secrets.ts`. */
  sealed: z.string(),
  /**
   * When the code was sent, until its answer is stored. Left behind by a crash and by a request without an
   * answer.
   */
  codeSentAt: z.iso.datetime().optional(),
  credentialIdentifier: z.string().optional(),
  transactionId: z.string().optional(),
  /** Epoch milliseconds before which a deferred credential is not asked for. */
  retryAfterMs: z.number().optional(),
  notificationId: z.string().optional(),
  /** The DIDs of the keys for further copies; that of the first is the `subjectId` of the record. */
  copySubjectIds: z.array(z.string()).optional(),
  /** The received credential, until it is checked, and further copies of it. */
  received: z.string().optional(),
  receivedCopies: z.array(z.string()).optional(),
  renewing: RunningRenewal.optional(),
  /** The DIDs of keys that renewals have made and not used, for the next one. */
  spareSubjectIds: z.array(z.string()).optional(),
  /** The DIDs of the set before the last renewal, which a proof that is being made may need. */
  replacedSubjectIds: z.array(z.string()).optional(),
  /** The `notification_id` of a renewal whose credential was refused. */
  refusedNotificationId: z.string().optional(),
})
export type StoredOpenId4VciOffer = z.infer<typeof StoredOpenId4VciOffer>

export const OpenId4VciStatus = z.object(shown).meta({ id: 'OpenId4VciOfferStatus' })

/** What is not shown, the endpoints and the secrets of the flow, is left out. */
export function toOpenId4VciStatus(stored: StoredOpenId4VciOffer): z.infer<typeof OpenId4VciStatus> {
  return OpenId4VciStatus.parse(stored)
}
