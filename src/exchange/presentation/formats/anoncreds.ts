/** Presentations of AnonCreds credentials: unlinkable proofs of attributes and predicates. */
import { AnonCredsError, assertEnabled } from '../../../credentials/anoncreds/engine.ts'
import {
  createProof,
  findFit,
  findMisfit,
  getLinkSecret,
  type Fit,
} from '../../../credentials/anoncreds/holder.ts'
import { Credential } from '../../../credentials/anoncreds/model.ts'
import { SupportedRequest, type PresentationRequest } from '../../../credentials/anoncreds/presentation.ts'
import { needsSchema } from '../../../credentials/anoncreds/restrictions.ts'
import { verifyProof } from '../../../credentials/anoncreds/verify.ts'
import { Problem } from '../../../foundation/problem.ts'
import { attributeKey } from '../../../credentials/schemas/anoncreds-schema.ts'
import { VerificationError } from '../../../credentials/codecs/verification-error.ts'
import type { Tx } from '../../../foundation/storage/database.ts'
import { checkPolicy } from '../../../wallet/verification/policies.ts'
import { createTrustCheck } from '../../../wallet/verification/trust.ts'
import { createChainVerifier } from '../../../wallet/trust-anchors/verify-chain.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { encodedAttachments, anonCredsFormats } from '../../protocols/attachments.ts'
import type { HeldCredential } from '../../held-credentials/list.ts'
import type { PresentOptions, ProofFormat } from '../format.ts'
import { getHeldCredentials } from '../chosen-credentials.ts'
import type { PresentationRecord } from '../model.ts'
import type { CredentialProof } from '../requests.ts'
import { passed, restrictsIssuers } from '../verification.ts'
import { requireFormat } from './options.ts'

export const anonCreds: ProofFormat = {
  async createRequest(wallet, { anoncredPresentationRequest: requested }) {
    assertEnabled(wallet.env.config)
    if (!requested) throw new Error('the request has no anoncredPresentationRequest')
    const content = { ...requested, nonce: requested.nonce ?? (await wallet.env.anoncreds.createNonce()) }
    return {
      terms: { anoncreds: content },
      attachments: encodedAttachments(content, anonCredsFormats.proofRequest),
      content,
      store: (tx) => storeNonce(tx, content.nonce),
    }
  },

  readRequest: (content) => ({ anoncreds: SupportedRequest.parse(content) }),

  async choose(wallet, record, choice) {
    assertEnabled(wallet.env.config)
    requireFormat('AnonCreds', choice)
    const request = requestOf(record)
    const { credential: id, keptBack } = readChoice(request, choice)
    requireProvable(request, keptBack)
    const [held] = await getHeldCredentials(wallet.db, [id], 'AnonCreds', 'credential')
    await checkFit(wallet, record, held!)
    return { proofId: [id], keptBack }
  },

  async present(wallet, record) {
    const [held] = await getHeldCredentials(wallet.db, record.proofId ?? [], 'AnonCreds')
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
    const { issuers = 'any', policy } = record
    const constraints = policy?.constraints ?? []
    const needsIssuer =
      issuers !== 'any' || constraints.some(({ trustedIssuers }) => trustedIssuers.length > 0)
    const trusted = credentials.map(({ issuerDid, schemas }) => {
      if (issuerDid === undefined && needsIssuer)
        throw new VerificationError(
          'issuer-not-trusted',
          'The issuer of the credential is not proved, and the request or its policy trusts only some issuers',
        )
      return { issuerDid: issuerDid ?? '', schemas }
    })
    checkPolicy(constraints, trusted)
    if (issuers !== 'any') {
      const checkTrust = createTrustCheck(wallet, issuers, createChainVerifier(wallet))
      for (const { issuerDid: issuer } of trusted) await checkTrust({ issuer })
    }
    const claims = toClaims(request, revealed)
    const checks = passed([
      'form',
      'nonce',
      'query',
      constraints.length > 0 && 'policy',
      restrictsIssuers(record) && 'trust',
      'signature',
    ])
    const shown = credentials.map(({ issuerDid, schemas, definition }, index) => ({
      format: 'anoncreds',
      issuer: issuerDid ?? definition,
      types: schemas,
      claims: index === 0 ? claims : {},
    }))
    return { disclosedClaims: claims, verification: { checks, credentials: shown } }
  },
}

