/**
 * What the URL of a status list answers: our own lists from the wallet they are in, since this agent may not be able to call itself, and those of
 * others fetched, once for all who ask at a time. None is kept: what was revoked a second ago is not to pass.
 */
import { Problem } from '../base/problem.ts'
import type { EntryType } from '../credentials/status-list.ts'
import { createFetchCache } from '../did/fetch-cache.ts'
import type { HttpClient } from '../net/guarded-agent.ts'
import { UnreachableError } from '../net/unreachable-error.ts'
import { unlessTransferred } from '../storage/transferred.ts'
import type { Wallets } from '../wallet/wallets.ts'
import { publishList, type ListMedia } from './publish.ts'

const timeoutMs = 5_000
/** A list of eight million credentials that does not compress, and some. */
const maxBytes = 1_572_864

/** What is asked for first, by the type of entry that names the list. */
const media: Readonly<Record<EntryType, ListMedia>> = {
  StatusList2021Entry: 'application/json',
  BitstringStatusListEntry: 'application/vc+jwt',
}

/** What goes wrong for now, and says nothing of the list. */
const temporary = ['refused', 'timeout']

type Sources = {
  http: HttpClient
  wallets: Pick<Wallets, 'use'>
  /** The wallet that has a list; nothing for an id that no wallet here has. */
  openListId: (id: string) => Promise<string | undefined>
}

export type ListReader = (url: string, type: EntryType) => Promise<string>

/**
 * Makes a reader of status lists, ours and others'; nothing of what it reads is verified.
 *
 * It throws {Problem} `error:ServiceUnavailable` when a host cannot be reached, is too slow or has trouble (5xx): then nothing is known of the list;
 * {UnreachableError} when there is none to be had, {Problem} 404 when there is none here.
 */
export function createListReader({ http, openListId, wallets }: Sources): ListReader {
  const fetched = createFetchCache((question) => fetchList(http, JSON.parse(question) as Question), {
    lifetimeMs: 0,
  })
  return async (url, type) => {
    const id = /\/credential-status\/([1-9A-HJ-NP-Za-km-z]{50,60})$/.exec(url)?.[1]
    const walletId = id === undefined ? undefined : await openListId(id)
    if (id !== undefined && walletId !== undefined) {
      const own = await unlessTransferred(
        wallets.use(walletId, (wallet) => publishList(wallet, id, media[type])),
      )
      if (own) return own.body
    }
    return (await fetched.get(JSON.stringify([url, type] satisfies Question)))!.text
  }
}

type Question = [url: string, type: EntryType]

async function fetchList(http: HttpClient, [url, type]: Question): Promise<{ text: string }> {
  const [first, second] =
    type === 'StatusList2021Entry'
      ? ['application/json', 'application/vc+jwt']
      : ['application/vc+jwt', 'application/json']
  const headers = { accept: `${first}, ${second};q=0.9, */*;q=0.1` }
  const { status, text } = await http
    .exchange(url, { method: 'GET', headers, timeoutMs, maxBytes })
    .catch((error: unknown) => {
      if (!(error instanceof UnreachableError) || !temporary.includes(error.code)) throw error
      throw unavailable(error.message)
    })
  if (status === 200) return { text }
  if (status >= 500 || [408, 425, 429].includes(status))
    throw unavailable(`its host answered with status ${status}`)
  throw new UnreachableError('bad-status', `the host of the status list answered with status ${status}`)
}

function unavailable(reason: string): Problem {
  return new Problem('error:ServiceUnavailable', `A status list cannot be had now: ${reason}`)
}
