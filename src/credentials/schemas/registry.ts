/**
 * The schema registry. Published versions never change and are public; lists contain the schemas of one
 * wallet.
 */
import type { Selectable } from 'kysely'
import { newId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { canonicalDid, type Resolve } from '../../did/document.ts'
import type { AgentTables } from '../../foundation/storage/agent-tables.ts'
import type { AgentDb, AgentTx } from '../../foundation/storage/database.ts'
import { pageOf } from '../../foundation/storage/list-query.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { assertNotTransferred } from '../../foundation/storage/transferred.ts'
import { type Authored, findProofFault, type Proof } from './proof.ts'
import {
  assertAuthor,
  assertAuthorMethod,
  entriesOf,
  type EntryQuery,
  toRow,
  withDerivedMembers,
} from './registry-entry.ts'
import {
  compareVersions,
  CredentialSchema,
  schemasPath,
  type CredentialSchemaInput,
  type ResolutionMethod,
} from './schema.ts'
import { checkSchema } from './schema-types.ts'

/** The authors among the DIDs of the caller's wallet. */
export type Authors = {
  owns: (did: string) => Promise<boolean>
  /** Resolves DIDs of the wallet, published or not. */
  resolve: Resolve
  /** Signs with the author's key. Without it, a schema keeps the proof in the input, if any. */
  sign?: (authored: Authored) => Promise<Proof>
}

/** `tags` is one tag of the schema. */
type SchemaQuery = EntryQuery & { tags?: string | undefined }

/**
 * Publishes the first version of a schema, under a new id.
 *
 * @throws {Problem} 400 for an invalid schema, an invalid proof or another DID method, 404 for an author that
 *   the wallet does not own.
 */
export async function publishSchema(
  db: AgentDb,
  walletId: string,
  input: CredentialSchemaInput,
  authors: Authors,
  resolutionMethod: ResolutionMethod = 'http',
): Promise<CredentialSchema> {
  const proof = await checkInput(input, authors, resolutionMethod)
  return db
    .transaction()
    .execute((tx) => write(tx, { walletId, id: newId(), proof, resolutionMethod }, input))
}

/**
 * Publishes a new version of a schema.
 *
 * @throws {Problem} as `publishSchema`; `error:CredentialSchemaError:CredentialSchemaIdNotFoundError` when
 *   the author has no schema with that id, `error:CredentialSchemaError:CredentialSchemaUpdateError` when the
 *   version is not greater than the latest.
 */
export async function updateSchema(
  db: AgentDb,
  walletId: string,
  id: string,
  input: CredentialSchemaInput,
  authors: Authors,
  resolutionMethod: ResolutionMethod = 'http',
): Promise<CredentialSchema> {
  const proof = await checkInput(input, authors, resolutionMethod)
  return db.transaction().execute(async (tx) => {
    const latest = await findLatestSchema(tx, walletId, input.author, id, resolutionMethod)
    if (!latest) throw idNotFound(input.author, id)
    if (compareVersions(input.version, latest.version) <= 0) throw notGreater(input.version, latest.version)
    return write(tx, { walletId, id: latest.id, proof, resolutionMethod }, input)
  })
}

const rowsByGuid = prepared((db: AgentDb, { guid }: { guid: string }) =>
  db.selectFrom('credential_schema').selectAll().where('guid', '=', guid),
)

/** Finds a schema of any wallet, with any resolution method. */
export async function findSchema(db: AgentDb, guid: string): Promise<CredentialSchema | undefined> {
  const [row] = (await rowsByGuid(db, { guid: guid.toLowerCase() })).rows
  return row && toCredentialSchema(row)
}

/**
 * Gets a schema of any wallet.
 *
 * @throws {Problem} `error:CredentialSchemaError:CredentialSchemaGuidNotFoundError`
 */
export async function getSchema(
  db: AgentDb,
  guid: string,
  resolutionMethod: ResolutionMethod = 'http',
): Promise<CredentialSchema> {
  const schema = await findSchema(db, guid)
  if (schema?.resolutionMethod !== resolutionMethod)
    throw new Problem(
      'error:CredentialSchemaError:CredentialSchemaGuidNotFoundError',
      `There is no credential schema with the guid ${guid}.`,
    )
  return schema
}

/** Finds the greatest version under an id. The long and the short form of the author's DID are equivalent. */
export async function findLatestSchema(
  db: AgentDb,
  walletId: string,
  author: string,
  id: string,
  resolutionMethod: ResolutionMethod = 'http',
): Promise<CredentialSchema | undefined> {
  const rows = await db
    .selectFrom('credential_schema')
    .selectAll()
    .where('wallet_id', '=', walletId)
    .where('id', '=', id.toLowerCase())
    .where('resolution_method', '=', resolutionMethod)
    .execute()
  const authored = rows.filter((row) => canonicalDid(row.author) === canonicalDid(author))
  const latest = authored.toSorted((one, other) => compareVersions(other.version, one.version))[0]
  return latest && toCredentialSchema(latest)
}

/** Deletes a version that nobody uses yet, because what it was published for has failed. */
export async function deleteSchema(db: AgentDb, walletId: string, guid: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, walletId)
    await tx.deleteFrom('credential_schema_tag').where('guid', '=', guid).execute()
    const own = tx.deleteFrom('credential_schema').where('wallet_id', '=', walletId)
    await own.where('guid', '=', guid).execute()
  })
}

