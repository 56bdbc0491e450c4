/**
 * Credential configurations: the credentials that an OpenID4VCI issuer offers, each by the schema of its
 * claims.
 */
import type { Selectable } from 'kysely'
import { Problem } from '../../foundation/problem.ts'
import { openIdTraits } from '../../definitions/format-names.ts'
import { getManagedDid } from '../../wallet/did-registrar/dids.ts'
import { requireCertificate } from '../../wallet/issuer-certificates/certificates.ts'
import type { AgentTables } from '../../foundation/storage/agent-tables.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { assertNotTransferred } from '../../foundation/storage/transferred.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { claimsOf, readClaims, withDisclosure } from './claims.ts'
import { accessOf, checkAccess, toAccessColumn } from './configuration-access.ts'
import { sourceOf } from './claims-source.ts'
import {
  checkMembers,
  type CreateCredentialConfiguration,
  type CredentialConfiguration,
  Format,
  isDocument,
  type Members,
  type PatchCredentialConfiguration,
} from './configuration-members.ts'
import { credentialDisplayOf, toColumn } from './display.ts'
import { documentOf, readDocument } from './documents.ts'
import { getOwnIssuer, type IssuerRow } from './issuers.ts'
import { requirementOf } from './key-attestation.ts'
import { providersOf } from './wallet-providers.ts'

export type ConfigurationRow = Selectable<AgentTables['credential_configuration']>

/** @throws {Problem} 404 without the issuer, 409 for a used id, 400 for a schema that cannot be read or used */
export async function createConfiguration(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  issuerId: string,
  given: CreateCredentialConfiguration,
): Promise<CredentialConfiguration> {
  const { configurationId, format, schemaId, vct, alwaysDisclosed = [] } = given
  const { keyAttestation, issuerCertificateId, issuingDID } = given
  const issuer = await getOwnIssuer(db, wallet.id, issuerId)
  await check(wallet, issuer, given)
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
    claims_source: given.claimsSource ? JSON.stringify(given.claimsSource) : null,
    settings: null,
    access: toAccessColumn({ access: null }, given),
  }
  checkAccess(issuer, accessOf(row), row)
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

/** @throws {Problem} 400 for members that do not go together, or that name nothing of the wallet */
async function check(wallet: Wallet, issuer: IssuerRow, given: Members): Promise<void> {
  checkMembers(given)
  const { format, keyAttestation, issuerCertificateId, issuingDID } = given
  if (keyAttestation && !providersOf(issuer))
    throw new Problem(
      'BadRequest',
      'keyAttestation: the issuer trusts no wallet provider. Set walletProviders first.',
    )
  if (given.claimsSource && issuer.claims_secrets === null)
    throw new Problem(
      'BadRequest',
      `claimsSource: the issuer has no secret that signs the requests to it. Make one first: agent issuer secret ${issuer.id}`,
    )
  if (issuerCertificateId !== undefined)
    await requireCertificate(wallet.db, issuerCertificateId, openIdTraits(format).certificateProfile)
  if (issuingDID !== undefined) await getManagedDid(wallet.db, issuingDID)
}

/**
 * Changes the members that are given. A DID replaces an issuer certificate, and a certificate a DID. Open
 * offers keep their signer.
 *
 * @throws {Problem} 404; 400 as for a new configuration
 */
export async function updateConfiguration(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  issuerId: string,
  id: string,
  given: PatchCredentialConfiguration,
): Promise<CredentialConfiguration> {
  const { display, keyAttestation, alwaysDisclosed, claimsSource } = given
  const issuer = await getOwnIssuer(db, wallet.id, issuerId)
  const row = await requireConfiguration(db, issuerId, id)
  const signer = signerAfter(row, given)
  await check(wallet, issuer, {
    format: Format.parse(row.format),
    issuingDID: signer.issuing_did ?? undefined,
    issuerCertificateId: signer.certificate_id ?? undefined,
    keyAttestation: keyAttestation ?? undefined,
    alwaysDisclosed,
    claimsSource: claimsSource ?? undefined,
  })
  const claims = alwaysDisclosed && JSON.stringify(withDisclosure(claimsOf(row), alwaysDisclosed))
  const change = {
    ...signer,
    ...(claims !== undefined && { claims }),
    ...(keyAttestation !== undefined && {
      key_attestation: keyAttestation && JSON.stringify(keyAttestation),
    }),
    ...(display !== undefined && { display: toColumn(display ?? undefined) }),
    access: toAccessColumn(row, given),
    ...(claimsSource !== undefined && { claims_source: claimsSource && JSON.stringify(claimsSource) }),
  }
  checkAccess(issuer, accessOf(change), signer)
  await db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, wallet.id)
    await getConfiguration(tx, wallet.id, issuerId, id)
    const all = tx.updateTable('credential_configuration').set(change).where('issuer_id', '=', issuerId)
    await all.where('id', '=', id).execute()
  })
  return toConfiguration({ ...row, ...change })
}

function signerAfter(
  { issuing_did, certificate_id }: ConfigurationRow,
  { issuingDID, issuerCertificateId: certificateId }: PatchCredentialConfiguration,
) {
  return {
    issuing_did: issuingDID === undefined && !certificateId ? issuing_did : (issuingDID ?? null),
    certificate_id: certificateId === undefined && !issuingDID ? certificate_id : (certificateId ?? null),
  }
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
  const claimsSource = sourceOf(row)
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
    ...(row.access !== null && accessOf(row)),
    ...(display && { display }),
    ...(claimsSource && { claimsSource }),
    createdAt,
  }
}
