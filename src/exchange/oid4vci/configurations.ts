/**
 * Credential configurations: the credentials that an OpenID4VCI issuer offers, each by the schema of its
 * claims.
 */
import type { Selectable } from 'kysely'
import { Problem } from '../../foundation/problem.ts'
import type { AgentTables } from '../../foundation/storage/agent-tables.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { assertNotTransferred } from '../../foundation/storage/transferred.ts'
import { claimsOf } from './claims.ts'
import { toAccess } from './configuration-access.ts'
import { sourceOf } from './claims-source.ts'
import { type CredentialConfiguration, Format } from './configuration-members.ts'
import { settingsOf } from './configuration-settings.ts'
import { credentialDisplayOf } from './display.ts'
import { documentOf } from './documents.ts'
import { getOwnIssuer } from './issuers.ts'
import { requirementOf } from './key-attestation.ts'

export type ConfigurationRow = Selectable<AgentTables['credential_configuration']>

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
  const { claims, svgTemplates, integrity, typeVersion, extends: extended } = settingsOf(row)
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
    ...toAccess(row),
    ...(display && { display }),
    ...(claimsSource && { claimsSource }),
    ...(claims && { claims }),
    ...(extended && { extends: extended.uri }),
    ...(svgTemplates && { svgTemplates }),
    ...(integrity === false && { integrity }),
    ...(typeVersion !== undefined && { typeVersion }),
    createdAt,
  }
}

/** All configurations of an issuer, oldest first. */
export function configurationsOf(db: AgentDb, issuerId: string): Promise<ConfigurationRow[]> {
  const all = db.selectFrom('credential_configuration').selectAll().where('issuer_id', '=', issuerId)
  return all.orderBy('created_at').orderBy('id').execute()
}
