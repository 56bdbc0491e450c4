/** What is asked for only when it is looked at: credentials decoded, and events that are older than those at hand. */
import type { CredentialContent } from '../../format/credential.ts'
import { toReport } from '../../errors/report.ts'
import type { Daemon, Event } from './data.ts'

export type Contents = {
  /** What a credential says, as far as it is known; `key` changes with the record. */
  credential: (key: string) => CredentialContent | { error: string } | undefined
  events: (thread: string) => readonly Event[]
}

/** How many answers are kept. */
const most = 100

/** Asks for what is looked at; `onChange` is told when there is something new. */
export function createContents({ call }: Pick<Daemon, 'call'>, onChange: () => void) {
  const credentials = new Map<string, CredentialContent | { error: string } | undefined>()
  const threads = new Map<string, readonly Event[]>()

  /** Asks once for each key. */
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
    askEvents(thread: string): void {
      ask(threads, thread, [], () =>
        call('GET /events', { query: { thid: thread, limit: 100 } }).then(
          ({ contents }) => contents,
          () => [],
        ),
      )
    },
    /** All is asked for anew. */
    forget(): void {
      credentials.clear()
      threads.clear()
    },
  }
}
