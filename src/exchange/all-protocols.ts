/** The list of protocols, and their composition for the engine. */
import { writeList } from '../wallet/credential-status/ledger-lists.ts'
import { writeListTask } from '../wallet/credential-status/lists.ts'
import { submitTask } from '../wallet/did-registrar/submit.ts'
import { basicMessage } from './protocols/basic-message/model.ts'
import { onMessage, storeOutcome as storeMessageOutcome } from './protocols/basic-message/flow.ts'
import { connectionFlow } from './protocols/connection/flow.ts'
import { discoverFeatures, onQueries } from './protocols/discover-features.ts'
import type { Composition, Flow } from './engine/composition.ts'
import type { Protocol } from './engine/protocol.ts'
import type { Message } from './engine/receive.ts'
import { credentialFlow } from './issuance/flow.ts'
import { requireKnownSender } from './protocols/peers.ts'
import { presentationFlow } from './presentation/flow.ts'
import {
  enqueueReport,
  onProblemReport,
  reportProblem,
  reportTo,
  toReport,
} from './protocols/report-problem.ts'
import { onRevoke, RevokeBody, revocationNotification } from './issuance/revocation-notification.ts'
import {
  onPing,
  onPingResponse,
  resolverOf,
  storeOutcome as storePingOutcome,
} from './protocols/trust-ping/flow.ts'
import { trustPing } from './protocols/trust-ping/model.ts'

/** The protocols with records. `definitions.ts` lists their definitions. */
const flows: readonly Flow[] = [connectionFlow, credentialFlow, presentationFlow]

/** By the names that records and jobs carry. */
export const protocols: Readonly<Record<string, Protocol>> = Object.fromEntries(
  flows.map(({ protocol }) => [protocol.name, protocol]),
)

/** What the worker and the DIDComm endpoint look up. */
export const composition: Composition = {
  protocols,
  handlers: {
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
  },
  tasks: {
    ...Object.assign({}, ...flows.map((flow) => flow.tasks)),
    'submit operation': submitTask,
    [writeListTask]: writeList,
  },
  outcomes: {
    [basicMessage.name]: storeMessageOutcome,
    [trustPing.name]: storePingOutcome,
  },
  resolverOf,
  threadOf,
  requireKnownSender,
  toReport,
  enqueueReport,
  reportTo,
}

export const { handlers, outcomes } = composition

/** The longest thread id (`didcomm/message.ts`). */
const longestThid = 1_024

/**
 * The thread that a message is about: a problem report names it in `pthid`, a revocation notification in its
 * body.
 */
export function threadOf({ id, type, thid = id, pthid, body }: Message): string {
  if (type === reportProblem.messages['problem-report']) return pthid ?? thid
  if (type !== revocationNotification.messages.revoke) return thid
  const about = RevokeBody.safeParse(body).data?.issueCredentialProtocolThreadId ?? thid
  return about.length <= longestThid ? about : thid
}
