/**
 * The other side of both products (ours): this wallet answers somebody else's DID request or challenge (service §2.10–2.12).
 *
 * What a challenge says of itself is compared with what its nonce says, where it says anything: a challenge that somebody shows on a site of
 * their own, to pass the signature on, is not signed.
 */
import { z } from 'zod'
import { toBase64url, utf8 } from '../base/bytes.ts'
import { newId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import { sign, type PrivateJwk } from '../crypto/keys.ts'
import { UnreachableError } from '../net/unreachable-error.ts'
import { optional } from '../wallet/model.ts'
import { deletePeerDid, savePeerDid, newPeerDid, findFirstPeerKey, hasPeerDid } from '../wallet/peer-dids.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { challengeType } from './authentication.ts'
import { From, SubmittedDid } from './model.ts'
import { readNonce } from './signature.ts'
import { didRequestType } from './onboarding.ts'
import type { Product } from './session.ts'
import { keysFor } from '../did/document.ts'
import { getOwnDid, isOwnDid } from '../did-registrar/dids.ts'
import { getSigningKey } from '../did-registrar/keys.ts'

const Endpoint = z.url({ protocol: /^https?$/ }).max(2_000)

export const AnswerDidRequest = z
  .object({
    didRequest: z.object({
      type: z.literal(didRequestType).optional(),
      onboardEndpoint: Endpoint,
      from: optional(From),
    }),
    did: optional(SubmittedDid).describe('A DID of this wallet. Left out, a new did:peer is made.'),
    decline: z.boolean().default(false).describe('Answers that there is no DID to be had.'),
  })
  .meta({ id: 'AnswerDidRequest' })
export type AnswerDidRequest = z.output<typeof AnswerDidRequest>

export const OnboardAnswer = z
  .object({
    endpoint: z.url(),
    from: From.optional(),
    did: z.string().nullable().describe('The DID that was handed over; null when there was none.'),
  })
  .meta({ id: 'OnboardAnswer' })
export type OnboardAnswer = z.infer<typeof OnboardAnswer>

export const AnswerChallenge = z
  .object({
    challenge: z.object({
      type: z.literal(challengeType).optional(),
      submissionEndpoint: Endpoint,
      nonce: z.string().min(1).max(10_000),
      from: optional(From),
    }),
    did: SubmittedDid.describe('A DID of this wallet that has a key for authentication.'),
  })
  .meta({ id: 'AnswerChallenge' })
export type AnswerChallenge = z.output<typeof AnswerChallenge>

export const AuthenticationAnswer = z
  .object({ endpoint: z.url(), from: From.optional(), did: z.string() })
  .meta({ id: 'AuthenticationAnswer' })
export type AuthenticationAnswer = z.infer<typeof AuthenticationAnswer>

/** Hands a DID of the wallet over, or declines. @throws {Problem} 404 when the DID is not the wallet's, 422 and 502 when nobody took the answer. */
export async function answerDidRequest(
  wallet: Wallet,
  { didRequest, did: wanted, decline }: AnswerDidRequest,
): Promise<OnboardAnswer> {
  const { onboardEndpoint: endpoint, from } = didRequest
  const did = decline ? null : wanted === undefined ? await makeDid(wallet) : await findOwnDid(wallet, wanted)
  try {
    // Whoever hears that there is no DID answers that this is none.
    await submit(wallet, 'onboard', endpoint, { did }, decline ? [200, 400] : [200])
  } catch (error) {
    // Whoever cannot be reached may have taken it all the same.
    const isRefused = error instanceof Problem && error.type === '/errors/onboard/submission-refused'
    if (wanted === undefined && did !== null && isRefused)
      await wallet.transaction((tx) => deletePeerDid(tx, did))
    throw error
  }
  return { endpoint, ...(from !== undefined && { from }), did }
}

/** Signs a challenge with a DID of the wallet. @throws {Problem} 400 for a challenge that is somebody else's, and as `answerDidRequest`. */
export async function answerChallenge(
  wallet: Wallet,
  { challenge, did: wanted }: AnswerChallenge,
): Promise<AuthenticationAnswer> {
  const { submissionEndpoint: endpoint, nonce, from } = challenge
  mustBeTheirs(endpoint, nonce, from)
  const { did, privateJwk } = await findSigner(wallet, wanted)
  await submit(wallet, 'authenticate', endpoint, {
    did,
    signature: toBase64url(sign(privateJwk, utf8(nonce))),
  })
  return { endpoint, ...(from !== undefined && { from }), did }
}

/** A DID that nobody else is given, without an address: it signs, and takes no messages. */
async function makeDid(wallet: Wallet): Promise<string> {
  const peer = newPeerDid(wallet, { services: [] })
  await wallet.transaction((tx) => savePeerDid(tx, wallet, peer, newId()))
  return peer.did
}

/** The nonces of other agents say nothing, and are signed as they are. */
function mustBeTheirs(endpoint: string, nonce: string, from: string | undefined): void {
  const said = readNonce(nonce)
  if (!said) return
  const asked = `${from ?? 'somebody'} at ${new URL(endpoint).origin}`
  const bound = `${said.from ?? 'somebody'} at ${new URL(said.aud).origin}`
  if (asked === bound) return
  throw new Problem(
    '/errors/authenticate/foreign-challenge',
    `challenge: it says that it is of ${asked}, and what is to be signed is of ${bound}. Somebody may be passing it on: nothing was signed.`,
  )
}

/** Wallets take exactly 200 for success. Of an answer that is none, only the status is told: what a foreign server writes is nobody's business here. */
async function submit(
  wallet: Wallet,
  product: Product,
  endpoint: string,
  body: object,
  successes = [200],
): Promise<void> {
  const { host } = new URL(endpoint)
  const request = {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    timeoutMs: 15_000,
  }
  const { status } = await wallet.env.http.post(endpoint, request).catch((error: unknown) => {
    if (!(error instanceof UnreachableError)) throw error
    throw new Problem('/errors/common/unreachable', `Nobody took the answer: ${error.message}.`, {
      cause: error,
    })
  })
  if (successes.includes(status)) return
  const why = reasons[status] ?? `it answered with status ${status}`
  throw new Problem(`/errors/${product}/submission-refused`, `${host} did not take the answer: ${why}.`)
}

const reasons: Readonly<Record<number, string>> = {
  400: 'it does not accept it',
  404: 'it knows nothing of such a link',
  410: 'the link was used already, or its time is over',
  429: 'too many answers have come; try again later',
}

/** A DID of the wallet in the form that others can resolve. @throws {Problem} 404 */
export async function findOwnDid(wallet: Wallet, did: string): Promise<string> {
  if (await hasPeerDid(wallet.db, did)) return did
  if (!isRegistrars(did) || !(await isOwnDid(wallet.db, did))) throw notOwn('onboard', did)
  return shownForm(wallet, did)
}

/** A DID of the wallet and a key that signs for it. @throws {Problem} 404 when it is not the wallet's, 400 when it has no key for authentication. */
export async function findSigner(
  wallet: Wallet,
  did: string,
): Promise<{ did: string; privateJwk: PrivateJwk }> {
  if (await hasPeerDid(wallet.db, did)) {
    const kids = keysFor(await wallet.env.resolver.document(did), 'authentication').map(({ id }) => id)
    const key = await findFirstPeerKey(wallet, kids)
    if (key) return { did, privateJwk: key.privateJwk }
  }
  if (!isRegistrars(did) || !(await isOwnDid(wallet.db, did))) throw notOwn('authenticate', did)
  const { privateJwk } = await getSigningKey(wallet, did, 'authentication', undefined, 'Ed25519')
  return { did: await shownForm(wallet, did), privateJwk }
}

/** Whether a DID is of a method that the wallet makes with keys of its choosing. */
const isRegistrars = (did: string) => /^did:(prism|web):/.test(did)

/** While nobody else can resolve the short form, only the long form says anything. */
async function shownForm(wallet: Wallet, didRef: string): Promise<string> {
  const { did, longForm, status } = await getOwnDid(wallet.db, didRef)
  return status === 'PUBLISHED' ? did : longForm
}

function notOwn(product: Product, did: string): Problem {
  return new Problem(
    `/errors/${product}/did-not-in-wallet`,
    `did: ${did.slice(0, 100)} is not a DID of this wallet.`,
  )
}
