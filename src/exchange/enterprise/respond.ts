/**
 * Answers of this wallet to the DID requests and challenges of other agents.
 *
 * A challenge is compared with the content of its nonce before it is signed: a site could show the challenge
 * of another site, to sign in there with the signature.
 */
import * as z from 'zod'
import { toBase64url, utf8 } from '../../foundation/bytes.ts'
import { newId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { sign, type PrivateJwk } from '../../foundation/crypto/keys.ts'
import { findShortUrl } from '../../foundation/net/short-url.ts'
import { UnreachableError } from '../../foundation/net/unreachable-error.ts'
import { optional } from '../../wallet/model.ts'
import {
  deletePeerDid,
  savePeerDid,
  newPeerDid,
  findFirstPeerKey,
  hasPeerDid,
} from '../../wallet/peer-dids.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { challengeType } from './authentication.ts'
import { From, SubmittedDid } from './model.ts'
import { parseNonce } from './signature.ts'
import { didRequestType } from './onboarding.ts'
import type { Session } from './session.ts'
import { keysFor } from '../../did/document.ts'
import { getManagedDid, isManagedDid, isRegistrarDid } from '../../wallet/did-registrar/dids.ts'
import { getSigningKey } from '../../wallet/did-registrar/keys.ts'

const Endpoint = z.url({ protocol: /^https?$/ }).max(2_000)

export const AnswerableDidRequest = z.object({
  type: z.literal(didRequestType).optional(),
  onboardEndpoint: Endpoint,
  from: optional(From),
})

export const AnswerableChallenge = z.object({
  type: z.literal(challengeType).optional(),
  submissionEndpoint: Endpoint,
  nonce: z.string().min(1).max(10_000),
  from: optional(From),
})

const shortUrl = z
  .string()
  .max(2_000)
  .optional()
  .describe('The short URL of the QR code, instead of its document.')

export const AnswerDidRequest = z
  .object({
    didRequest: AnswerableDidRequest.optional(),
    shortUrl,
    did: optional(SubmittedDid).describe('A DID of this wallet. A new did:peer when absent.'),
    decline: z.boolean().default(false).describe('Declines the request.'),
  })
  .refine(({ didRequest, shortUrl }) => didRequest !== undefined || shortUrl !== undefined, {
    path: ['didRequest'],
    message: 'is missing: give the DID request or its shortUrl',
  })
  .meta({ id: 'AnswerDidRequest' })
export type AnswerDidRequest = z.output<typeof AnswerDidRequest>

export const OnboardAnswer = z
  .object({
    endpoint: z.url(),
    from: From.optional(),
    did: z.string().nullable().describe('The DID that was sent; null when the request was declined.'),
  })
  .meta({ id: 'OnboardAnswer' })
export type OnboardAnswer = z.infer<typeof OnboardAnswer>

export const AnswerChallenge = z
  .object({
    challenge: AnswerableChallenge.optional(),
    shortUrl,
    did: SubmittedDid.describe('A DID of this wallet that has a key for authentication.'),
  })
  .refine(({ challenge, shortUrl }) => challenge !== undefined || shortUrl !== undefined, {
    path: ['challenge'],
    message: 'is missing: give the challenge or its shortUrl',
  })
  .meta({ id: 'AnswerChallenge' })
export type AnswerChallenge = z.output<typeof AnswerChallenge>

export const AuthenticationAnswer = z
  .object({ endpoint: z.url(), from: From.optional(), did: z.string() })
  .meta({ id: 'AuthenticationAnswer' })
export type AuthenticationAnswer = z.infer<typeof AuthenticationAnswer>

/**
 * Answers a DID request.
 *
 * @throws {Problem} 404 when the DID is not the wallet's; 422 and 502 when the answer was not accepted.
 */
export async function answerDidRequest(
  wallet: Wallet,
  { didRequest, shortUrl = '', did: wanted, decline }: AnswerDidRequest,
): Promise<OnboardAnswer> {
  const { onboardEndpoint: endpoint, from } =
    didRequest ??
    (await retrieveDocument(wallet, shortUrl, { type: AnswerableDidRequest, noun: 'DID request' }))
  const did = decline
    ? null
    : wanted === undefined
      ? await createSigningDid(wallet)
      : await getWalletDid(wallet, wanted)
  try {
    // Agents reply to a declined request with 400, since it has no DID.
    await submit(wallet, 'onboard', endpoint, { did }, decline ? [200, 400] : [200])
  } catch (error) {
    // Keep the DID after a network error: the other side may have stored it.
    const isRefused = error instanceof Problem && error.type === '/errors/onboard/submission-refused'
    if (wanted === undefined && did !== null && isRefused)
      await wallet.transaction((tx) => deletePeerDid(tx, did))
    throw error
  }
  return { endpoint, ...(from !== undefined && { from }), did }
}

/** Signs a challenge. @throws {Problem} 400 for a challenge that was passed on, and as `answerDidRequest`. */
export async function answerChallenge(
  wallet: Wallet,
  { challenge, shortUrl = '', did: wanted }: AnswerChallenge,
): Promise<AuthenticationAnswer> {
  const {
    submissionEndpoint: endpoint,
    nonce,
    from,
  } = challenge ??
  (await retrieveDocument(wallet, shortUrl, { type: AnswerableChallenge, noun: 'challenge' }))
  assertSameOrigin(endpoint, nonce, from)
  const { did, privateJwk } = await getSigner(wallet, wanted)
  await submit(wallet, 'authenticate', endpoint, {
    did,
    signature: toBase64url(sign(privateJwk, utf8(nonce))),
  })
  return { endpoint, ...(from !== undefined && { from }), did }
}

/**
 * The document of a short URL.
 *
 * @throws {Problem} `/errors/common/bad-request` for another URL, and for a document that is not of the type;
 * `RetrievalFailed`
 */
async function retrieveDocument<Type extends z.ZodType>(
  { env }: Wallet,
  shortUrl: string,
  { type, noun }: { type: Type; noun: string },
): Promise<z.output<Type>> {
  const refuse = (reason: string) => new Problem('/errors/common/bad-request', `shortUrl: ${reason}.`)
  const url = findShortUrl(shortUrl)
  if (!url) throw refuse('it is not an http or https URL with _oobid. Use the whole URL of the QR code')
  const parsed = type.safeParse(await env.retrieve(url))
  if (!parsed.success) throw refuse(`what ${url.host} returned is not a ${noun}: ${reasonOf(parsed.error)}`)
  return parsed.data
}

/** A new DID for this answer only. It has no service, so it receives no messages. */
async function createSigningDid(wallet: Wallet): Promise<string> {
  const peer = newPeerDid(wallet, { services: [] })
  await wallet.transaction((tx) => savePeerDid(tx, wallet, peer, newId()))
  return peer.did
}

/** Compares the challenge with its nonce. Nonces of other software have no content, and are signed unchecked. */
function assertSameOrigin(endpoint: string, nonce: string, from: string | undefined): void {
  const content = parseNonce(nonce)
  if (!content) return
  const claimed = `${from ?? 'an unnamed party'} at ${new URL(endpoint).origin}`
  const signed = `${content.from ?? 'an unnamed party'} at ${new URL(content.aud).origin}`
  if (claimed === signed) return
  throw new Problem(
    '/errors/authenticate/foreign-challenge',
    `challenge: it claims to come from ${claimed}, but its nonce was made by ${signed}. A third party may have passed it on. Nothing was signed.`,
  )
}

/** Posts an answer. Of a failure only the status is reported, never the text of the other server. */
async function submit(
  wallet: Wallet,
  product: Session['product'],
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
    throw new Problem('/errors/common/unreachable', `The answer could not be delivered: ${error.message}.`, {
      cause: error,
    })
  })
  if (successes.includes(status)) return
  const why = reasons[status] ?? `it answered with status ${status}`
  throw new Problem(`/errors/${product}/submission-refused`, `${host} did not accept the answer: ${why}.`)
}