/** The chosen credential, and the references of attributes that are not revealed. @throws {Problem} */
function readChoice(
  request: PresentationRequest,
  choice: PresentOptions,
): { credential: string; keptBack: string[] } {
  const { proofId, claims, anoncredPresentationRequest: chosen } = choice
  if (Object.keys(claims ?? {}).length > 0)
    throw refuse('claims: the request is for AnonCreds. Name what is shown in anoncredPresentationRequest.')
  if (!chosen && proofId?.length === 1) return { credential: proofId[0]!, keptBack: [] }
  const proofs = chosen?.credentialProofs ?? []
  const [first] = proofs
  if (!first)
    throw refuse(
      'anoncredPresentationRequest: name in credentialProofs the credential for each attribute and predicate.',
    )
  if (proofs.some(({ credential }) => credential !== first.credential))
    throw refuse(
      'anoncredPresentationRequest.credentialProofs: a proof uses one credential, and several are named. Name one.',
    )
  const all = (member: keyof Omit<CredentialProof, 'credential'>) => proofs.flatMap((proof) => proof[member])
  const keptBack = all('unrevealedAttribute')
  requireAnswers('attribute', Object.keys(request.requested_attributes), [
    ...all('requestedAttribute'),
    ...keptBack,
  ])
  requireAnswers('predicate', Object.keys(request.requested_predicates), all('requestedPredicate'))
  if (
    keptBack.length === Object.keys(request.requested_attributes).length &&
    all('requestedPredicate').length === 0
  )
    throw refuse('unrevealedAttribute: a proof must reveal or prove something. Reject the request instead.')
  return { credential: first.credential, keptBack }
}

function requireAnswers(item: string, requested: string[], answered: string[]): void {
  const unknown = answered.find((reference) => !requested.includes(reference))
  if (unknown !== undefined)
    throw refuse(
      `credentialProofs: the request has no ${item} ${unknown}. It has ${requested.join(', ') || 'none'}.`,
    )
  const twice = answered.find((reference, index) => answered.indexOf(reference) !== index)
  if (twice !== undefined) throw refuse(`credentialProofs: the ${item} ${twice} is answered twice.`)
  const open = requested.find((reference) => !answered.includes(reference))
  if (open !== undefined)
    throw refuse(`credentialProofs: the ${item} ${open} is not answered. Name it, or decline the request.`)
}

/**
 * A proof by one credential hides the attributes of its predicates.
 *
 * @throws {Problem} for one that would be revealed too
 */
function requireProvable(request: PresentationRequest, keptBack: readonly string[]): void {
  const hidden = Object.values(request.requested_predicates).map(({ name }) => attributeKey(name))
  const [reference, attribute] =
    Object.entries(request.requested_attributes).find(
      ([key, { name }]) => !keptBack.includes(key) && hidden.includes(attributeKey(name)),
    ) ?? []
  if (attribute)
    throw refuse(
      `The request asks for the attribute ${attribute.name} and for a predicate about it. A proof by one credential cannot have both: name ${reference} in unrevealedAttribute, or decline the request.`,
    )
}

/** Checks that a credential answers the whole request. @throws {Problem} */
async function checkFit(wallet: Wallet, record: PresentationRecord, held: HeldCredential): Promise<void> {
  const misfit = findMisfit(await fitOf(wallet, record, held))
  if (misfit !== undefined)
    throw refuse(`The credential ${held.id} ${misfit}. Present another, or decline the request.`)
}

/**
 * The references of a request that a credential can answer. It fetches the schema only if the request
 * restricts its members.
 *
 * @throws {Problem} if the schema is not available
 */
export async function fitOf(
  { env }: Wallet,
  record: PresentationRecord,
  { credential: text, issuer: issuerId }: HeldCredential,
): Promise<Fit> {
  const request = requestOf(record)
  const credential = Credential.parse(JSON.parse(text))
  const schema = needsSchema(request) ? await env.getAnonCredsSchema(credential.schema_id) : undefined
  return findFit(request, { credential, issuerId, schema })
}

function requestOf({ id, anoncreds }: PresentationRecord): PresentationRequest {
  if (!anoncreds) throw new Error(`the record ${id} has no request for AnonCreds`)
  return anoncreds
}

/** The revealed attributes by name, or by reference if the request has a name twice. */
function toClaims(
  { requested_attributes: attributes }: PresentationRequest,
  revealed: Record<string, string>,
): Record<string, string> {
  const names = Object.keys(revealed).map((reference) => attributes[reference]!.name)
  const isPlain = new Set(names).size === names.length
  return Object.fromEntries(
    Object.entries(revealed).map(([reference, text]) => [
      isPlain ? attributes[reference]!.name : reference,
      text,
    ]),
  )
}

/**
 * Stores a used nonce, because the proof for one request must not answer another.
 *
 * @throws {Problem} 409 if it was used before
 */
async function storeNonce(tx: Tx, text: string): Promise<void> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('proof_nonce')
    .values({ nonce: BigInt(text).toString() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (!numInsertedOrUpdatedRows)
    throw new Problem(
      'Conflict',
      'anoncredPresentationRequest.nonce: this wallet has used it before, and an old proof would be valid again. Leave it out to generate one.',
    )
}

function refuse(detail: string): Problem {
  return new Problem('BadRequest', detail)
}
