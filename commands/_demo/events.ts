/** What drives the demonstration: a webhook receiver to which both daemons report every change of a state (service §6). */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { CommandError } from '../_errors/usage.ts'
import { names, type Name } from './party.ts'

const Envelope = z.object({
  type: z.enum(['ConnectionUpdated', 'IssueCredentialRecordUpdated', 'PresentationUpdated', 'DIDStatusUpdated']),
  data: z.looseObject({
    thid: z.string().optional(),
    did: z.string().optional(),
    connectionId: z.string().optional(),
    recordId: z.string().optional(),
    presentationId: z.string().optional(),
    state: z.string().optional(),
    protocolState: z.string().optional(),
    status: z.string().optional(),
  }),
})

/** A change of a state: whose, of what kind of thing, and of which; `id` is the record's, on the side that reports. */
export type Change = { who: Name; what: 'connection' | 'credential' | 'proof' | 'did'; subject: string; id: string; state: string }

/** What is waited for; changes about other subjects do not count. */
export type Awaited = Pick<Change, 'who' | 'what' | 'subject' | 'state'>

type Waiter = Awaited & { resolve: (change: Change) => void; reject: (reason: Error) => void }

const kinds = {
  ConnectionUpdated: 'connection',
  IssueCredentialRecordUpdated: 'credential',
  PresentationUpdated: 'proof',
  DIDStatusUpdated: 'did',
} as const

const defaultPatienceMs = 10_000

/** Receives the events of both parties, each at a path of its own. */
export class Receiver {
  readonly #server: Server
  readonly #seen: Change[] = []
  readonly #waiters = new Set<Waiter>()
  readonly #patienceMs: number
  /** Is told of each change as it arrives. */
  onChange: (change: Change) => void = () => {}

  private constructor(server: Server, patienceMs: number) {
    this.#server = server
    this.#patienceMs = patienceMs
    server.on('request', (request, response) => {
      this.#receive(request).then(
        (status) => response.writeHead(status).end(),
        () => response.writeHead(400).end(),
      )
    })
  }

  /** Opens a receiver on a free port of this machine; a change may take `patienceMs`. */
  static async open(patienceMs = defaultPatienceMs): Promise<Receiver> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Receiver(server, patienceMs)
  }

  /** The webhook URL of a party. */
  urlOf(who: Name): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${who}`
  }

  /** How many changes have arrived. */
  get count(): number {
    return this.#seen.length
  }

  /** Waits for a change, which may have arrived already. @throws {CommandError} saying what was waited for and what came last. */
  async until(wanted: Awaited): Promise<Change> {
    const before = this.#seen.find((change) => fits(change, wanted))
    if (before) return before
    const { promise, resolve, reject } = withResolvers<Change>()
    const waiter = { ...wanted, resolve, reject }
    this.#waiters.add(waiter)
    const timeout = setTimeout(() => reject(this.#tooLate(wanted)), this.#patienceMs)
    try {
      return await promise
    } finally {
      clearTimeout(timeout)
      this.#waiters.delete(waiter)
    }
  }

  /** Ends all waiting: nothing will come any more. */
  fail(reason: Error): void {
    for (const { reject } of this.#waiters) reject(reason)
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #receive(request: IncomingMessage): Promise<number> {
    const who = names.find((name) => request.url === `/${name}`)
    if (!who) return 404
    const { type, data } = Envelope.parse(JSON.parse(await text(request)))
    const id = data.connectionId ?? data.recordId ?? data.presentationId ?? data.did ?? ''
    const change: Change = {
      who,
      what: kinds[type],
      subject: data.thid ?? data.did ?? '',
      id: type === 'PresentationUpdated' ? (data.presentationId ?? '') : id,
      state: data.state ?? data.protocolState ?? data.status ?? '',
    }
    this.#seen.push(change)
    this.onChange(change)
    for (const waiter of this.#waiters) if (fits(change, waiter)) waiter.resolve(change)
    return 200
  }

  #tooLate({ who, what, subject, state }: Awaited): CommandError {
    const last = names.map((name) => {
      const change = this.#seen.findLast((each) => each.who === name && each.subject === subject)
      return `${name} was last in ${change?.state ?? 'no state'}`
    })
    return new CommandError(`Waited ${this.#patienceMs / 1_000} seconds for ${who}’s ${what} to be in ${state}; ${last.join(', ')}.`, 1)
  }
}

function fits(change: Change, { who, what, subject, state }: Awaited): boolean {
  return change.who === who && change.what === what && change.subject === subject && change.state === state
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function withResolvers<Value>() {
  let resolve!: (value: Value) => void
  let reject!: (reason: Error) => void
  const promise = new Promise<Value>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
