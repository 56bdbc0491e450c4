/** Webhooks of the demo: a receiver for both daemons, and a queue of state changes to wait for. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import * as z from 'zod'
import { names, type Name } from './party.ts'
import { eventSubjects } from '../../src/definitions/event-subjects.ts'
import { CommandError } from '../errors/errors.ts'

const defaultPatienceMs = 10_000

/** Receives the events of both parties. Each party has its own path. */
export class Receiver {
  readonly #server: Server
  /** The begin of the paths, which no page of a browser can guess. */
  readonly #token = randomUUID()
  readonly changes: Changes

  private constructor(server: Server, patienceMs: number) {
    this.#server = server
    this.changes = createChanges(patienceMs)
    server.on('request', (request, response) => {
      this.#receive(request).then(
        (status) => response.writeHead(status).end(),
        () => response.writeHead(400).end(),
      )
    })
  }

  /** Opens a receiver on a free port. Waiting for a change times out after `patienceMs`. */
  static async open(patienceMs = defaultPatienceMs): Promise<Receiver> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Receiver(server, patienceMs)
  }

  urlOf(who: Name): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${this.#token}/${who}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #receive(request: IncomingMessage): Promise<number> {
    const who = names.find((name) => request.url === `/${this.#token}/${name}`)
    if (!who) return 404
    this.changes.note(toChange(who, JSON.parse(await text(request))))
    return 200
  }
}

const Envelope = z.object({
  type: z.enum([
    'ConnectionUpdated',
    'IssueCredentialRecordUpdated',
    'PresentationUpdated',
    'DIDStatusUpdated',
  ]),
  data: z.looseObject({ thid: z.string().optional() }),
})
const Text = z.string().catch('')

/** A change of a state: the party, the kind and the subject. `id` is the record's id at that party. */
export type Change = {
  who: Name
  what: 'connection' | 'credential' | 'proof' | 'did'
  subject: string
  id: string
  state: string
}

/** The change to wait for. Changes of other subjects do not match. */
export type Awaited = Pick<Change, 'who' | 'what' | 'subject' | 'state'>

export type Changes = {
  onChange: (change: Change) => void
  /** Adds a change and resolves the calls of `until` that wait for it. */
  note(change: Change): void
  readonly count: number
  /**
   * Waits for a change, which may have arrived already.
   *
   * @throws {CommandError} on timeout, with the last change.
   */
  until(wanted: Awaited): Promise<Change>
  /** Rejects all waiting calls. */
  fail(reason: Error): void
}

type Waiter = Awaited & { resolve: (change: Change) => void; reject: (reason: Error) => void }

/** Converts an event. @throws when it is none of the four kinds */
export function toChange(who: Name, event: unknown): Change {
  const { type, data } = Envelope.parse(event)
  const subject = eventSubjects[type]
  const id = Text.parse(data[subject.id])
  return {
    who,
    what: subject.topic as Change['what'],
    subject: data.thid ?? id,
    id,
    state: Text.parse(data[subject.state]),
  }
}

/** Creates an empty list. Waiting times out after `patienceMs`. */
export function createChanges(patienceMs: number): Changes {
  const seen: Change[] = []
  const waiters = new Set<Waiter>()
  let failure: Error | undefined

  function tooLate({ who, what, subject, state }: Awaited): CommandError {
    const last = names.map((name) => {
      const change = seen.findLast((each) => each.who === name && each.subject === subject)
      return `${name} was last in ${change?.state ?? 'no state'}`
    })
    return new CommandError(
      `Waited ${patienceMs / 1_000} seconds for ${who}’s ${what} to be in ${state}; ${last.join(', ')}.`,
      1,
    )
  }

  return {
    onChange: () => {},
    get count() {
      return seen.length
    },
    note(change) {
      seen.push(change)
      this.onChange(change)
      for (const waiter of waiters) if (fits(change, waiter)) waiter.resolve(change)
    },
    async until(wanted) {
      const before = seen.find((change) => fits(change, wanted))
      if (before) return before
      if (failure) throw failure
      return new Promise((resolve, reject) => {
        const end = (finish: () => void) => {
          clearTimeout(timeout)
          waiters.delete(waiter)
          finish()
        }
        const waiter: Waiter = {
          ...wanted,
          resolve: (change) => end(() => resolve(change)),
          reject: (reason) => end(() => reject(reason)),
        }
        const timeout = setTimeout(() => waiter.reject(tooLate(wanted)), patienceMs)
        waiters.add(waiter)
      })
    },
    fail(reason) {
      failure ??= reason
      for (const { reject } of waiters) reject(reason)
    },
  }
}

function fits(change: Change, { who, what, subject, state }: Awaited): boolean {
  return change.who === who && change.what === what && change.subject === subject && change.state === state
}
