/** Proofs with an AnonCreds credential: attributes and predicates, without what links one proof to another (wire.md 10). */
import { AnonCredsError } from '../../../anoncreds/engine.ts'
import { assertEnabled } from '../../../anoncreds/feature.ts'
import { findFit, findMisfit, type Fit } from '../../../anoncreds/holder.ts'
import { getLinkSecret } from '../../../anoncreds/holder.ts'
import { Credential } from '../../../anoncreds/model.ts'
import { SupportedRequest } from '../../../anoncreds/presentation.ts'
import { createProof } from '../../../anoncreds/holder.ts'
import type { PresentationRequest } from '../../../anoncreds/presentation.ts'
import { needsSchema } from '../../../anoncreds/restrictions.ts'
import { verifyProof } from '../../../anoncreds/verify.ts'
import { Problem } from '../../../base/problem.ts'
import { VerificationError } from '../../../credentials/verification-error.ts'
import type { Tx } from '../../../storage/database.ts'
import { checkPolicy } from '../../../verification/policies.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { encodedAttachments, anonCredsFormats } from '../../formats.ts'
import type { Choice, Held, ProofFormat } from '../format.ts'
import { getHeld } from '../held.ts'
import type { CredentialProof, PresentationRecord } from '../model.ts'
import { requireFormat } from './token.ts'

export const anonCreds: ProofFormat = {
  async ask(wallet, { anoncredPresentationRequest: asked }) {
    assertEnabled(wallet.env.config)
    if (!asked) throw new Error('the request has no anoncredPresentationRequest')
    const content = { ...asked, nonce: asked.nonce ?? (await wallet.env.anoncreds.createNonce()) }
    return {
      terms: { anoncreds: content },
      attachments: encodedAttachments(content, anonCredsFormats.proofRequest),
      content,
      keep: (tx) => keepNonce(tx, content.nonce),
    }
  },

  readRequest: (content) => ({ anoncreds: SupportedRequest.parse(content) }),

  async choose(wallet, record, choice) {
    assertEnabled(wallet.env.config)
    requireFormat('AnonCreds', choice)
    const { credential: id, keptBack } = readChoice(requestOf(record), choice)
    const [held] = await getHeld(wallet.db, [id], 'AnonCreds', 'credential')
    await checkFit(wallet, record, held!)
    return { proofId: [id], keptBack }
  },

  async present(wallet, record) {
    const [held] = await getHeld(wallet.db, record.proofId ?? [], 'AnonCreds')
    const credential = Credential.parse(JSON.parse(held!.credential))
    const [linkSecret, schema, definition] = await Promise.all([
      getLinkSecret(wallet),
      wallet.env.getAnonCredsSchema(credential.schema_id),
      wallet.env.getCredentialDefinition(credential.cred_def_id),
    ])
    const proof = {
      request: requestOf(record),
      credential,
      linkSecret,
      schema,
      definition,
      unrevealed: record.keptBack ?? [],
    }
    try {
      return JSON.stringify(await createProof(wallet.env.anoncreds, proof))
    } catch (error) {
      if (!(error instanceof AnonCredsError)) throw error
      throw new Problem('UnprocessableEntity', `The proof cannot be made: ${error.message}`, { cause: error })
    }
  },

  attach: (presentation) => encodedAttachments(JSON.parse(presentation) as object, anonCredsFormats.proof),

  async verify(wallet, record, presentation) {
    const request = requestOf(record)
    const { revealed, credentials } = await verifyProof(presentation, request, wallet.env)
    const constraints = record.policy?.constraints ?? []
    const trusted = credentials.map(({ issuerDid, schemas }) => {
      if (issuerDid === undefined && constraints.some(({ trustedIssuers }) => trustedIssuers.length > 0))
        throw new VerificationError(
          'issuer-not-trusted',
          'Nobody vouches for the issuer of the credential, and the policy trusts only some',
        )
      return { issuerDid: issuerDid ?? '', schemas }
    })
    checkPolicy(constraints, trusted)
    return { disclosedClaims: toClaims(request, revealed) }
  },
}

