/** Credential records: the stored fields and the REST resource. */
import * as z from 'zod'
import { JsonValue } from '../../foundation/json.ts'
import { CredentialOffer, CredentialRequest } from '../../credentials/anoncreds/model.ts'
import { toPaddedBase64url } from '../../foundation/bytes.ts'
import { IssuedType } from '../../credentials/formats/format.ts'
import { Jwk } from '../../did/document.ts'
import { CredentialFormat } from '../protocols/attachments.ts'
import { DeferredRenewal, HolderKeys, SourceProgress } from './requested.ts'
import {
  ExpiresAt,
  InvitationFields,
  Meta,
  MetaLastFailure,
  Sides,
  toExpiresAt,
  toInvitationFields,
} from '../protocols/model.ts'
import { requestDigest } from '../engine/idempotency.ts'
import type { Protocol, Rec } from '../engine/protocol.ts'
import { OfferDelivery } from './delivery.ts'
import { Instance, WalletNotification } from './instance.ts'
import { OpenId4VciStatus, StoredOpenId4VciOffer, toOpenId4VciStatus } from './openid4vci.ts'
import { credentialMessages, credentialStates } from '../../definitions/issue-credential.ts'

/** The status of a held credential when its list was last read. */
export const Standing = z
  .object({ status: z.enum(['not-revoked', 'revoked', 'suspended']), checkedAt: z.iso.datetime() })
  .meta({ id: 'SeenCredentialStanding' })
export type Standing = z.infer<typeof Standing>

/** The stored fields of a credential record. */
export const CredentialData = z.object({
  ...Sides,
  credentialFormat: CredentialFormat,
  claims: z.record(z.string(), JsonValue),
  schemaIds: z.array(z.string()),
  issuingDID: z.string().optional(),
  issuingKid: z.string().optional(),
  /** Issuer: the issuer certificate that signs instead of a DID. */
  issuerCertificateId: z.string().optional(),
  validityPeriod: z.number().optional(),
  automaticIssuance: z.boolean().optional(),
  /** Binds the holder's proof of its DID. Absent for AnonCreds. */
  challenge: z.string().optional(),
  domain: z.string().optional(),
  /** Holder: the subject DID, as in the request. */
  subjectId: z.string().optional(),
  keyId: z.string().optional(),
  /** Holder: the accepted issuers of an automatically accepted offer. */
  trustedIssuers: z.array(z.string()).optional(),
  /** Issuer: the holder's proved DID, in its long form. */
  holderDid: z.string().optional(),
  /** Issuer: the holder's key that an SD-JWT is bound to. */
  holderKey: Jwk.optional(),
  /** Issuer, AnonCreds: the guid of the definition. */
  credentialDefinitionId: z.string().optional(),
  /**
   * AnonCreds: the offer, the request, and at the holder, until the credential is received, the sealed
   * blinding data of the link secret.
   */
  anoncreds: z
    .object({
      offer: CredentialOffer,
      request: CredentialRequest.optional(),
      metadata: z.string().optional(),
    })
    .optional(),
  /** Issuer, OpenID4VCI: the keys of a deferred request. */
  requestedKeys: HolderKeys.optional(),
  /** Issuer, OpenID4VCI: how far the claims source of the configuration is. */
  claimsSource: SourceProgress.optional(),
  /** Issuer, OpenID4VCI: a request for the credential anew that the claims source has deferred. */
  renewing: DeferredRenewal.optional(),
  /**
   * Issuer, OpenID4VCI: how often the credential was issued anew, when last, and the digest of the refreshed
   * access token that it was issued for. The count is 0 if that was the first issuance.
   */
  renewed: z.object({ count: z.int(), at: z.iso.datetime(), token: z.string() }).optional(),
  /** Issuer, OpenID4VCI: the newest copies of all issuances, oldest first. */
  instances: z.array(Instance).optional(),
  /** Issuer, OpenID4VCI: what the wallet said last of the credential. */
  notification: WalletNotification.optional(),
  /** Issuer, OpenID4VCI: how many notifications were stored. */
  notifications: z.int().optional(),
  /** Issuer, OpenID4VCI: the further credentials of a batch, each for another key of the holder. */
  batch: z.array(z.object({ holderDid: z.string(), credential: z.string() })).optional(),
  /** Issuer, OpenID4VCI: the issuer, its credential configuration, and the end of the offer in epoch seconds. */
  openid4vci: z
    .object({
      issuerId: z.string(),
      configurationId: z.string(),
      expiresTime: z.number(),
      /** Absent for an offer. */
      begun: z.literal('wallet').optional(),
      /** How the wallet names the credential. Default: the id of the record. */
      credentialIdentifier: z.string().optional(),
      /** The offer has no claims, or a part of them: a claims source has the others. */
      isPartial: z.boolean().optional(),
      /** Whether the wallet has authenticated by the attestation of a trusted provider. */
      isAttested: z.boolean().optional(),
      /** The type of an SD-JWT VC. */
      type: IssuedType.optional(),
    })
    .optional(),
  /** Issuer, OpenID4VCI: the messages that bring the offer to its person. */
  delivery: OfferDelivery.optional(),
  /** Holder, OpenID4VCI: the offer, and how far its flow is. */
  receivedOffer: StoredOpenId4VciOffer.optional(),
  /**
   * Holder, OpenID4VCI: further copies of the credential, each bound to another key. See
   * `exchange/held-credentials/copies.ts`.
   */
  copies: z
    .array(z.object({ credential: z.string(), subjectId: z.string(), presented: z.literal(true).optional() }))
    .optional(),
  /** The compact JWT, the SD-JWT with all disclosures, or the JSON of an AnonCreds credential. */
  credential: z.string().optional(),
  /**
   * Issuer: when it revoked the credential. Holder: when the issuer's notification was received, and its
   * comment.
   */
  revocation: z.object({ at: z.string(), comment: z.string().optional() }).optional(),
  /** Holder. */
  standing: Standing.optional(),
  requestDigest,
  ...Meta,
})
export type CredentialData = z.output<typeof CredentialData>

