/** Data that is loaded on demand: decoded credentials, and older events of a thread. */
import type { CredentialContent } from '../../format/credential.ts'
import { toReport } from '../../errors/report.ts'
import type { Daemon, Did, Event } from './data.ts'

export type Contents = {
  /** The content of a credential, if loaded. `key` changes with the record. */
  credential: (key: string) => CredentialContent | { error: string } | undefined
  events: (thread: string) => readonly Event[]
  /** The resolution result of a DID, if loaded. */
  did: (did: Did) => unknown
}

/** The number of cached responses. */
const most = 100

/** Loads contents on demand. Calls `onChange` when one arrives. */
export function createContents({ call }: Pick<Daemon, 'call'>, onChange: () => void) {
  const credentials = new Map<string, CredentialContent | { error: string } | undefined>()
  const threads = new Map<string, readonly Event[]>()
  const dids = new Map<string, unknown>()

  /** Loads each key once. */
  function ask<Value>(
    answers: Map<string, Value>,
    key: string,
    empty: Value,
    question: () => Promise<Value>,
  ): void {
    if (answers.has(key)) return
    answers.set(key, empty)
    if (answers.size > most) answers.delete(answers.keys().next().value!)
    void question().then((answer) => {
      answers.set(key, answer)
      onChange()
    })
  }

  return {
    credential: (key: string) => credentials.get(key),
    events: (thread: string) => threads.get(thread) ?? [],
    askCredential(key: string, recordId: string): void {
      ask(credentials, key, undefined, () =>
        call('GET /issue-credentials/records/{recordId}/credential', { path: { recordId } }).catch(
          (error: unknown) => {
            const { title, detail } = toReport(error, 'credential:show')
            return { error: detail ?? title }
          },
        ),
      )
    },
    did: (did: Did) => dids.get(didKey(did)),
    askDid(did: Did): void {
      ask<unknown>(dids, didKey(did), undefined, () =>
        call('GET /dids/{didRef}', { path: { didRef: did.longFormDid ?? did.did } }).catch(() => undefined),
      )
    },
    askEvents(thread: string): void {
      ask(threads, thread, [], () =>
        call('GET /events', { query: { thid: thread, limit: 100 } }).then(
          ({ contents }) => contents,
          () => [],
        ),
      )
    },
    /** Clears the caches. */
    forget(): void {
      credentials.clear()
      threads.clear()
      dids.clear()
    },
  }
}

/** The cache key of a DID, whose document changes with its operations. */
function didKey({ did, status, deactivated, pendingOperation }: Did): string {
  return [did, status, deactivated, pendingOperation].join(' ')
}
