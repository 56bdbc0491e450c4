/** Adds and changes credential configurations. */
import { Problem } from '../../foundation/problem.ts'
import { openIdTraits } from '../../definitions/format-names.ts'
import { getManagedDid } from '../../wallet/did-registrar/dids.ts'
import { getCertificate, requireCertificate } from '../../wallet/issuer-certificates/certificates.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { assertNotTransferred } from '../../foundation/storage/transferred.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { claimsOf, readClaims, withDisclosure } from './claims.ts'
import { accessOf, checkAccess, toAccessColumn } from './configuration-access.ts'
import {
  checkMembers,
  type CreateCredentialConfiguration,
  type CredentialConfiguration,
  Format,
  isDocument,
  type Members,
  type PatchCredentialConfiguration,
} from './configuration-members.ts'
import { settingsOf, toSettingsColumn } from './configuration-settings.ts'
import {
  type ConfigurationRow,
  getConfiguration,
  requireConfiguration,
  toConfiguration,
} from './configurations.ts'
import { credentialDisplayOf, toColumn } from './display.ts'
import { readDocument } from './documents.ts'
import { readExtended } from './extended-type.ts'
import { getOwnIssuer, type IssuerRow } from './issuers.ts'
import { completeLook } from './look.ts'
import { firstVersion, settingsAfter } from './type-documents.ts'
import { providersOf } from './wallet-providers.ts'

type Context = { db: AgentDb; wallet: Wallet }
type Change = Omit<PatchCredentialConfiguration, 'newVersion'>

/** @throws {Problem} 404 without the issuer, 409 for a used id, 400 for a schema that cannot be read or used */
export async function createConfiguration(
  { db, wallet }: Context,
  issuerId: string,
  given: CreateCredentialConfiguration,
): Promise<CredentialConfiguration> {
  const { configurationId, format, schemaId, vct, alwaysDisclosed = [] } = given
  const { keyAttestation, issuerCertificateId, issuingDID, integrity } = given
  const issuer = await getOwnIssuer(db, wallet.id, issuerId)
  await check(wallet, issuer, given)
  const { claims: all, schema, title } = await readClaims(wallet, schemaId)
  const { document, claims } = isDocument(format)
    ? readDocument(schema, given)
    : { claims: all, document: undefined }
  const look = await completeLook({ db, wallet }, issuerId, given, claims)
  const { display = title === undefined ? undefined : [{ name: title }], ...settings } = look
  const version = await firstVersion(db, issuerId, configurationId)
  const extended = await extendedBy(wallet, given.extends)
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
    settings: toSettingsColumn({ ...settings, ...version, integrity, ...extended }),
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
  const { did, certificateId } = given.presentation ?? {}
  if (did !== undefined) await getManagedDid(wallet.db, did)
  if (certificateId !== undefined) await getCertificate(wallet.db, certificateId)
}

/**
 * Changes the members that are given. A DID replaces an issuer certificate, and a certificate a DID. Open
 * offers keep their signer and their type.
 *
 * @throws {Problem} 404; 400 as for a new configuration; 409 for type metadata that are used
 */
export async function updateConfiguration(
  context: Context,
  issuerId: string,
  id: string,
  { newVersion = false, ...given }: PatchCredentialConfiguration,
): Promise<CredentialConfiguration> {
  const { db, wallet } = context
  const issuer = await getOwnIssuer(db, wallet.id, issuerId)
  const found = await requireConfiguration(db, issuerId, id)
  const { keyAttestation, alwaysDisclosed, claimsSource } = given
  await check(wallet, issuer, {
    format: Format.parse(found.format),
    issuingDID: signerAfter(found, given).issuing_did ?? undefined,
    issuerCertificateId: signerAfter(found, given).certificate_id ?? undefined,
    keyAttestation: keyAttestation ?? undefined,
    alwaysDisclosed,
    svgTemplates: given.svgTemplates ?? undefined,
    extends: given.extends ?? undefined,
    claimsSource: claimsSource ?? undefined,
    presentation: given.presentation ?? undefined,
  })
  const look = await lookAfter(context, found, given)
  const extended = await extendedBy(wallet, given.extends)
  const row = await db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, wallet.id)
    const before = await getConfiguration(tx, wallet.id, issuerId, id)
    const { display, ...settings } = look
    const after = {
      ...before,
      ...signerAfter(before, given),
      ...(alwaysDisclosed && { claims: JSON.stringify(withDisclosure(claimsOf(before), alwaysDisclosed)) }),
      ...(keyAttestation !== undefined && {
        key_attestation: keyAttestation && JSON.stringify(keyAttestation),
      }),
      ...(claimsSource !== undefined && {
        claims_source: claimsSource && JSON.stringify(claimsSource),
      }),
      access: toAccessColumn(before, given),
      display: toColumn(display),
      settings: toSettingsColumn({
        ...settingsOf(before),
        ...settings,
        ...extended,
        ...(given.integrity !== undefined && { integrity: given.integrity ?? undefined }),
      }),
    }
    checkAccess(issuer, accessOf(after), after)
    const { rest } = wallet.env.urls
    const change = {
      certificate_id: after.certificate_id,
      issuing_did: after.issuing_did,
      claims: after.claims,
      key_attestation: after.key_attestation,
      claims_source: after.claims_source,
      access: after.access,
      display: after.display,
      settings: toSettingsColumn(await settingsAfter(tx, rest, before, after, newVersion)),
    }
    const all = tx.updateTable('credential_configuration').set(change).where('issuer_id', '=', issuerId)
    await all.where('id', '=', id).execute()
    return { ...after, ...change }
  })
  return toConfiguration(row)
}

/** The setting of a type that is extended; null removes it. */
async function extendedBy(wallet: Wallet, uri: string | null | undefined) {
  if (uri === undefined) return {}
  return { extends: uri === null ? undefined : await readExtended(wallet, uri) }
}

/** The look with the members that are given; null removes one. */
function lookAfter(context: Context, row: ConfigurationRow, { display, claims, svgTemplates }: Change) {
  const before = { ...settingsOf(row), display: credentialDisplayOf(row) }
  const after = {
    display: display === undefined ? before.display : (display ?? undefined),
    claims: claims === undefined ? before.claims : (claims ?? undefined),
    svgTemplates: svgTemplates === undefined ? before.svgTemplates : (svgTemplates ?? undefined),
  }
  return completeLook(context, row.issuer_id, after, claimsOf(row))
}

function signerAfter(
  { issuing_did, certificate_id }: ConfigurationRow,
  { issuingDID, issuerCertificateId: certificateId }: Change,
) {
  return {
    issuing_did: issuingDID === undefined && !certificateId ? issuing_did : (issuingDID ?? null),
    certificate_id: certificateId === undefined && !issuingDID ? certificate_id : (certificateId ?? null),
  }
}
