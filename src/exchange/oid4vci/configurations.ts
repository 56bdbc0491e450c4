/**
 * Credential configurations: the credentials that an OpenID4VCI issuer offers, each by the schema of its
 * claims.
 */
import type { Selectable } from 'kysely'
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { openIdFormats, type OpenIdFormat, openIdTraits, isTyped } from '../../definitions/format-names.ts'
import { Did } from '../../did/document.ts'
import { getManagedDid } from '../../wallet/did-registrar/dids.ts'
import { requireCertificate } from '../../wallet/issuer-certificates/certificates.ts'
import type { AgentTables } from '../../foundation/storage/agent-tables.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { assertNotTransferred } from '../../foundation/storage/transferred.ts'
import { optional, Uuid } from '../../wallet/model.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { claimsOf, maxClaims, readClaims, withDisclosure } from './claims.ts'
import { CredentialDisplay, credentialDisplayOf, toColumn } from './display.ts'
import { documentMembers, documentOf, readDocument } from './documents.ts'
import { getOwnIssuer } from './issuers.ts'
import { KeyAttestationRequirement, requirementOf } from './key-attestation.ts'
import { providersOf } from './wallet-providers.ts'

export type ConfigurationRow = Selectable<AgentTables['credential_configuration']>

/** The id is also a scope value of OAuth (RFC 6749 §3.3). */
export const ConfigurationId = z
  .string()
  .regex(
    /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/,
    'is not 1 to 255 visible ASCII characters without quotation mark and backslash',
  )

const Format = z.enum(openIdFormats)

export const CreateCredentialConfiguration = z
  .object({
    configurationId: ConfigurationId.describe('Identifies the configuration; also its OAuth scope.'),
    format: Format.describe('A format identifier of OpenID4VCI.'),
    schemaId: z.url().max(2_000).describe('URL of the JSON schema of the claims. It is read at once.'),
    vct: optional(z.string().min(1).max(2_000)).describe(
      'For `dc+sd-jwt`: the type of the credential. Default: the URL of type metadata that this agent serves (extension).',
    ),
    alwaysDisclosed: optional(z.array(z.string().min(1)).max(maxClaims)).describe(
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
  })
  .meta({ id: 'CreateCredentialConfigurationRequest' })
export type CreateCredentialConfiguration = z.output<typeof CreateCredentialConfiguration>

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
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'CredentialConfiguration' })
export type CredentialConfiguration = z.infer<typeof CredentialConfiguration>

/** @throws {Problem} 404 without the issuer, 409 for a used id, 400 for a schema that cannot be read or used */
export async function createConfiguration(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  issuerId: string,
  given: CreateCredentialConfiguration,
): Promise<CredentialConfiguration> {
  const { configurationId, format, schemaId, vct, alwaysDisclosed = [] } = given
  const { keyAttestation, issuerCertificateId, issuingDID } = given
  checkMembers(given)
  const issuer = await getOwnIssuer(db, wallet.id, issuerId)
  if (keyAttestation && !providersOf(issuer))
    throw new Problem(
      'BadRequest',
      'keyAttestation: the issuer trusts no wallet provider. Set walletProviders first.',
    )
  if (issuerCertificateId !== undefined)
    await requireCertificate(wallet.db, issuerCertificateId, openIdTraits(format).certificateProfile)
  if (issuingDID !== undefined) await getManagedDid(wallet.db, issuingDID)
  const { claims: all, schema, title } = await readClaims(wallet, schemaId)
  const { document, claims } = isDocument(format)
    ? readDocument(schema, given)
    : { claims: all, document: undefined }
  const display = given.display ?? (title === undefined ? undefined : { name: title })
  const row = {
    issuer_id: issuerId,
    id: configurationId,
    wallet_id: wallet.id,
    format,
    schema_id: schemaId,
    vct: vct ?? null,
    certificate_id: issuerCertificateId ?? null,
    claims: JSON.stringify(withDisclosure(claims, alwaysDisclosed)),
    created_at: new Date().toISOString(),
    key_attestation: keyAttestation ? JSON.stringify(keyAttestation) : null,
    display: toColumn(display),
    issuing_did: issuingDID ?? null,
    document: document ? JSON.stringify(document) : null,
    claims_source: null,
  }
  const { numInsertedOrUpdatedRows } = await db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, wallet.id)
    await getOwnIssuer(tx, wallet.id, issuerId)
    return tx
      .insertInto('credential_configuration')
      .values(row)
      .onConflict((conflict) => conflict.columns(['issuer_id', 'id']).doNothing())
      .executeTakeFirstOrThrow()
  })
  if (!numInsertedOrUpdatedRows)
    throw new Problem(
      'error:OID4VCIIssuerMetadataServiceError:DuplicateCredentialConfigId',
      `configurationId: Duplicated credential configuration id: ${configurationId}. Delete it first, or use another id.`,
    )
  return toConfiguration(row)
}