const reasons: Readonly<Record<number, string>> = {
  400: 'it is not valid',
  404: 'the link is unknown there',
  410: 'the link was used already, or has expired. If this wallet has just answered, it is done',
  429: 'it received too many answers; try again later',
}

/** A DID of the wallet in the form that others can resolve. @throws {Problem} 404 */
async function getWalletDid(wallet: Wallet, did: string): Promise<string> {
  if (await hasPeerDid(wallet.db, did)) return did
  if (!isRegistrarDid(did) || !(await isManagedDid(wallet.db, did))) throw notInWallet('onboard', did)
  return toResolvableForm(wallet, did)
}

/**
 * A DID of the wallet and its signing key.
 *
 * @throws {Problem} 404 when it is not the wallet's, 400 when it has no key for authentication.
 */
async function getSigner(wallet: Wallet, did: string): Promise<{ did: string; privateJwk: PrivateJwk }> {
  if (await hasPeerDid(wallet.db, did)) {
    const kids = keysFor(await wallet.env.resolver.document(did), 'authentication').map(({ id }) => id)
    const key = await findFirstPeerKey(wallet, kids)
    if (key) return { did, privateJwk: key.privateJwk }
  }
  if (!isRegistrarDid(did) || !(await isManagedDid(wallet.db, did))) throw notInWallet('authenticate', did)
  const { privateJwk } = await getSigningKey(wallet, did, 'authentication', undefined, 'Ed25519')
  return { did: await toResolvableForm(wallet, did), privateJwk }
}

/** The long form until the DID is published: others cannot resolve the short form before. */
async function toResolvableForm(wallet: Wallet, didRef: string): Promise<string> {
  const { did, longForm, status } = await getManagedDid(wallet.db, didRef)
  return status === 'PUBLISHED' ? did : longForm
}

function notInWallet(product: Session['product'], did: string): Problem {
  return new Problem(
    `/errors/${product}/did-not-in-wallet`,
    `did: ${did.slice(0, 100)} is not a DID of this wallet.`,
  )
}
