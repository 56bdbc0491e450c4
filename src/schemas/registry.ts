/**
 * The schema registry (service §4.6, api.md 4.10): publish, publish again, read, list.
 *
 * A published version never changes and anybody may read it; lists are of one wallet.
 */
import type { Selectable } from 'kysely'
import { newId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import { canonicalDid, type Resolve } from '../did/document.ts'
import type { CredentialSchemaTables } from '../storage/agent-tables/credential-schema.ts'
import type { AgentDb, AgentTx } from '../storage/database.ts'
import { matchOf } from '../storage/match.ts'
import { assertNotTransferred } from '../storage/transferred.ts'
import { pageOf, type Paging } from '../storage/page.ts'
import { mustBeAuthor, mustBeDid } from './author.ts'
import { checkSchema } from './kinds.ts'
import { type Authored, findProofFault, type Proof } from './proof.ts'
import { toRow, withNames } from './registered.ts'
import {
  compareVersions,
  CredentialSchema,
  schemasPath,
  type CredentialSchemaInput,
  type ResolutionMethod,
} from './schema.ts'

/** What the caller's wallet knows of authors. */
export type Authors = {
  /** Tells whether a DID is one of the wallet. */
  owns: (did: string) => Promise<boolean>
  /** Resolves a DID of the wallet, published or not. */
  resolve: Resolve
  /** Signs with the author's key. Absent: a schema is published with the proof it brings, or without. */
  sign?: (authored: Authored) => Promise<Proof>
}

/** Filters are exact but for `%`, which stands for anything; `tags` names one tag that must be among a schema's. `offset` is 0 or more, `limit` 1 to 1,000. */
export type SchemaQuery = Paging & {
  author?: string | undefined
  name?: string | undefined
  version?: string | undefined
  tags?: string | undefined
  resolutionMethod?: ResolutionMethod
}

/**
 * Publishes the first version of a schema, under a new id.
 *
 * @throws {Problem} for a schema that may not be registered, a proof that is not right, an author that is no did:prism or did:web (400) or none
 * of the wallet's (404).
 */
export async function publishSchema(
  db: AgentDb,
  walletId: string,
  input: CredentialSchemaInput,
  authors: Authors,
  resolutionMethod: ResolutionMethod = 'http',
): Promise<CredentialSchema> {
  const proof = await checkInput(input, authors)
  return db
    .transaction()
    .execute((tx) => write(tx, { walletId, id: newId(), proof, resolutionMethod }, input))
}

/**
 * Publishes a new version under an id that the author has published before.
 *
 * @throws {Problem} as `publishSchema`; `error:CredentialSchemaError:CredentialSchemaIdNotFoundError` when the wallet has no schema of that author
 * with that id, `error:CredentialSchemaError:CredentialSchemaUpdateError` when the version is not greater than the latest.
 */
export async function updateSchema(
  db: AgentDb,
  walletId: string,
  id: string,
  input: CredentialSchemaInput,
  authors: Authors,
  resolutionMethod: ResolutionMethod = 'http',
): Promise<CredentialSchema> {
  const proof = await checkInput(input, authors)
  return db.transaction().execute(async (tx) => {
    const latest = await findLatestSchema(tx, walletId, input.author, id, resolutionMethod)
    if (!latest) throw idNotFound(input.author, id)
    if (compareVersions(input.version, latest.version) <= 0) throw notGreater(input.version, latest.version)
    return write(tx, { walletId, id: latest.id, proof, resolutionMethod }, input)
  })
}

/** The published schema with a guid, of whichever wallet, in whichever list. */
export async function findSchema(db: AgentDb, guid: string): Promise<CredentialSchema | undefined> {
  const row = await db
    .selectFrom('credential_schema')
    .selectAll()
    .where('guid', '=', guid.toLowerCase())
    .executeTakeFirst()
  return row && toCredentialSchema(row)
}

/** The published schema with a guid. @throws {Problem} `error:CredentialSchemaError:CredentialSchemaGuidNotFoundError` */
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

/** The greatest version that a wallet's author has published under an id; long and short form of the author's DID are the same. */
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
  const own = rows.filter((row) => canonicalDid(row.author) === canonicalDid(author))
  const latest = own.toSorted((one, other) => compareVersions(other.version, one.version))[0]
  return latest && toCredentialSchema(latest)
}

/** A page of a wallet's schemas in the order of their publication, and how many match in all. */
export async function listSchemas(
  db: AgentDb,
  walletId: string,
  { offset, limit, order, tags: tag, resolutionMethod = 'http', ...texts }: SchemaQuery,
): Promise<{ schemas: CredentialSchema[]; total: number }> {
  let matching = db
    .selectFrom('credential_schema')
    .where('wallet_id', '=', walletId)
    .where('resolution_method', '=', resolutionMethod)
  for (const column of ['author', 'name', 'version'] as const) {
    const text = texts[column]
    if (text !== undefined) matching = matching.where(column, ...matchOf(text))
  }
  if (tag !== undefined) {
    matching = matching.where('guid', 'in', (query) =>
      query.selectFrom('credential_schema_tag').select('guid').where('tag', '=', tag),
    )
  }
  const { rows, total } = await pageOf(matching.selectAll(), ['position'], { offset, limit, order })
  return { schemas: rows.map(toCredentialSchema), total }
}

/** Checks what is to be published, and gives the proof to publish with it: its own, or the one that is made now. */
async function checkInput(
  input: CredentialSchemaInput,
  { owns, resolve, sign }: Authors,
): Promise<Proof | undefined> {
  const { author, type, schema, proof } = input
  mustBeDid(author)
  if (proof && sign)
    throw new Problem('BadRequest', 'proof: must be left out when the schema is to be signed here.')
  await checkSchema(type, schema)
  await mustBeAuthor(author, owns)
  if (!proof) return sign?.(input)
  const fault = await findProofFault(input, proof, resolve)
  if (fault !== undefined)
    throw new Problem(
      'error:CredentialSchemaError:InvalidSchema',
      `The credential schema is not valid. proof.${fault}.`,
    )
  return proof
}

/** What the registry adds to what an author sends. */
type Placed = { walletId: string; id: string; proof: Proof | undefined; resolutionMethod: ResolutionMethod }

/** Writes one version. A row that is there already is left alone: on a database that lets two write at once, one of them fails here. */
async function write(
  tx: AgentTx,
  { walletId, id, proof, resolutionMethod }: Placed,
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
  const searched = [...new Set(tags)].map((tag) => ({ guid: row.guid, tag }))
  if (searched.length > 0) await tx.insertInto('credential_schema_tag').values(searched).execute()
  return toCredentialSchema(row)
}

function toCredentialSchema(row: Selectable<CredentialSchemaTables['credential_schema']>): CredentialSchema {
  const { proof, ...published } = withNames(row, schemasPath)
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
    `version: ${version} must be greater than ${latest}, which is published already.`,
  )
}
