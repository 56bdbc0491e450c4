/** Lists ids of the daemon for completion, silently and with a short time limit. */
import { statSync } from 'node:fs'
import { createClient } from '../../daemon/client/client.ts'
import { definitions } from '../../src/definitions/protocols.ts'
import { profileNames } from '../../src/foundation/config/profile.ts'
import { readItems } from '../client/resources.ts'
import { findAccess, fromProcess, fromVariables } from '../client/settings.ts'
import { safeLine } from '../format/text.ts'
import type { Kind } from '../input/kinds.ts'
import type { Given } from './words.ts'

/** The time limit of a completion. */
const patienceMs = 700

/** The largest number of candidates. The newest are listed. */
const query = { limit: 200, order: 'desc' } as const

type Candidate = { value: string; state?: string | undefined; about?: string | undefined }

/**
 * Lists the items of a kind, from the daemon that flags, variables and profile select.
 *
 * @throws when it does not answer.
 */
export async function listThings(kind: Kind, given: Given): Promise<Candidate[]> {
  if (kind === 'profile')
    return profileNames(fromVariables().AGENT_CONFIG_DIR).map((name) => ({ value: name }))
  const { url, profile } = given
  const { adminKey, apiKey, ...access } = findAccess(
    {
      url,
      profile,
      'api-key-file': fileOf(given['api-key-file']),
      'admin-key-file': fileOf(given['admin-key-file']),
    },
    fromProcess(),
  )
  const isAdmins = kind === 'apiKey' || kind === 'tenant' || kind === 'wallet'
  const [header, secret] =
    isAdmins && adminKey ? (['x-admin-api-key', adminKey] as const) : (['apikey', apiKey] as const)
  const call = createClient(access.url, secret ? { [header]: secret.reveal() } : {}, {
    timeoutMs: patienceMs,
  })
  const kinds = kind === 'record' ? definitions.map(({ topic }) => topic) : [kind]
  const pages = await Promise.all(kinds.map((each) => readItems(each, call, query, given)))
  const items = pages.flatMap((page) => page.items)
  return items.map(({ id, state, about }) => ({
    value: id,
    state,
    about: safeLine([about, state].filter(Boolean).join(', ')),
  }))
}

/** Returns true for regular files. Standard input belongs to the shell, and a pipe may not end. */
function fileOf(path: string | undefined): string | undefined {
  return path !== undefined && path !== '-' && statSync(path).isFile() ? path : undefined
}