export const IssueCredentialRecord = z
  .object({
    recordId: z.guid(),
    thid: z.string(),
    connectionId: z.string().optional().describe('Extension.'),
    credentialFormat: CredentialFormat,
    subjectId: z.string().optional(),
    validityPeriod: z.number().optional(),
    claims: z.record(z.string(), JsonValue),
    automaticIssuance: z.boolean().optional(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime().optional(),
    role: z.enum(['Issuer', 'Holder']),
    protocolState: z.enum([...new Set(credentialStates.rows.map((row) => row[3]))]),
    credential: z
      .string()
      .optional()
      .describe(
        'The compact JWT, the SD-JWT with all disclosures, or the JSON of an AnonCreds credential, as base64url.',
      ),
    issuingDID: z.string().optional(),
    issuerCertificateId: z
      .string()
      .optional()
      .describe('The issuer certificate that signs instead of a DID (extension).'),
    revoked: z
      .literal(true)
      .optional()
      .describe('Present if the credential is revoked. The holder relies on the issuer’s notification.'),
    revokedAt: z.iso
      .datetime()
      .optional()
      .describe('When it was revoked; for the holder, when the notification was received.'),
    expiresAt: ExpiresAt,
    standing: Standing.optional().describe(
      'Holder: the status of the credential when its list was last read, to show its content or to choose it for a presentation (extension).',
    ),
    renewed: z
      .object({ count: z.int(), at: z.iso.datetime() })
      .optional()
      .describe('Issuer: how often the wallet has got the credential anew, and when last (extension).'),
    instances: z
      .array(Instance)
      .optional()
      .describe(
        'Issuer: the 100 newest copies that the wallet got, oldest first. Only when one record is read (extension).',
      ),
    notification: WalletNotification.optional().describe(
      'What a wallet of OpenID4VCI said last of the credential (extension).',
    ),
    delivery: OfferDelivery.optional().describe(
      'The messages that bring an offer of OpenID4VCI to its person, in the first record of the offer (extension).',
    ),
    openid4vci: OpenId4VciStatus.optional().describe(
      'Holder: the offer of an OpenID4VCI issuer (extension).',
    ),
    ...InvitationFields,
    metaRetries: z.int(),
    metaLastFailure: MetaLastFailure.optional(),
  })
  .meta({ id: 'IssueCredentialRecord' })
export type IssueCredentialRecord = z.infer<typeof IssueCredentialRecord>

export type CredentialRecord = Rec<typeof credentialStates, CredentialData>

/** A credential record as REST and events show it. */
export function toCredentialRecord(record: CredentialRecord): IssueCredentialRecord {
  const { credential, revocation } = record
  return {
    recordId: record.id,
    thid: record.thid,
    connectionId: record.connectionId,
    credentialFormat: record.credentialFormat,
    subjectId: record.subjectId,
    validityPeriod: record.validityPeriod,
    claims: record.claims,
    automaticIssuance: record.automaticIssuance,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    role: record.role,
    protocolState: record.state,
    credential: credential === undefined ? undefined : toPaddedBase64url(credential),
    issuingDID: record.issuingDID,
    issuerCertificateId: record.issuerCertificateId,
    revoked: revocation && true,
    revokedAt: revocation?.at,
    expiresAt: toExpiresAt(expiryOf(record)),
    standing: record.standing,
    renewed: record.renewed?.count ? { count: record.renewed.count, at: record.renewed.at } : undefined,
    notification: record.notification,
    delivery: record.delivery,
    openid4vci: record.receivedOffer && toOpenId4VciStatus(record.receivedOffer),
    ...toInvitationFields(record),
    metaRetries: record.metaRetries,
    metaLastFailure: record.metaLastFailure,
  }
}

/** The end of an offer that waits for its holder, in epoch seconds. */
function expiryOf({ role, state, invitation, openid4vci }: CredentialRecord): number | undefined {
  const isOpen =
    role === 'Holder' ? state === 'OfferReceived' : ['InvitationGenerated', 'OfferCreated'].includes(state)
  return isOpen ? (openid4vci ?? invitation)?.expiresTime : undefined
}

export const issueCredential = {
  ...credentialStates,
  model: CredentialData,
  messages: credentialMessages,
  toResource: toCredentialRecord,
  endsAt: (record) => (record.role === 'Issuer' ? expiryOf(record) : undefined),
  gauge: 'issuance_flow_did_com_exchange_job_ms_gauge',
  problems: {
    notFound: 'error:CredentialServiceError:RecordNotFound',
    wrongState: 'error:CredentialServiceError:InvalidStateForOperation',
  },
} as const satisfies Protocol<typeof credentialStates, CredentialData>
