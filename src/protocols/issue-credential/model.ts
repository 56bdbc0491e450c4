/** Credential records: as they are stored and as REST shows them (service §2.6, §4.3, api.md 4.7). */
import { z } from 'zod'
import { JsonValue } from '../../base/json.ts'
import { CredentialOffer, CredentialRequest } from '../../anoncreds/model.ts'
import { toPaddedBase64url } from '../../base/bytes.ts'
import { Jwk } from '../../did/document.ts'
import { optional, Uuid } from '../../wallet/model.ts'
import { CredentialFormat, credentialFormats } from '../formats.ts'
import {
  Goals,
  InvitationFields,
  invitationText,
  Meta,
  MetaLastFailure,
  present,
  Sides,
  toInvitationFields,
} from '../model.ts'
import type { Protocol, Rec } from '../engine/record.ts'
import { credentialStates } from './states.ts'

export const Claims = z
  .record(z.string(), JsonValue)
  .describe('What the issuer attests to: any JSON object, checked against the schema when there is one.')

/** Each is fetched while the caller waits. */
const mostSchemas = 20

const SchemaIds = z
  .union([z.url(), z.array(z.url()).max(mostSchemas)])
  .nullish()
  .transform((value) => [value ?? []].flat())

const Period = optional(z.number().positive()).describe('Seconds for which the credential is valid.')

/** The new-style object that replaces the flat fields; there is one for each format. */
const VcProperties = z.object({
  issuingDID: z.string(),
  claims: Claims,
  credentialSchema: optional(
    z.union([z.object({ id: z.url() }), z.array(z.object({ id: z.url() })).max(mostSchemas)]),
  ),
  issuingKid: optional(z.string()),
  validityPeriod: Period,
})

const DefinitionGuid = Uuid.describe('AnonCreds: the guid of a credential definition of this wallet.')

/** The same of AnonCreds, where the definition says whose it is and of which schema. */
const AnonCredsProperties = z.object({
  issuingDID: optional(z.string()).describe('Not used: the definition’s author issues.'),
  credentialDefinitionId: DefinitionGuid,
  claims: Claims,
  validityPeriod: Period,
})

/** What is offered, whoever it is offered to. */
const OfferFields = z.object({
  credentialFormat: optional(CredentialFormat).describe(
    'JWT when left out. The holder of an SDJWT shows claims of its choice, and may have the credential bound to a key; that of AnonCreds proves what it is asked for, unlinkably.',
  ),
  issuingDID: optional(z.string()).describe(
    'The issuer’s DID, with an assertionMethod key. Not used for AnonCreds: the author of the definition issues.',
  ),
  issuingKid: optional(z.string()).describe(
    'Which assertionMethod key signs; when left out the first one, of an SDJWT the first one on Ed25519 if there is any. Not used for AnonCreds: the key of the definition signs.',
  ),
  claims: optional(Claims),
  credentialDefinitionId: optional(DefinitionGuid),
  schemaId: SchemaIds.describe('URL of a JSON schema that the claims must fit; one, or a list.'),
  validityPeriod: Period.describe(
    'Seconds for which the credential is valid; an SDJWT ends after CREDENTIAL_SD_JWT_EXPIRY when left out. AnonCreds have no end of their own: there it is only noted.',
  ),
  automaticIssuance: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false)
    .describe('Issue as soon as the holder asks.'),
  domain: optional(z.string().min(1)).describe('What the holder’s proof is bound to.'),
  jwtVcPropertiesV1: optional(VcProperties),
  sdJwtVcPropertiesV1: optional(VcProperties),
  anoncredsVcPropertiesV1: optional(AnonCredsProperties),
})

/** The new-style objects, each for one format. */
const styles = {
  JWT: 'jwtVcPropertiesV1',
  SDJWT: 'sdJwtVcPropertiesV1',
  AnonCreds: 'anoncredsVcPropertiesV1',
} as const

