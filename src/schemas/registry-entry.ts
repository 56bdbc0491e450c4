/** Entries of the two registries: credential schemas and AnonCreds credential definitions. */
import { newId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import { authorMethods, factsOf, namesOf } from '../did/names.ts'
import type { Registered } from '../storage/agent-tables.ts'
import { guidOf, longIdOf, type ResolutionMethod } from './schema.ts'

type Entry = { author: string; name: string; version: string; description?: string | null | undefined }

/**
 * Checks that a DID may publish.
 *
 * @throws {Problem} 400 as `assertAuthorMethod`, 404 when the caller's wallet does not own it.
 */
export async function assertAuthor(author: string, owns: (did: string) => Promise<boolean>): Promise<void> {
  assertAuthorMethod(author)
  if (await owns(author)) return
  throw new Problem(
    'NotFound',
    `author: the wallet has no DID ${author}. Create one with POST /did-registrar/dids.`,
  )
}

/** Checks the DID method of an author. @throws {Problem} 400 when its DIDs publish nothing. */
export function assertAuthorMethod(author: string): void {
  const { managed, forms } = factsOf(author) ?? {}
  if (managed?.isAuthor && (forms?.test(author) ?? true)) return
  throw new Problem(
    'BadRequest',
    `author: must be a ${namesOf(authorMethods)} of this wallet; ${author} is neither.`,
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

/** Adds the members of a response that follow from the columns. `path` is the path of the registry. */
export function withDerivedMembers<Row extends Registered>(row: Row, path: string) {
  const resolutionMethod = row.resolution_method
  const self = `/${path}/${resolutionMethod === 'did' ? 'did-url/' : ''}${row.guid}`
  return { ...row, longId: longIdOf(row), resolutionMethod, self }
}
