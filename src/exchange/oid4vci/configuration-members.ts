/** What a credential configuration consists of, in requests and responses, and which members go together. */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { openIdFormats, type OpenIdFormat, openIdTraits, isTyped } from '../../definitions/format-names.ts'
import { Did } from '../../did/document.ts'
import { optional, Uuid } from '../../wallet/model.ts'
import { maxClaims } from './claims.ts'
import { ClaimSettings } from './claim-settings.ts'
import { SvgTemplates } from './configuration-settings.ts'
import { CredentialDisplay, GivenCredentialDisplay } from './display.ts'
import { Begin, Renewal } from './configuration-access.ts'
import { ClaimsSource } from './claims-source.ts'
import { documentMembers } from './documents.ts'
import { Presentation } from './presentation/settings.ts'
import { KeyAttestationRequirement } from './key-attestation.ts'

/** The id is also a scope value of OAuth (RFC 6749 §3.3). */
export const ConfigurationId = z
  .string()
  .regex(
    /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/,
    'is not 1 to 255 visible ASCII characters without quotation mark and backslash',
  )

export const Format = z.enum(openIdFormats)

const TypeUrl = z.url({ protocol: /^https?$/, error: 'is not an https URL' }).max(2_000)

const AlwaysDisclosed = z.array(z.string().min(1)).max(maxClaims)

export const CreateCredentialConfiguration = z
  .object({
    configurationId: ConfigurationId.describe('Identifies the configuration; also its OAuth scope.'),
    format: Format.describe('A format identifier of OpenID4VCI.'),
    schemaId: z.url().max(2_000).describe('URL of the JSON schema of the claims. It is read at once.'),
    vct: optional(z.string().min(1).max(2_000)).describe(
      'For `dc+sd-jwt`: the type of the credential. Default: the URL of type metadata that this agent serves (extension).',
    ),
    alwaysDisclosed: optional(AlwaysDisclosed).describe(
      'For `dc+sd-jwt`: names of claims that each verifier sees. The holder can withhold all others (extension).',
    ),
    ...documentMembers,
    keyAttestation: optional(KeyAttestationRequirement).describe(
      'Wallets must send a key attestation of a wallet provider that the issuer trusts. `{}`: any (extension).',
    ),
    issuerCertificateId: optional(Uuid).describe(
      'For `dc+sd-jwt`: the issuer certificate that signs, instead of a DID (extension).',
    ),
    issuingDID: optional(Did).describe(
      'The DID of the wallet that signs, unless an offer names another (extension).',
    ),
    display: optional(GivenCredentialDisplay).describe(
      'What wallets show: one object for each language, or only one. Default: the title of the schema (extension).',
    ),
    claims: optional(ClaimSettings).describe(
      'What people call the claims, in the order in which wallets show them, and where their values come from (extension).',
    ),
    extends: optional(TypeUrl).describe(
      'For `dc+sd-jwt`: the URL of type metadata that those of this type extend. They are read at once, and kept with their digest (extension).',
    ),
    svgTemplates: optional(SvgTemplates).describe(
      'For `dc+sd-jwt`: cards as SVG, with a placeholder `{{svgId}}` for each claim (extension).',
    ),
    integrity: optional(z.literal(false)).describe(
      'For `dc+sd-jwt`: credentials do not have the digest of the type metadata, which can then change (extension).',
    ),
    begin: optional(Begin).describe(
      'What begins an issuance: `offer`, the default, an offer of the tenant; `log-in`, also a wallet whose person logs in at the provider of the issuer; `presentation`, also a wallet whose person presents credentials; `open`, also any wallet (extension).',
    ),
    presentation: optional(Presentation).describe(
      'What the person has to present to this agent before the consent, by OpenID4VP. Default: nothing (extension).',
    ),
    renewal: optional(Renewal).describe(
      'Wallets get a refresh token, if it can be bound to a key of theirs, and renew the credential with it. Default: they do not (extension).',
    ),
    claimsSource: optional(ClaimsSource).describe(
      'The endpoint that says which claims a wallet gets when it requests the credential. Default: the claims are those of the offer (extension).',
    ),
  })
  .meta({ id: 'CreateCredentialConfigurationRequest' })
export type CreateCredentialConfiguration = z.output<typeof CreateCredentialConfiguration>

