/** What an issuer has of its own definitions: what it offers by, and the private key that signs. */
import { Problem } from '../base/problem.ts'
import type { AgentDb, Db, Tx } from '../storage/database.ts'
import { definitionNotFound, definitionUrl, findDefinition, publicPart } from './definitions.ts'
import { DefinitionPrivateKey, type CredentialDefinition, type KeyCorrectnessProof } from './model.ts'

/** What is used of a wallet. */
type Owner = {
  readonly id: string
  readonly db: Db
  readonly env: { readonly db: AgentDb; readonly urls: { readonly rest: string } }
  seal(context: string, text: string): string
  unseal(context: string, sealed: string): string
}

/** A definition by which a wallet can issue. */
export type OwnDefinition = {
  guid: string
  /** Its URL, by which offers and credentials name it. */
  credDefId: string
  schemaId: string
  /** The names of the schema's attributes, in their order. */
  attrNames: string[]
  definition: CredentialDefinition
  keyCorrectnessProof: KeyCorrectnessProof
}

/**
 * A definition of the wallet's, by its guid.
 *
 * @throws {Problem} `error:CredentialDefinitionError:GuidNotFoundError`, also for another wallet's, `NotGeneratedYet` (503).
 */
export async function ownDefinition(
  { id, env }: Pick<Owner, 'id' | 'env'>,
  guid: string,
): Promise<OwnDefinition> {
  const found = await findDefinition(env.db, guid)
  if (found?.walletId !== id) throw definitionNotFound(guid)
  const { record, attributes } = found
  return {
    guid: record.guid,
    definition: publicPart(record),
    credDefId: definitionUrl(record, env.urls.rest),
    schemaId: record.schemaId,
    attrNames: attributes,
    keyCorrectnessProof: record.keyCorrectnessProof!,
  }
}

/** The private key of a definition of the wallet's. @throws {Problem} when the wallet does not have it. */
export async function privateKeyOf(
  wallet: Pick<Owner, 'db' | 'unseal'>,
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
  return DefinitionPrivateKey.parse(JSON.parse(wallet.unseal(contextOf(guid), row.sealed)))
}

/** Writes the private key of a definition; one that was made before, for a definition that was then not published, is replaced. */
export async function keepPrivateKey(
  tx: Tx,
  wallet: Pick<Owner, 'seal'>,
  guid: string,
  key: DefinitionPrivateKey,
): Promise<void> {
  const row = {
    sealed: wallet.seal(contextOf(guid), JSON.stringify(key)),
    created_at: new Date().toISOString(),
  }
  await tx
    .insertInto('definition_key')
    .values({ guid, ...row })
    .onConflict((conflict) => conflict.column('guid').doUpdateSet(row))
    .execute()
}

function contextOf(guid: string): string {
  return `definition-key:${guid}`
}
