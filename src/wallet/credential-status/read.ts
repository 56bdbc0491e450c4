/**
 * Reads the status list at a URL, which may be that of a VDR entry. Lists of this agent come from their
 * wallet, because the agent may be unable to call itself. Concurrent requests for other lists share one
 * fetch. Lists are not cached, so that revocations take effect at once.
 */
import { isPassingStatus } from '../../foundation/foreign.ts'
import { Problem } from '../../foundation/problem.ts'
import {
  cwtStatusEntry,
  identifierEntry,
  type ListType,
  tokenStatusEntry,
} from '../../credentials/codecs/token-status-list.ts'
import { createFetchCache } from '../../did/fetch-cache.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { UnreachableError } from '../../foundation/net/unreachable-error.ts'
import { unlessElsewhere } from '../../foundation/storage/transferred.ts'
import type { Wallets } from '../wallets.ts'
import type { ListMedia } from './lists.ts'
import { publishList } from './publish.ts'

const timeoutMs = 5_000
/** Of a body. A list in a JWT has at most `maxTokenLength` characters; a JSON list may have a proof beside. */
const maxBytes = 1_572_864

const isBinary = (type: ListType) => type === cwtStatusEntry || type === identifierEntry

/** The preferred media type by the type of entry. */
const media: Readonly<Record<ListType, string>> = {
  StatusList2021Entry: 'application/json',
  BitstringStatusListEntry: 'application/vc+jwt',
  [tokenStatusEntry]: 'application/statuslist+jwt',
  [cwtStatusEntry]: 'application/statuslist+cwt',
  [identifierEntry]: 'application/identifierlist+cwt',
}

const temporary = ['refused', 'timeout']

type Sources = {
  http: HttpClient
  wallets: Pick<Wallets, 'use'>
  /** The wallet of a list id. Undefined for ids of other agents. */
  openListId: (id: string) => Promise<string | undefined>
  /** The content of the VDR entry at a URL. @throws {Problem} */
  readEntry: (url: string) => Promise<Uint8Array>
}

export type ListReader = (url: string, type: ListType) => Promise<string>

/**
 * Creates a reader of status lists. The lists are not verified.
 *
 * The reader throws {Problem} `error:ServiceUnavailable` for temporary failures (connection, timeout, 5xx),
 * {UnreachableError} for permanent ones, {Problem} 404 for an unknown list of this agent or an unknown VDR
 * entry.
 */
export function createListReader({ http, openListId, wallets, readEntry }: Sources): ListReader {
  const fetched = createFetchCache((question) => fetchList(http, JSON.parse(question) as Question), {
    lifetimeMs: 0,
  })
  return async (url, type) => {
    if (url.startsWith('vdr:')) {
      const text = Buffer.from(await readEntry(url)).toString('utf8')
      if (text === '') throw unavailable('its VDR entry is still empty')
      return text
    }
    const id = /\/credential-status\/([1-9A-HJ-NP-Za-km-z]{50,60})$/.exec(url)?.[1]
    const walletId = id === undefined ? undefined : await openListId(id)
    if (id !== undefined && walletId !== undefined) {
      const own = await unlessElsewhere(
        wallets.use(walletId, (wallet) => publishList(wallet, id, media[type] as ListMedia)),
      )
      if (own) return isBinary(type) ? Buffer.from(own.body).toString('base64') : (own.body as string)
    }
    return (await fetched.get(JSON.stringify([url, type] satisfies Question)))!.text
  }
}

type Question = [url: string, type: ListType]

async function fetchList(http: HttpClient, [url, type]: Question): Promise<{ text: string }> {
  const [first, second] =
    type === 'StatusList2021Entry'
      ? ['application/json', 'application/vc+jwt']
      : ['application/vc+jwt', 'application/json']
  const accept =
    type === tokenStatusEntry || isBinary(type)
      ? `${media[type]}, */*;q=0.1`
      : `${first}, ${second};q=0.9, */*;q=0.1`
  const headers = { accept }
  const encoding = isBinary(type) ? 'base64' : 'utf8'
  const { status, text } = await http
    .exchange(url, { method: 'GET', headers, timeoutMs, maxBytes, encoding })
    .catch((error: unknown) => {
      if (!(error instanceof UnreachableError) || !temporary.includes(error.code)) throw error
      throw unavailable(error.message)
    })
  if (status === 200) return { text }
  if (isPassingStatus(status)) throw unavailable(`its host answered with status ${status}`)
  throw new UnreachableError('bad-status', `the host of the status list answered with status ${status}`)
}

function unavailable(reason: string): Problem {
  return new Problem('error:ServiceUnavailable', `A status list is temporarily unavailable: ${reason}`)
}
