/** The requests of the API that create and accept offers. */
import * as z from 'zod'
import { JsonValue } from '../../foundation/json.ts'
import { optional, Uuid } from '../../wallet/model.ts'
import {
  credentialFormats,
  defaultFormat,
  formatNames,
  isTokenFormat,
  isOverDidComm,
} from '../../definitions/format-names.ts'
import { CredentialFormat } from '../protocols/attachments.ts'
import { expiresIn, Goals, invitationText } from '../protocols/model.ts'

export const Claims = z
  .record(z.string(), JsonValue)
  .describe('The claims: any JSON object, validated against the schema if there is one.')

/** Each schema is fetched during the request. */
const maxSchemas = 20

const SchemaIds = z
  .union([z.url(), z.array(z.url()).max(maxSchemas)])
  .nullish()
  .transform((value) => [value ?? []].flat())

const Period = optional(z.number().positive()).describe('Seconds for which the credential is valid.')

/** The object that replaces the flat fields, for JWT and SDJWT. */
const VcProperties = z.object({
  issuingDID: z.string(),
  claims: Claims,
  credentialSchema: optional(
    z.union([z.object({ id: z.url() }), z.array(z.object({ id: z.url() })).max(maxSchemas)]),
  ),
  issuingKid: optional(z.string()),
  validityPeriod: Period,
})

const DefinitionGuid = Uuid.describe('AnonCreds: the guid of a credential definition of this wallet.')

/** The same for AnonCreds, whose definition names issuer and schema. */
const AnonCredsProperties = z.object({
  issuingDID: optional(z.string()).describe('Not used: the author of the definition is the issuer.'),
  credentialDefinitionId: DefinitionGuid,
  claims: Claims,
  validityPeriod: Period,
})

/** The fields of an offer over a connection or in an invitation. */
const OfferFields = z.object({
  credentialFormat: optional(CredentialFormat).describe(
    'Default: JWT. The holder of an SDJWT discloses claims selectively and can have the credential bound to a key. AnonCreds presentations are unlinkable.',
  ),
  issuingDID: optional(z.string()).describe(
    'The issuer’s DID, with an assertionMethod key. Not used for AnonCreds: the author of the definition is the issuer.',
  ),
  issuingKid: optional(z.string()).describe(
    'The id of the assertionMethod key that signs. Default: the first one; for SDJWT the first Ed25519 key if there is one. Not used for AnonCreds: the key of the definition signs.',
  ),
  claims: optional(Claims),
  credentialDefinitionId: optional(DefinitionGuid),
  schemaId: SchemaIds.describe('URL of a JSON schema for the claims, or a list of URLs.'),
  validityPeriod: Period.describe(
    'Seconds for which the credential is valid. Default for SDJWT: CREDENTIAL_SD_JWT_EXPIRY. AnonCreds credentials do not expire: the value is stored only.',
  ),
  automaticIssuance: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false)
    .describe('Issue as soon as the holder requests the credential.'),
  domain: optional(z.string().min(1)).describe('The domain that the holder’s proof is bound to.'),
  jwtVcPropertiesV1: optional(VcProperties),
  sdJwtVcPropertiesV1: optional(VcProperties),
  anoncredsVcPropertiesV1: optional(AnonCredsProperties),
})

/** A format that is issued over DIDComm. */
type WithProperties = {
  [Format in CredentialFormat]: (typeof formatNames)[Format] extends { properties: string } ? Format : never
}[CredentialFormat]

const hasProperties = (format: CredentialFormat): format is WithProperties => isOverDidComm(format)
const withProperties = credentialFormats.filter(hasProperties)

/** Reads flat fields and objects alike. */
function toOfferTerms(given: Fields, context: z.RefinementCtx): OfferTerms {
  const refuse = (name: string, message: string) =>
    context.addIssue({ code: 'custom', path: [name], message })
  const named = withProperties.filter((format) => given[formatNames[format].properties] !== undefined)
  const credentialFormat = given.credentialFormat ?? named[0] ?? defaultFormat
  for (const format of named)
    if (format !== credentialFormat)
      refuse(formatNames[format].properties, `is not for the format ${credentialFormat}`)
  if (!hasProperties(credentialFormat)) {
    refuse(
      'credentialFormat',
      `a credential of the format ${credentialFormat} is issued over OpenID4VCI, not over a connection: agent credential offer --oid4vci`,
    )
    return z.NEVER
  }
  const { automaticIssuance, domain } = given
  const common = { credentialFormat, automaticIssuance, domain }
  if (!isTokenFormat(credentialFormat)) {
    const { claims, credentialDefinitionId, validityPeriod } = given.anoncredsVcPropertiesV1 ?? given
    const { schemaId: schemaIds } = given
    for (const [name, value] of Object.entries({ claims, credentialDefinitionId }))
      if (value === undefined) refuse(name, `Missing request parameter: ${name}`)
    if (claims === undefined || credentialDefinitionId === undefined) return z.NEVER
    return { ...common, claims, validityPeriod, schemaIds, credentialDefinitionId }
  }
  const properties = given[formatNames[credentialFormat].properties]
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
type Fields = z.output<typeof OfferFields>
export type OfferTerms = Pick<Fields, 'validityPeriod' | 'automaticIssuance'> &
  Partial<Pick<Fields, 'issuingDID' | 'issuingKid' | 'credentialDefinitionId' | 'domain'>> & {
    /** Signs instead of a DID. */
    issuerCertificateId?: string | undefined
    credentialFormat: CredentialFormat
    claims: z.output<typeof Claims>
    schemaIds: string[]
  }

export const IssueCredentialRequest = z
  .object({
    claims: optional(Claims).describe(
      'Claims in place of those of a claims source that has not decided. Default: the source is asked at once (extension).',
    ),
  })
  .meta({ id: 'IssueCredentialRequest', examples: [{}] })

export const CreateCredentialOffer = OfferFields.extend({
  connectionId: Uuid.describe('The connection over which the offer is sent.'),
})
  .transform(({ connectionId, ...offered }, context) => ({ connectionId, ...toOfferTerms(offered, context) }))
  .meta({ id: 'CreateIssueCredentialRecordRequest' })
export type CreateCredentialOffer = z.output<typeof CreateCredentialOffer>

export const InviteToOffer = OfferFields.extend({
  ...Goals,
  expiresIn: expiresIn('ISSUANCE_INVITATION_EXPIRY'),
})
  .transform(({ goalCode, goal, expiresIn: lifetimeSeconds, ...offered }, context) => ({
    goalCode,
    goal,
    lifetimeSeconds,
    ...toOfferTerms(offered, context),
  }))
  .meta({ id: 'CreateCredentialOfferInvitationRequest' })
export type InviteToOffer = z.output<typeof InviteToOffer>

export const AcceptCredentialOffer = z
  .object({
    subjectId: optional(z.string()).describe(
      'The subject: a DID of this wallet with an authentication key. Not allowed for AnonCreds, whose credentials have no subject DID.',
    ),
    keyId: optional(z.string()).describe(
      'The id of the authentication key that signs. Default: the first one. An SDJWT is bound to a key given here, and can then be presented only with that key.',
    ),
    txCode: optional(z.string().min(1).max(1_000)).describe(
      'The transaction code of an offer of OpenID4VCI, whose credential is bound to a new key instead of `subjectId` (extension).',
    ),
  })
  .meta({ id: 'AcceptCredentialOfferRequest' })
export type AcceptCredentialOffer = z.output<typeof AcceptCredentialOffer>

export const AcceptOfferInvitation = z
  .object({ invitation: invitationText })
  .meta({ id: 'AcceptCredentialOfferInvitation' })