/** @throws {Problem} 400 for two signers, and for a member that only typed formats have */
function checkMembers({ format, ...given }: CreateCredentialConfiguration): void {
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

const isDocument = (format: OpenIdFormat) => openIdTraits(format).configurationMember === 'doctype'

/** The members of configurations of some formats. */
const ownMembers = {
  vct: isTyped,
  alwaysDisclosed: isTyped,
  issuerCertificateId: (format: OpenIdFormat) => openIdTraits(format).hasCertificates,
  doctype: isDocument,
  namespaces: isDocument,
}

/** A page of an issuer's configurations, oldest first. @throws {Problem} 404 */
export async function listConfigurations(
  db: AgentDb,
  walletId: string,
  issuerId: string,
  paging: Paging,
): Promise<{ configurations: CredentialConfiguration[]; total: number }> {
  await getOwnIssuer(db, walletId, issuerId)
  const all = db.selectFrom('credential_configuration').selectAll().where('issuer_id', '=', issuerId)
  const { rows, total } = await pageOf(all, ['created_at', 'id'], paging)
  return { configurations: rows.map(toConfiguration), total }
}

/** @throws {Problem} 404 */
export async function getConfiguration(
  db: AgentDb,
  walletId: string,
  issuerId: string,
  id: string,
): Promise<ConfigurationRow> {
  await getOwnIssuer(db, walletId, issuerId)
  return requireConfiguration(db, issuerId, id)
}

/** A configuration of an issuer that belongs to the wallet. @throws {Problem} 404 */
export async function requireConfiguration(
  db: AgentDb,
  issuerId: string,
  id: string,
): Promise<ConfigurationRow> {
  const row = await findConfiguration(db, issuerId, id)
  if (!row)
    throw new Problem(
      'error:OID4VCIIssuerMetadataServiceError:CredentialConfigurationNotFound',
      `There is no credential configuration matching the provided identifier: issuerId=${issuerId}, configurationId=${id.slice(0, 255)}`,
    )
  return row
}

const rowsById = prepared((db: AgentDb, { issuerId, id }: { issuerId: string; id: string }) =>
  db
    .selectFrom('credential_configuration')
    .selectAll()
    .where('issuer_id', '=', issuerId)
    .where('id', '=', id),
)

/** A configuration of any wallet's issuer. */
export async function findConfiguration(
  db: AgentDb,
  issuerId: string,
  id: string,
): Promise<ConfigurationRow | undefined> {
  return (await rowsById(db, { issuerId, id })).rows[0]
}

/** @throws {Problem} 404 */
export async function deleteConfiguration(
  db: AgentDb,
  walletId: string,
  issuerId: string,
  id: string,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, walletId)
    await getConfiguration(tx, walletId, issuerId, id)
    const all = tx.deleteFrom('credential_configuration').where('issuer_id', '=', issuerId)
    await all.where('id', '=', id).execute()
  })
}

export function toConfiguration(
  row: Omit<ConfigurationRow, 'wallet_id' | 'issuer_id'>,
): CredentialConfiguration {
  const keyAttestation = requirementOf(row)
  const { id, format, schema_id: schemaId, vct, certificate_id: certificate, created_at: createdAt } = row
  const display = credentialDisplayOf(row)
  const document = documentOf(row)
  const always = claimsOf(row).flatMap(({ name, disclosable }) => (disclosable === false ? [name] : []))
  return {
    configurationId: id,
    format: Format.parse(format),
    scope: id,
    schemaId,
    ...(vct !== null && { vct }),
    ...(always.length > 0 && { alwaysDisclosed: always }),
    ...(document && {
      doctype: document.docType,
      ...(document.namespaces && { namespaces: document.namespaces }),
    }),
    ...(keyAttestation && { keyAttestation }),
    ...(certificate !== null && { issuerCertificateId: certificate }),
    ...(row.issuing_did !== null && { issuingDID: row.issuing_did }),
    ...(display && { display }),
    createdAt,
  }
}
