/** The protocols: whose records there are, which handler takes which message, who does which work. */
import { publishWork } from '../did-registrar/publish.ts'
import type { Work } from '../wallet/work.ts'
import { onRequest as onConnectionRequest, onResponse } from './connection/flow.ts'
import { connection } from './connection/model.ts'
import { onCredential, onOffer } from './issue-credential/holder.ts'
import { makeCredential, onRequest as onCredentialRequest } from './issue-credential/issuer.ts'
import { issueCredential } from './issue-credential/model.ts'
import { presentProof } from './present-proof/model.ts'
import { onProblemReport } from './present-proof/problem.ts'
import { makePresentation, onRequest as onPresentationRequest } from './present-proof/prover.ts'
import { onPresentation } from './present-proof/verifier.ts'
import type { Handler } from './receive.ts'
import type { Protocol } from './record.ts'

/** Protocols by the names that records and debts carry. */
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
  [presentProof.messages['problem-report']]: onProblemReport,
}

/** What the tables call `make …`, and what the DID registrar owes. */
export const works: Readonly<Record<string, Work>> = {
  credential: makeCredential,
  presentation: makePresentation,
  'publish DID': publishWork,
}