/** The credential that a choice names for all that is asked for, and the references of attributes that are not to be shown. @throws {Problem} */
function readChoice(
  request: PresentationRequest,
  choice: Choice,
): { credential: string; keptBack: string[] } {
  const { proofId, claims, anoncredPresentationRequest: chosen } = choice
  if (Object.keys(claims ?? {}).length > 0)
    throw refuse('claims: the request is for AnonCreds. Name what is shown in anoncredPresentationRequest.')
  if (!chosen && proofId?.length === 1) return { credential: proofId[0]!, keptBack: [] }
  const proofs = chosen?.credentialProofs ?? []
  const [first] = proofs
  if (!first)
    throw refuse(
      'anoncredPresentationRequest: name in credentialProofs which credential answers which attributes and predicates.',
    )
  if (proofs.some(({ credential }) => credential !== first.credential))
    throw refuse(
      'anoncredPresentationRequest.credentialProofs: a proof can be made with one credential here, and several are named. Answer with one.',
    )
  const all = (member: keyof Omit<CredentialProof, 'credential'>) => proofs.flatMap((proof) => proof[member])
  const keptBack = all('unrevealedAttribute')
  mustAnswer('attribute', Object.keys(request.requested_attributes), [
    ...all('requestedAttribute'),
    ...keptBack,
  ])
  mustAnswer('predicate', Object.keys(request.requested_predicates), all('requestedPredicate'))
  if (
    keptBack.length === Object.keys(request.requested_attributes).length &&
    all('requestedPredicate').length === 0
  )
    throw refuse(
      'unrevealedAttribute: a proof has to show or to prove something. Decline the request if nothing is to be shown.',
    )
  return { credential: first.credential, keptBack }
}

function mustAnswer(what: string, asked: string[], answered: string[]): void {
  const unknown = answered.find((reference) => !asked.includes(reference))
  if (unknown !== undefined)
    throw refuse(
      `credentialProofs: the request has no ${what} ${unknown}. It has ${asked.join(', ') || 'none'}.`,
    )
  const twice = answered.find((reference, index) => answered.indexOf(reference) !== index)
  if (twice !== undefined) throw refuse(`credentialProofs: the ${what} ${twice} is answered twice.`)
  const open = asked.find((reference) => !answered.includes(reference))
  if (open !== undefined)
    throw refuse(`credentialProofs: the ${what} ${open} is not answered. Name it, or decline the request.`)
}

/** @throws {Problem} when a credential does not answer all that is asked for. */
async function checkFit(wallet: Wallet, record: PresentationRecord, held: Held): Promise<void> {
  const misfit = findMisfit(await fitOf(wallet, record, held))
  if (misfit !== undefined)
    throw refuse(`The credential ${held.id} ${misfit}. Present another, or decline the request.`)
}

/**
 * What of a request a credential of the wallet can answer. Nobody is asked for it, unless the request is about what only the schema says.
 *
 * @throws {Problem} when the schema is needed and cannot be had.
 */
export async function fitOf(
  { env }: Wallet,
  record: PresentationRecord,
  { credential: text, issuer: issuerId }: Held,
): Promise<Fit> {
  const request = requestOf(record)
  const credential = Credential.parse(JSON.parse(text))
  const schema = needsSchema(request) ? await env.getAnonCredsSchema(credential.schema_id) : undefined
  return findFit(request, { credential, issuerId, schema })
}

/** What was asked for. */
function requestOf({ id, anoncreds }: PresentationRecord): PresentationRequest {
  if (!anoncreds) throw new Error(`the record ${id} has no request for AnonCreds`)
  return anoncreds
}

/** What is revealed by the names of attributes; by the references of the request where one name is asked for twice. */
function toClaims(
  { requested_attributes: asked }: PresentationRequest,
  revealed: Record<string, string>,
): Record<string, string> {
  const names = Object.keys(revealed).map((reference) => asked[reference]!.name)
  const isPlain = new Set(names).size === names.length
  return Object.fromEntries(
    Object.entries(revealed).map(([reference, text]) => [isPlain ? asked[reference]!.name : reference, text]),
  )
}

/**
 * Writes down that a nonce is used: a proof that was made for one request must not answer another.
 *
 * @throws {Problem} 409 when it was used before.
 */
async function keepNonce(tx: Tx, text: string): Promise<void> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('proof_nonce')
    .values({ nonce: BigInt(text).toString() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (!numInsertedOrUpdatedRows)
    throw new Problem(
      'Conflict',
      'anoncredPresentationRequest.nonce: this wallet has asked with it before, and a proof of then would hold now. Leave it out for a new one.',
    )
}

function refuse(detail: string): Problem {
  return new Problem('BadRequest', detail)
}
