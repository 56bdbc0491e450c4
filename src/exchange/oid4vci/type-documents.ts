/**
 * The type metadata that credentials have the digest of (`vct#integrity`). Such a document is kept for ever,
 * and never changes: a change of the configuration makes the next version of the type, which extends it.
 */
import { type OpenIdFormat, isTyped } from '../../definitions/format-names.ts'
import { utf8 } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import { integrityOf } from '../../credentials/codecs/sd-jwt/type-metadata.ts'
import type { IssuedType } from '../../credentials/formats/format.ts'
import type { AgentDb, AgentTx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { type ConfigurationSettings, settingsOf } from './configuration-settings.ts'
import { findConfiguration, type ConfigurationRow } from './configurations.ts'
import { documentOf } from './documents.ts'
import { toDocument, toIssuedType, vctOf } from './credential-types.ts'

type Key = { issuerId: string; id: string; version: number }

/** Whether this agent serves the metadata of the type. */
const isServed = ({ format, vct }: Pick<ConfigurationRow, 'format' | 'vct'>) =>
  isTyped(format as OpenIdFormat) && vct === null

const keyOf = (row: Pick<ConfigurationRow, 'issuer_id' | 'id' | 'settings'>): Key => ({
  issuerId: row.issuer_id,
  id: row.id,
  version: settingsOf(row).typeVersion ?? 1,
})

const rowsByKey = prepared((db: AgentDb, { issuerId, id, version }: Key) =>
  db
    .selectFrom('credential_type')
    .select('document')
    .where('issuer_id', '=', issuerId)
    .where('configuration_id', '=', id)
    .where('version', '=', version),
)

const findUsed = async (db: AgentDb, key: Key) => (await rowsByKey(db, key)).rows[0]

/** The type of a configuration, without the digest of its metadata. */
export function describeType({ env }: Wallet, row: ConfigurationRow): IssuedType | undefined {
  if (isTyped(row.format as OpenIdFormat)) return toIssuedType(env.urls.rest, row)
  return documentOf(row)
}

/**
 * The type for an offer. Its metadata are kept from now on, unless the tenant chose another type, or
 * credentials without their digest.
 */
export async function useType(
  wallet: Wallet,
  row: ConfigurationRow,
  described: IssuedType | undefined,
): Promise<IssuedType | undefined> {
  if (!described || !isServed(row) || settingsOf(row).integrity === false) return described
  return { ...described, integrity: integrityOf(utf8(await useDocument(wallet, row))) }
}

async function useDocument(
  { id: walletId, env: { db, urls } }: Wallet,
  row: ConfigurationRow,
): Promise<string> {
  const key = keyOf(row)
  const used = await findUsed(db, key)
  if (typeof used?.document === 'string') return used.document
  const document = toDocument(urls.rest, row)
  await db.transaction().execute((tx) => keep(tx, { key, walletId, document }))
  // Another request may have been faster.
  return (await findUsed(db, key))?.document ?? document
}

/** Stores a document, unless there is one. */
async function keep(
  tx: AgentTx,
  { key, walletId, document }: { key: Key; walletId: string; document: string },
): Promise<void> {
  await tx
    .insertInto('credential_type')
    .values({
      issuer_id: key.issuerId,
      configuration_id: key.id,
      version: key.version,
      wallet_id: walletId,
      document,
      created_at: new Date().toISOString(),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['issuer_id', 'configuration_id', 'version'])
        .doUpdateSet({ document })
        .where('credential_type.document', 'is', null),
    )
    .execute()
}

/**
 * The settings after a change of a configuration: those of the next version, if the metadata would change and
 * are used.
 *
 * @throws {Problem} 409 without `isNewVersion`
 */
export async function settingsAfter(
  tx: AgentTx,
  base: string,
  before: ConfigurationRow,
  after: ConfigurationRow,
  isNewVersion: boolean,
): Promise<ConfigurationSettings> {
  const settings = settingsOf(after)
  if (!isServed(before)) return settings
  const used = await findUsed(tx, keyOf(before))
  const document = used?.document ?? toDocument(base, before)
  const isSame = document === toDocument(base, after) && settings.integrity === settingsOf(before).integrity
  if (!used || isSame) return settings
  if (!isNewVersion)
    throw new Problem(
      'TypeMetadataInUse',
      `Offers or credentials have the digest of the type metadata of ${before.id}, which this would change. Add newVersion (--new-version) to make the next version of the type, which extends this one. For another credential, integrity: false (--no-integrity) before its first offer leaves the digest out.`,
    )
  await keep(tx, { key: keyOf(before), walletId: before.wallet_id, document })
  const vct = vctOf(base, before)
  return {
    ...settings,
    typeVersion: keyOf(before).version + 1,
    extends: { uri: vct, integrity: integrityOf(utf8(document)) },
    akaVcts: [...(settings.akaVcts ?? []), vct],
  }
}

/** The version of the type of a new configuration, whose id an earlier one may have had. */
export async function firstVersion(
  db: AgentDb,
  issuerId: string,
  id: string,
): Promise<Pick<ConfigurationSettings, 'typeVersion'>> {
  const { last } = await db
    .selectFrom('credential_type')
    .select(({ fn }) => fn.max('version').as('last'))
    .where('issuer_id', '=', issuerId)
    .where('configuration_id', '=', id)
    .executeTakeFirstOrThrow()
  return last === null ? {} : { typeVersion: last + 1 }
}

/** The JSON of a version of the type metadata of a configuration. @throws {Problem} 404 */
export async function readTypeMetadata(db: AgentDb, base: string, key: Key): Promise<string> {
  const used = await findUsed(db, key)
  if (typeof used?.document === 'string') return used.document
  const row = await findConfiguration(db, key.issuerId, key.id)
  if (!row || !isServed(row) || keyOf(row).version !== key.version)
    throw new Problem('NotFound', 'There is no such credential type.')
  return toDocument(base, row)
}