/** Reads all styles as one. */
function toOffered(given: z.output<typeof OfferFields>, context: z.RefinementCtx): Offered {
  const refuse = (name: string, message: string) =>
    context.addIssue({ code: 'custom', path: [name], message })
  const named = credentialFormats.filter((format) => given[styles[format]] !== undefined)
  const credentialFormat = given.credentialFormat ?? named[0] ?? 'JWT'
  for (const format of named)
    if (format !== credentialFormat) refuse(styles[format], `is not for the format ${credentialFormat}`)
  const { automaticIssuance, domain } = given
  const common = { credentialFormat, automaticIssuance, domain }
  if (credentialFormat === 'AnonCreds') {
    const { claims, credentialDefinitionId, validityPeriod } = given.anoncredsVcPropertiesV1 ?? given
    const { schemaId: schemaIds } = given
    for (const [name, value] of Object.entries({ claims, credentialDefinitionId }))
      if (value === undefined) refuse(name, `Missing request parameter: ${name}`)
    if (claims === undefined || credentialDefinitionId === undefined) return z.NEVER
    return { ...common, claims, validityPeriod, schemaIds, credentialDefinitionId }
  }
  const properties = given[styles[credentialFormat]]
  const { issuingDID, claims, issuingKid, validityPeriod } = properties ?? given
  const schemaIds = properties
    ? [properties.credentialSchema ?? []].flat().map(({ id }) => id)
    : given.schemaId
  for (const [name, value] of Object.entries({ claims, issuingDID }))
    if (value === undefined) refuse(name, `Missing request parameter: ${name}`)
  if (given.credentialDefinitionId !== undefined)
    refuse('credentialDefinitionId', 'is for the format AnonCreds')
  if (claims === undefined || issuingDID === undefined) return z.NEVER
  return { ...common, claims, issuingDID, issuingKid, validityPeriod, schemaIds }
}
export type Offered = {
  credentialFormat: CredentialFormat
  claims: z.output<typeof Claims>
  schemaIds: string[]
  issuingDID?: string | undefined
  issuingKid?: string | undefined
  credentialDefinitionId?: string | undefined
  validityPeriod?: number | undefined
  automaticIssuance: boolean
  domain?: string | undefined
}

export const CreateCredentialOffer = OfferFields.extend({
  connectionId: Uuid.describe('The connection over which the offer is sent.'),
})
  .transform(({ connectionId, ...offered }, context) => ({ connectionId, ...toOffered(offered, context) }))
  .meta({ id: 'CreateIssueCredentialRecordRequest' })
export type CreateCredentialOffer = z.output<typeof CreateCredentialOffer>

export const InviteToOffer = OfferFields.extend(Goals)
  .transform(({ goalCode, goal, ...offered }, context) => ({
    goalCode,
    goal,
    ...toOffered(offered, context),
  }))
  .meta({ id: 'CreateCredentialOfferInvitationRequest' })
export type InviteToOffer = z.output<typeof InviteToOffer>

export const AcceptCredentialOffer = z
  .object({
    subjectId: optional(z.string()).describe(
      'DID of the subject: a DID of this wallet with an authentication key. An AnonCreds credential is about no DID, and none may be given.',
    ),
    keyId: optional(z.string()).describe(
      'Which authentication key signs; the first one when left out. An SDJWT is bound to the key that is named here, and can then be presented with it alone.',
    ),
  })
  .meta({ id: 'AcceptCredentialOfferRequest' })
export type AcceptCredentialOffer = z.output<typeof AcceptCredentialOffer>

export const AcceptOfferInvitation = z
  .object({ invitation: invitationText })
  .meta({ id: 'AcceptCredentialOfferInvitation' })