/** A configuration keeps its id, its format, its schema and its type. */
export const PatchCredentialConfiguration = z
  .object({
    display: GivenCredentialDisplay.nullish().describe('As of a new configuration; null removes it.'),
    claims: ClaimSettings.nullish().describe('As of a new configuration; null removes them.'),
    extends: TypeUrl.nullish().describe('As of a new configuration; null removes it.'),
    svgTemplates: SvgTemplates.nullish().describe('As of a new configuration; null removes them.'),
    integrity: z.literal(false).nullish().describe('As of a new configuration; null removes it.'),
    newVersion: optional(z.boolean()).describe(
      'Make the next version of the type if credentials have the digest of its metadata. Default: refuse the change.',
    ),
    issuingDID: Did.nullish().describe(
      'As of a new configuration, instead of an issuer certificate; null removes it.',
    ),
    issuerCertificateId: Uuid.nullish().describe(
      'As of a new configuration, instead of a DID; null removes it.',
    ),
    keyAttestation: KeyAttestationRequirement.nullish().describe(
      'As of a new configuration; null requires none.',
    ),
    claimsSource: ClaimsSource.nullish().describe('As of a new configuration; null removes it.'),
    alwaysDisclosed: optional(AlwaysDisclosed).describe('As of a new configuration. It replaces all names.'),
    begin: Begin.nullish().describe('As of a new configuration; null is `offer`.'),
    presentation: Presentation.nullish().describe('As of a new configuration; null removes it.'),
    renewal: Renewal.nullish().describe('As of a new configuration; null ends it.'),
  })
  .meta({ id: 'PatchCredentialConfigurationRequest' })
export type PatchCredentialConfiguration = z.output<typeof PatchCredentialConfiguration>

export const CredentialConfiguration = z
  .object({
    configurationId: z.string(),
    format: Format,
    scope: z.string(),
    schemaId: z.string(),
    vct: z.string().optional().describe('The type that the request chose (extension).'),
    alwaysDisclosed: z.array(z.string()).optional().describe('As in the request (extension).'),
    doctype: z.string().optional().describe('As in the request (extension).'),
    namespaces: z
      .record(z.string(), z.string())
      .optional()
      .describe('`mso_mdoc`: the namespace of each claim, if the request has namespaces (extension).'),
    keyAttestation: KeyAttestationRequirement.optional().describe('As in the request (extension).'),
    issuerCertificateId: z.guid().optional().describe('As in the request (extension).'),
    issuingDID: z.string().optional().describe('As in the request (extension).'),
    display: CredentialDisplay.optional().describe(
      'As in the request, or by the title of the schema (extension).',
    ),
    claims: ClaimSettings.optional().describe('As in the request (extension).'),
    extends: z
      .string()
      .optional()
      .describe('As in the request, or the version of the type before this one (extension).'),
    svgTemplates: SvgTemplates.optional().describe('As in the request (extension).'),
    integrity: z.literal(false).optional().describe('As in the request (extension).'),
    typeVersion: z.int().optional().describe('The version of the type, if it is not the first (extension).'),
    begin: Begin.optional().describe('What else begins an issuance than an offer (extension).'),
    presentation: Presentation.optional().describe('As in the request (extension).'),
    renewal: Renewal.optional().describe('As in the request (extension).'),
    claimsSource: ClaimsSource.optional().describe('As in the request (extension).'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'CredentialConfiguration' })
export type CredentialConfiguration = z.infer<typeof CredentialConfiguration>

export type Members = Partial<CreateCredentialConfiguration> & { format: OpenIdFormat }

/** @throws {Problem} 400 for two signers, and for a member that only typed formats have */
export function checkMembers({ format, ...given }: Members): void {
  if (given.issuingDID !== undefined && given.issuerCertificateId !== undefined)
    throw new Problem('BadRequest', 'issuingDID: the issuer certificate signs. Leave one of them out.')
  const { needsCertificate } = openIdTraits(format)
  if (needsCertificate && given.issuerCertificateId === undefined)
    throw new Problem(
      'BadRequest',
      `${given.issuingDID === undefined ? 'issuerCertificateId: is missing. A' : 'issuingDID: a'} credential of the format ${format} is signed by an issuer certificate: agent issuer-cert init --for mdoc`,
    )
  for (const [name, isOf] of Object.entries(ownMembers)) {
    const value = given[name as keyof typeof ownMembers]
    if (value === undefined || (Array.isArray(value) && value.length === 0) || isOf(format)) continue
    throw new Problem(
      'BadRequest',
      `${name}: credentials of the format ${format} have no such member. Leave it out, or use ${openIdFormats.filter(isOf).join(' or ')}.`,
    )
  }
}

export const isDocument = (format: OpenIdFormat) => openIdTraits(format).configurationMember === 'doctype'

/** The members of configurations of some formats. */
const ownMembers = {
  vct: isTyped,
  alwaysDisclosed: isTyped,
  extends: isTyped,
  svgTemplates: isTyped,
  integrity: isTyped,
  issuerCertificateId: (format: OpenIdFormat) => openIdTraits(format).hasCertificates,
  doctype: isDocument,
  namespaces: isDocument,
}
