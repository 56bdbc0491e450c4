/**
 * The protocols together, as the engine gets them: it imports none of them. `exchange/all-protocols.ts`
 * composes them.
 */
import type { Problem } from '../../foundation/problem.ts'
import type { Resolve } from '../../did/document.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import type { Task, Wallet } from '../../wallet/wallet.ts'
import type { Outgoing, Protocol, Rec } from './protocol.ts'
import type { Handler, Message, Received } from './receive.ts'

/** A protocol with records, as the agent runs it. */
export type Flow = {
  protocol: Protocol
  /** By message type URI. */
  handlers: Readonly<Record<string, Handler>>
  /** By the names that the table uses after `make`. */
  tasks?: Readonly<Record<string, Task>>
}

/** The content of a problem report. */
export type Report = { code: string; comment: string }

export type Composition = {
  /** Those with records, by the names that records and jobs carry. */
  protocols: Readonly<Record<string, Protocol>>
  /** By message type URI. */
  handlers: Readonly<Record<string, Handler>>
  /** By the names that jobs carry. */
  tasks: Readonly<Record<string, Task>>
  /**
   * Protocols without records: stores that a message was delivered, or with `failure` that it was abandoned.
   * By name.
   */
  outcomes: Readonly<Record<string, (tx: Tx, recordId: string, failure?: string) => Promise<unknown>>>
  /** Resolves the DIDs that messages from and to a DID of the wallet may have. */
  resolverOf: (wallet: Wallet, myDid: string) => Resolve
  /** The thread that a message is about. */
  threadOf: (message: Message) => string
  /** @throws {Problem} for a sender that is not the other side of a record */
  requireKnownSender: (db: Db, message: Received) => Promise<void>
  /** The report of a refusal. Undefined if it is not reported. */
  toReport: (problem: Problem) => Report | undefined
  /** Enqueues the report of a refusal to the sender of the message. */
  enqueueReport: (tx: Tx, message: Received, problem: Problem) => Promise<void>
  /** The report to the other side of a record. Undefined without one. */
  reportTo: (tx: Tx, record: Rec, report: Report) => Promise<Outgoing | undefined>
}
