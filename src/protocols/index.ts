/** The protocols: whose records there are, which handler takes which message, which task has which name. */
import { submitTask } from '../did-registrar/submit.ts'
import type { Tx } from '../storage/database.ts'
import type { Task } from '../wallet/task.ts'
import { noteOutcome, onMessage } from './basic-message/flow.ts'
import { basicMessage } from './basic-message/model.ts'
import { onRequest as onConnectionRequest, onResponse } from './connection/flow.ts'
import { connection } from './connection/model.ts'
import { discoverFeatures, onQueries } from './discover-features/flow.ts'
import { empty, onEmpty } from './empty/flow.ts'
import { makeAcceptance } from './issue-credential/acceptance.ts'
import { onCredential, onOffer } from './issue-credential/holder.ts'
import { makeCredential, onRequest as onCredentialRequest } from './issue-credential/issuer.ts'
import { issueCredential } from './issue-credential/model.ts'
import { didcommOrgMessages, presentProof } from './present-proof/model.ts'
import { makePresentation, onRequest as onPresentationRequest } from './present-proof/prover.ts'
import { onPresentation } from './present-proof/verifier.ts'
import type { Handler } from './engine/receive.ts'
import type { Protocol } from './engine/record.ts'
import { onProblemReport } from './report-problem/flow.ts'
import { reportProblem } from './report-problem/model.ts'
import { onRevoke } from './revocation-notification/flow.ts'
import { revocationNotification } from './revocation-notification/model.ts'
import { noteOutcome as notePingOutcome, onPing, onPingResponse } from './trust-ping/flow.ts'
import { trustPing } from './trust-ping/model.ts'

/** Protocols by the names that records and jobs carry. */
export const protocols: Readonly<Record<string, Protocol>> = {
  connection,
  'issue-credential': issueCredential,
  'present-proof': presentProof,
}

/** Message type URI → handler. */
export const handlers: Readonly<Record<string, Handler>> = {
  [connection.messages.request]: onConnectionRequest,
  [connection.messages.response]: onResponse,
  [issueCredential.messages.offer]: onOffer,
  [issueCredential.messages.request]: onCredentialRequest,
  [issueCredential.messages.credential]: onCredential,
  [presentProof.messages.request]: onPresentationRequest,
  [presentProof.messages.presentation]: onPresentation,
  [didcommOrgMessages.request]: onPresentationRequest,
  [didcommOrgMessages.presentation]: onPresentation,
  [reportProblem.messages['problem-report']]: onProblemReport,
  [trustPing.messages.ping]: onPing,
  [trustPing.messages['ping-response']]: onPingResponse,
  [discoverFeatures.messages.queries]: onQueries,
  [basicMessage.messages.message]: onMessage,
  [empty.messages.empty]: onEmpty,
  [revocationNotification.messages.revoke]: onRevoke,
}

/** What is told of a message's outcome, where no record waits for it: that it was taken, or, with a reason, given up. */
export const outcomes: Readonly<
  Record<string, (tx: Tx, recordId: string, failure?: string) => Promise<unknown>>
> = {
  [basicMessage.name]: noteOutcome,
  [trustPing.name]: notePingOutcome,
}

/** Tasks by name: those that the state tables call `make …`, and that of the DID registrar. */
export const tasks: Readonly<Record<string, Task>> = {
  acceptance: makeAcceptance,
  credential: makeCredential,
  presentation: makePresentation,
  'submit operation': submitTask,
}
