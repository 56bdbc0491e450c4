/** What both registries keep and show alike: of credential schemas, and of definitions of AnonCreds credentials. */
import { newId } from '../base/id.ts'
import type { Registered } from '../storage/agent-tables/registered.ts'
import { guidOf, longIdOf, type ResolutionMethod } from './schema.ts'

type Given = { author: string; name: string; version: string; description?: string | null | undefined }

/** The columns of what an author registers now. */
export function toRow(
  walletId: string,
  id: string,
  given: Given,
  resolutionMethod: ResolutionMethod,
): Registered {
  const { author, name, version, description } = given
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

/** A row with the members of its record that follow from its columns; `path` is that of its registry. */
export function withNames<Row extends Registered>(row: Row, path: string) {
  const resolutionMethod = row.resolution_method
  const self = `/${path}/${resolutionMethod === 'did' ? 'did-url/' : ''}${row.guid}`
  return { ...row, longId: longIdOf(row), resolutionMethod, self }
}
