/** Entries of the two registries: credential schemas and AnonCreds credential definitions. */
import { type SelectQueryBuilder, sql } from 'kysely'
import { newId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { authorMethods, factsOf, namesOf } from '../../definitions/did-names.ts'
import type { Registered } from '../../foundation/storage/agent-tables.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { filterBy, type Paging } from '../../foundation/storage/list-query.ts'
import { guidOf, longIdOf, type ResolutionMethod } from './schema.ts'

type Entry = { author: string; name: string; version: string; description?: string | null | undefined }

/**
 * Checks that a DID may publish.
 *
 * @throws {Problem} 400 as `assertAuthorMethod`, 404 when the caller's wallet does not own it.
 */
export async function assertAuthor(
  author: string,
  owns: (did: string) => Promise<boolean>,
  resolutionMethod: ResolutionMethod = 'http',
): Promise<void> {
  assertAuthorMethod(author, resolutionMethod)
  if (await owns(author)) return
  throw new Problem(
    'NotFound',
    `author: the wallet has no DID ${author}. Create one with POST /did-registrar/dids.`,
  )
}

/**
 * Checks the DID method of an author. A DID URL leads to a service of the author's document, which a key does
 * not have.
 *
 * @throws {Problem} 400 when its DIDs publish nothing
 */
export function assertAuthorMethod(author: string, resolutionMethod: ResolutionMethod = 'http'): void {
  const { managed, forms } = factsOf(author) ?? {}
  if (managed?.isKey && resolutionMethod === 'did')
    throw new Problem(
      'BadRequest',
      `author: ${author.slice(0, 100)} is a key without services, to which no DID URL can lead. Publish with an HTTP URL, or with another DID.`,
    )
  if (managed?.isAuthor && (forms?.test(author) ?? true)) return
  throw new Problem(
    'BadRequest',
    `author: must be a ${namesOf(authorMethods)} of this wallet, and is ${author}.`,
  )
}

/** The common columns of a new entry. */
export function toRow(
  walletId: string,
  id: string,
  { author, name, version, description }: Entry,
  resolutionMethod: ResolutionMethod,
): Registered {
  return {
    guid: guidOf({ author, id, version }),
    position: newId(),
    id,
    wallet_id: walletId,
    author,
    name,
    version,
    description: description ?? '',
    resolution_method: resolutionMethod,
    authored: new Date().toISOString(),
  }
}

const filtered = ['author', 'name', 'version'] as const

/** Filters match exactly, except that `%` matches any text. */
export type EntryQuery = Paging &
  Partial<Record<(typeof filtered)[number], string | undefined>> & { resolutionMethod?: ResolutionMethod }

/** The entries of a wallet that match. `entries` selects from a registry. */
export function entriesOf<DB, Table extends keyof DB, Row>(
  entries: SelectQueryBuilder<DB, Table, Row>,
  db: AgentDb,
  walletId: string,
  { resolutionMethod = 'http', ...texts }: EntryQuery,
): SelectQueryBuilder<DB, Table, Row> {
  const own = entries
    .where(sql.ref('wallet_id'), '=', walletId)
    .where(sql.ref('resolution_method'), '=', resolutionMethod)
  return filtered.reduce(
    (each, column) =>
      texts[column] === undefined ? each : each.where(sql.ref(column), ...filterBy(db, texts[column])),
    own,
  )
}

/** Adds the members of a response that follow from the columns. `path` is the path of the registry. */
export function withDerivedMembers<Row extends Registered>(row: Row, path: string) {
  const resolutionMethod = row.resolution_method
  const self = `/${path}/${resolutionMethod === 'did' ? 'did-url/' : ''}${row.guid}`
  return { ...row, longId: longIdOf(row), resolutionMethod, self }
}
