/** The list of protocols, and what the worker and the DIDComm endpoint look up in it. */
import { writeList } from '../credential-status/ledger-lists.ts'
import { writeListTask } from '../credential-status/lists.ts'
import { submitTask } from '../did-registrar/submit.ts'
import type { Tx } from '../storage/database.ts'
import type { Task } from '../wallet/wallet.ts'
import { basicMessage } from './basic-message/model.ts'
import { onMessage, storeOutcome as storeMessageOutcome } from './basic-message/flow.ts'
import { connectionFlow } from './connection/flow.ts'
import { discoverFeatures, onQueries } from './discover-features/flow.ts'
import type { Handler } from './engine/receive.ts'
import type { Protocol } from './engine/protocol.ts'
import { credentialFlow } from './issue-credential/flow.ts'
import { requireKnownSender } from './peers.ts'
import { presentationFlow } from './present-proof/flow.ts'
import { onProblemReport, reportProblem } from './report-problem/flow.ts'
import { onRevoke, revocationNotification } from './revocation-notification/flow.ts'
import { onPing, onPingResponse, storeOutcome as storePingOutcome } from './trust-ping/flow.ts'
import { trustPing } from './trust-ping/model.ts'

/** A protocol with records, as the agent runs it. */
export type Flow = {
  protocol: Protocol
  /** By message type URI. */
  handlers: Readonly<Record<string, Handler>>
  /** By the names that the table uses after `make`. */
  tasks?: Readonly<Record<string, Task>>
}

/** The protocols with records. `definitions.ts` lists their definitions. */
const flows: readonly Flow[] = [connectionFlow, credentialFlow, presentationFlow]

/** By the names that records and jobs carry. */
export const protocols: Readonly<Record<string, Protocol>> = Object.fromEntries(
  flows.map(({ protocol }) => [protocol.name, protocol]),
)

/** By message type URI. */
export const handlers: Readonly<Record<string, Handler>> = {
  ...Object.assign({}, ...flows.map((flow) => flow.handlers)),
  [reportProblem.messages['problem-report']]: onProblemReport(Object.values(protocols)),
  [trustPing.messages.ping]: onPing,
  [trustPing.messages['ping-response']]: onPingResponse,
  [discoverFeatures.messages.queries]: onQueries,
  [basicMessage.messages.message]: onMessage,
  [revocationNotification.messages.revoke]: onRevoke,
  // Empty 1.0: a message without a body, sent for its headers.
  'https://didcomm.org/empty/1.0/empty': async (wallet, message) => {
    await requireKnownSender(wallet.db, message)
    return () => Promise.resolve()
  },
}

/** By the names that jobs carry. */
export const tasks: Readonly<Record<string, Task>> = {
  ...Object.assign({}, ...flows.map((flow) => flow.tasks)),
  'submit operation': submitTask,
  [writeListTask]: writeList,
}

/** Protocols without records: stores that a message was delivered, or with `failure` that it was abandoned. By name. */
export const outcomes: Readonly<
  Record<string, (tx: Tx, recordId: string, failure?: string) => Promise<unknown>>
> = {
  [basicMessage.name]: storeMessageOutcome,
  [trustPing.name]: storePingOutcome,
}
