/** The verifier's side: requests a presentation, verifies it, and accepts or rejects it. */
import { randomId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { activeSpan, inSpan } from '../../foundation/spans.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { getPolicy, toConstraints } from '../../wallet/verification/policies.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { noteCount } from '../../foundation/storage/tx-context.ts'
import { newPeerDid, savePeerDid } from '../../wallet/peer-dids.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { readToken } from '../protocols/attachments.ts'
import { getPeers, bindSender, findRecordFor } from '../protocols/peers.ts'
import { createOnce } from '../engine/idempotency.ts'
import { invite, requireUnexpired } from '../protocols/out-of-band.ts'
import type { Handler, Received } from '../engine/receive.ts'
import { advance, advanceByReply, advanceOnce, begin } from '../engine/record.ts'
import { problemReport } from '../protocols/report-problem.ts'
import { proofFormatOf, type Verdict } from './format.ts'
import { writeRequest } from './messages.ts'
import { presentProof, type PresentationRecord } from './model.ts'
import type { InviteToPresent, RequestTerms, RequestPresentation } from './requests.ts'
import { checkOf, toFailure, toldProver } from './verification.ts'

/**
 * Requests a presentation over a connection. A repeated request with the same idempotency key returns the
 * first one.
 *
 * @throws {Problem} if the connection cannot be used or the policy does not exist; like `createOnce`
 */
export function requestPresentation(
  wallet: Wallet,
  requested: RequestPresentation,
  key?: string,
): Promise<PresentationRecord> {
  return createOnce(wallet, presentProof, { key, body: requested }, async ({ id, ...created }) => {
    const { connectionId, goalCode, goal: comment } = requested
    const { myDid, theirDid } = await getPeers(wallet.db, connectionId)
    const { content, store, ...terms } = await prepare(wallet, requested, { goalCode, comment }, myDid)
    const data = presentProof.model.parse({ connectionId, ...terms, ...created })
    const initial = { id, thid: randomId(), data }
    const message = { type: 'request' as const, from: myDid, to: theirDid, ...content }
    return wallet.transaction(async (tx) => {
      await store?.(tx)
      return begin(tx, presentProof, 'Verifier', 'POST /present-proof/presentations', initial, message)
    })
  })
}

/**
 * Creates an invitation with a request, for the first agent that answers it. A repeated request with the same
 * idempotency key returns the first invitation.
 *
 * @throws {Problem} if the policy does not exist; like `createOnce`
 */
export function inviteToPresent(
  wallet: Wallet,
  body: InviteToPresent,
  key?: string,
): Promise<PresentationRecord> {
  return createOnce(wallet, presentProof, { key, body }, async ({ id, ...created }) => {
    const { PRESENTATION_INVITATION_EXPIRY: usual } = wallet.env.config
    const { goalCode, goal, lifetimeSeconds = usual, ...requested } = body
    const peer = newPeerDid(wallet)
    const { content, store, ...stored } = await prepare(wallet, requested, {}, peer.did)
    const message = { type: presentProof.messages.request, ...content }
    const { thid, sides, shortId } = invite(wallet, { goalCode, goal, lifetimeSeconds, message }, peer)
    const data = presentProof.model.parse({ ...stored, ...sides, ...created })
    const begun = { id, thid, data, shortId }
    return wallet.transaction(async (tx) => {
      await store?.(tx)
      await savePeerDid(tx, wallet, peer, id)
      return begin(tx, presentProof, 'Verifier', 'POST /present-proof/presentations/invitation', begun)
    })
  })
}

/**
 * The initial data of the record of a request by the DID `verifier`, the `content` of its message, and a
 * write (`store`) to make in the same transaction.
 */
async function prepare(
  wallet: Wallet,
  requested: RequestTerms,
  purpose: { goalCode?: string | undefined; comment?: string | undefined },
  verifier: string,
) {
  const proofs = presentProof.model.shape.proofs.parse(requested.proofs)
  const policy =
    requested.policyId === undefined ? undefined : await getPolicy(wallet.db, requested.policyId, 'policyId')
  const { credentialFormat, issuers, statusCheck } = requested
  const { terms, attachments, content, store } = await proofFormatOf(requested).createRequest(
    wallet,
    requested,
    verifier,
  )
  // The request contains the constraints of the policy, so that the prover can choose credentials.
  const constraints =
    proofs.length > 0 ? { proofs } : { proofs: toConstraints(policy?.constraints ?? []), anyProof: true }
  const ofPolicy = policy && { id: policy.id, constraints: policy.constraints }
  const stored = { proofs, policy: ofPolicy, issuers, statusCheck }
  const message = { body: writeRequest({ ...constraints, issuers, ...purpose }), attachments }
  return {
    credentialFormat,
    ...terms,
    ...stored,
    ...purpose,
    requestData: [JSON.stringify(content)],
    data: [],
    content: message,
    store,
  }
}

/**
 * Accepts or rejects a verified presentation. A second call changes nothing.
 *
 * @throws {Problem} in another state
 */
export function closePresentation(
  wallet: Wallet,
  id: string,
  action: 'presentation-accept' | 'presentation-reject',
): Promise<PresentationRecord> {
  return wallet.transaction((tx) => advanceOnce(tx, presentProof, id, action, {}))
}

/** Handles a presentation and verifies it. A failed check is reported to the prover. */
export const onPresentation: Handler = async (wallet, message) => {
  const { thid } = message
  const record = await findRecordFor(wallet.db, presentProof, 'Verifier', message, { mayAnswer: true })
  if (!record)
    throw new Problem(
      'error:PresentationError:ThreadIdNotFound',
      `There is no request for the thread ${thid} between these DIDs.`,
    )
  await requireUnexpired(wallet, 'request', record, (tx) => advance(tx, presentProof, record, 'expired', {}))
  const presentation = readPresentation(message)
  const { refusal, ...shown } = await verify(wallet, record, presentation)
  const change = { data: [presentation], ...shown, ...bindSender(message, record) }
  const count = (tx: Tx, result: 'accepted' | 'refused') =>
    noteCount(tx, 'agent_presentations_received_total', { format: record.credentialFormat, result })
  if (refusal === undefined)
    return (tx) => {
      count(tx, 'accepted')
      return advanceByReply(tx, presentProof, record.id, 'verified presentation', change)
    }
  const report = { code: 'e.p.presentation-verification-failed', comment: toldProver(refusal) }
  const refused = { ...change, metaLastFailure: toFailure(refusal) }
  const reply = problemReport(message, report)
  return (tx) => {
    count(tx, 'refused')
    return advanceByReply(tx, presentProof, record.id, 'refused presentation', refused, reply)
  }
}

function readPresentation(message: Received): string {
  try {
    return readToken(message)
  } catch (cause) {
    const detail = `The presentation cannot be read: ${reasonOf(cause)}.`
    throw new Problem('error:PresentationError:InvalidPresentation', detail, { cause })
  }
}

function verify(wallet: Wallet, record: PresentationRecord, presentation: string): Promise<Verdict> {
  const { credentialFormat } = record
  return inSpan(
    () => ({
      name: 'verify presentation',
      isDetail: true,
      attributes: { 'identity_agent.credential.format': credentialFormat },
    }),
    async () => {
      try {
        const verdict = await proofFormatOf(record).verify(wallet, record, presentation)
        const { checks = [] } = verdict.dcql ?? verdict.verification ?? {}
        const failed = checks.find(({ result }) => result === 'failed')
        if (failed) activeSpan()?.fail(failed.name)
        return verdict
      } catch (error) {
        if (!(error instanceof VerificationError)) throw error
        activeSpan()?.fail(error.code)
        const failed = { name: checkOf[error.code], result: 'failed' as const, reason: error.message }
        return { refusal: error.message, verification: { checks: [failed] } }
      }
    },
  )
}