/** A page of a wallet's schemas in order of publication, and the number of all that match. */
export async function listSchemas(
  db: AgentDb,
  walletId: string,
  { tags: tag, ...query }: SchemaQuery,
): Promise<{ schemas: CredentialSchema[]; total: number }> {
  let matching = entriesOf(db.selectFrom('credential_schema').selectAll(), db, walletId, query)
  if (tag !== undefined) {
    matching = matching.where('guid', 'in', (inner) =>
      inner.selectFrom('credential_schema_tag').select('guid').where('tag', '=', tag),
    )
  }
  const { rows, total } = await pageOf(matching, ['position'], query)
  return { schemas: rows.map(toCredentialSchema), total }
}

/** Checks the input and returns the proof to publish: the one in the input, or a new one. */
async function checkInput(
  input: CredentialSchemaInput,
  { owns, resolve, sign }: Authors,
  resolutionMethod: ResolutionMethod,
): Promise<Proof | undefined> {
  const { author, type, schema, proof } = input
  assertAuthorMethod(author, resolutionMethod)
  if (proof && sign) throw new Problem('BadRequest', 'proof: must be absent when the agent signs the schema.')
  await checkSchema(type, schema)
  await assertAuthor(author, owns)
  if (!proof) return sign?.(input)
  const fault = await findProofFault(input, proof, resolve)
  if (fault !== undefined)
    throw new Problem(
      'error:CredentialSchemaError:InvalidSchema',
      `The credential schema is not valid. proof.${fault}.`,
    )
  return proof
}

/** The values that the registry adds to the input. */
type Publication = {
  walletId: string
  id: string
  proof: Proof | undefined
  resolutionMethod: ResolutionMethod
}

/**
 * Inserts one version. An existing row is left unchanged: PostgreSQL may run two transactions at once, and
 * one fails here.
 */
async function write(
  tx: AgentTx,
  { walletId, id, proof, resolutionMethod }: Publication,
  input: CredentialSchemaInput,
): Promise<CredentialSchema> {
  await assertNotTransferred(tx, walletId)
  const { version, type, tags } = input
  const row = {
    ...toRow(walletId, id, input, resolutionMethod),
    type,
    schema: JSON.stringify(input.schema),
    tags: JSON.stringify(tags),
    proof: proof ? JSON.stringify(proof) : null,
  }
  const insertion = tx.insertInto('credential_schema').values(row)
  const { numInsertedOrUpdatedRows } = await insertion
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows !== 1n) throw notGreater(version, version)
  const tagRows = [...new Set(tags)].map((tag) => ({ guid: row.guid, tag }))
  if (tagRows.length > 0) await tx.insertInto('credential_schema_tag').values(tagRows).execute()
  return toCredentialSchema(row)
}

function toCredentialSchema(row: Selectable<AgentTables['credential_schema']>): CredentialSchema {
  const { proof, ...published } = withDerivedMembers(row, schemasPath)
  return CredentialSchema.parse({
    ...published,
    schema: JSON.parse(row.schema),
    tags: JSON.parse(row.tags),
    ...(proof !== null && { proof: JSON.parse(proof) }),
    kind: 'CredentialSchema',
  })
}

function idNotFound(author: string, id: string): Problem {
  return new Problem(
    'error:CredentialSchemaError:CredentialSchemaIdNotFoundError',
    `There is no credential schema with the id ${id} of the author ${author}.`,
  )
}

function notGreater(version: string, latest: string): Problem {
  return new Problem(
    'error:CredentialSchemaError:CredentialSchemaUpdateError',
    `version: ${version} must be greater than ${latest}, which is already published.`,
  )
}
