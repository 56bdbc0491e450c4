/** What a credential configuration consists of, in requests and responses, and which members go together. */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { openIdFormats, type OpenIdFormat, openIdTraits, isTyped } from '../../definitions/format-names.ts'
import { Did } from '../../did/document.ts'
import { optional, Uuid } from '../../wallet/model.ts'
import { maxClaims } from './claims.ts'
import { Begin } from './configuration-access.ts'
import { ClaimsSource } from './claims-source.ts'
import { CredentialDisplay } from './display.ts'
import { documentMembers } from './documents.ts'
import { KeyAttestationRequirement } from './key-attestation.ts'

/** The id is also a scope value of OAuth (RFC 6749 §3.3). */
export const ConfigurationId = z
  .string()
  .regex(
    /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/,
    'is not 1 to 255 visible ASCII characters without quotation mark and backslash',
  )

export const Format = z.enum(openIdFormats)

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
    display: optional(CredentialDisplay).describe(
      'The name, the logo and the colours that wallets show. Default: the title of the schema (extension).',
    ),
    begin: optional(Begin).describe(
      'What begins an issuance: `offer`, the default, an offer of the tenant; `log-in`, also a wallet whose person logs in at the provider of the issuer; `open`, also any wallet (extension).',
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
    display: CredentialDisplay.nullish().describe('As of a new configuration; null removes it.'),
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
    begin: Begin.optional().describe('What else begins an issuance than an offer (extension).'),
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
  issuerCertificateId: (format: OpenIdFormat) => openIdTraits(format).hasCertificates,
  doctype: isDocument,
  namespaces: isDocument,
}