/** What a credential record's row holds beside the fields of every record. */
export const CredentialData = z.object({
  ...Sides,
  credentialFormat: CredentialFormat,
  claims: z.record(z.string(), JsonValue),
  schemaIds: z.array(z.string()),
  issuingDID: z.string().optional(),
  issuingKid: z.string().optional(),
  validityPeriod: z.number().optional(),
  automaticIssuance: z.boolean().optional(),
  /** What the holder's proof must be bound to (wire.md 4.1); not of AnonCreds. */
  challenge: z.string().optional(),
  domain: z.string().optional(),
  /** Holder: the DID as the caller gave it. */
  subjectId: z.string().optional(),
  keyId: z.string().optional(),
  /** Holder: the issuers whose credential is kept, where the offer was accepted automatically for them alone. */
  trustedIssuers: z.array(z.string()).optional(),
  /** Issuer: the DID that the holder proved, long form. */
  holderDid: z.string().optional(),
  /** Issuer: the key of the holder's that an SD-JWT is bound to. */
  holderKey: Jwk.optional(),
  /** Issuer, AnonCreds: the guid of the definition. */
  credentialDefinitionId: z.string().optional(),
  /** AnonCreds: what has been offered, what was asked for, and, the holder's until the credential comes, what blinds its link secret in it, sealed. */
  anoncreds: z
    .object({
      offer: CredentialOffer,
      request: CredentialRequest.optional(),
      metadata: z.string().optional(),
    })
    .optional(),
  /** The compact JWT; of an SD-JWT with all its disclosures; of AnonCreds its JSON. */
  credential: z.string().optional(),
  /** Issuer: since when the credential is revoked. Holder: when the issuer said so, and what. */
  revocation: z.object({ at: z.string(), comment: z.string().optional() }).optional(),
  ...Meta,
})
export type CredentialData = z.output<typeof CredentialData>

export const IssueCredentialRecord = z
  .object({
    recordId: z.guid(),
    thid: z.string(),
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
        'The compact JWT, of an SDJWT with all its disclosures, or the JSON of an AnonCreds credential, as base64url.',
      ),
    issuingDID: z.string().optional(),
    revoked: z
      .literal(true)
      .optional()
      .describe('The credential is revoked: the holder, because the issuer said so (ours).'),
    revokedAt: z.iso.datetime().optional().describe('Since when; the holder, since it was told (ours).'),
    ...InvitationFields,
    metaRetries: z.int(),
    metaLastFailure: MetaLastFailure.optional(),
  })
  .meta({ id: 'IssueCredentialRecord' })
export type IssueCredentialRecord = z.infer<typeof IssueCredentialRecord>

export type CredentialRecord = Rec<typeof credentialStates, CredentialData>

/** A credential record as REST and events show it. */
export function toCredentialRecord(record: CredentialRecord): IssueCredentialRecord {
  const { id, thid, role, state, createdAt, updatedAt, credential, metaRetries, metaLastFailure } = record
  const { credentialFormat, subjectId, validityPeriod, claims, automaticIssuance, issuingDID, revocation } =
    record
  return present({
    recordId: id,
    thid,
    credentialFormat,
    subjectId,
    validityPeriod,
    claims,
    automaticIssuance,
    createdAt,
    updatedAt,
    role,
    protocolState: state,
    credential: credential === undefined ? undefined : toPaddedBase64url(credential),
    issuingDID,
    revoked: revocation && (true as const),
    revokedAt: revocation?.at,
    ...toInvitationFields(record),
    metaRetries,
    metaLastFailure,
  })
}

export const issueCredential = {
  ...credentialStates,
  model: CredentialData,
  messages: {
    offer: 'https://didcomm.org/issue-credential/3.0/offer-credential',
    request: 'https://didcomm.org/issue-credential/3.0/request-credential',
    credential: 'https://didcomm.org/issue-credential/3.0/issue-credential',
    'problem-report': 'https://didcomm.org/report-problem/2.0/problem-report',
  },
  toResource: toCredentialRecord,
  problems: {
    notFound: 'error:CredentialServiceError:RecordNotFound',
    wrongState: 'error:CredentialServiceError:InvalidStateForOperation',
  },
} as const satisfies Protocol<typeof credentialStates, CredentialData>
