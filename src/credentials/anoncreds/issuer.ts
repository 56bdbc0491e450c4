/** The issuer's part of AnonCreds: the wallet's own definitions and their private keys. */
import { Problem } from '../../foundation/problem.ts'
import type { AgentDb, Db, Tx } from '../../foundation/storage/database.ts'
import { definitionNotFound, definitionUrl, findDefinition, toDefinition } from './definitions.ts'
import { DefinitionPrivateKey, type CredentialDefinition, type KeyCorrectnessProof } from './model.ts'

type IssuerWallet = {
  readonly id: string
  readonly db: Db
  readonly env: { readonly db: AgentDb; readonly urls: { readonly rest: string } }
  seal(context: string, text: string): string
  unseal(context: string, sealed: string): string
}

/** A definition with which a wallet can issue. */
export type OwnDefinition = {
  guid: string
  /** Its URL in offers and credentials. */
  credDefId: string
  schemaId: string
  /** The attributes of the schema, in their order. */
  attrNames: string[]
  definition: CredentialDefinition
  keyCorrectnessProof: KeyCorrectnessProof
}

/**
 * Gets a definition of the wallet.
 *
 * @throws {Problem} `error:CredentialDefinitionError:GuidNotFoundError`, also for a definition of another
 *   wallet; `NotGeneratedYet` (503).
 */
export async function getOwnDefinition(
  { id, env }: Pick<IssuerWallet, 'id' | 'env'>,
  guid: string,
): Promise<OwnDefinition> {
  const found = await findDefinition(env.db, guid)
  if (found?.walletId !== id) throw definitionNotFound(guid)
  const { record, attributes } = found
  return {
    guid: record.guid,
    definition: toDefinition(record),
    credDefId: definitionUrl(record, env.urls.rest),
    schemaId: record.schemaId,
    attrNames: attributes,
    keyCorrectnessProof: record.keyCorrectnessProof!,
  }
}

/** Gets the private key of a definition. @throws {Problem} when the wallet does not have it. */
export async function getPrivateKey(
  wallet: Pick<IssuerWallet, 'db' | 'unseal'>,
  guid: string,
): Promise<DefinitionPrivateKey> {
  const row = await wallet.db
    .selectFrom('definition_key')
    .select('sealed')
    .where('guid', '=', guid)
    .executeTakeFirst()
  if (!row)
    throw new Problem(
      'error:CredentialServiceError:CredentialDefinitionPrivatePartNotFound',
      `The wallet does not have the private key of the credential definition ${guid}.`,
    )
  return DefinitionPrivateKey.parse(JSON.parse(wallet.unseal(sealContext(guid), row.sealed)))
}

/**
 * Stores the private key of a definition. Replaces a key whose definition was not published because the agent
 * was killed.
 */
export async function storePrivateKey(
  tx: Tx,
  wallet: Pick<IssuerWallet, 'seal'>,
  guid: string,
  key: DefinitionPrivateKey,
): Promise<void> {
  const row = {
    sealed: wallet.seal(sealContext(guid), JSON.stringify(key)),
    created_at: new Date().toISOString(),
  }
  await tx
    .insertInto('definition_key')
    .values({ guid, ...row })
    .onConflict((conflict) => conflict.column('guid').doUpdateSet(row))
    .execute()
}

function sealContext(guid: string): string {
  return `definition-key:${guid}`
}
