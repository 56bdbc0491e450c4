/**
 * The requests to the credential endpoint and the deferred credential endpoint (VCI §8.2, §9.1), and their
 * responses.
 */
import * as z from 'zod'
import { ifValid } from '../../../foundation/foreign.ts'
import type { HolderKey } from '../../../wallet/did-registrar/holder-key.ts'
import type { Answer } from './answer.ts'
import { type Caller, post, readAnswer, refused } from './caller.ts'
import { sealRequest } from './encryption.ts'
import { createProofs } from './key-proof.ts'
import type { OfferRecord } from './record.ts'
import { openSecrets } from './secrets.ts'

/** The pause that the wallet makes between two requests at least, and at most. */
const [shortestSeconds, longestSeconds] = [1, 86_400]

/** The pause if a server names none. */
const defaultSeconds = 5

const longestCredential = 1_000_000

const CredentialResponse = z.looseObject({
  credentials: z
    .array(z.looseObject({ credential: z.string('is not text').min(1).max(longestCredential) }))
    .optional(),
  notification_id: ifValid(z.string().max(1_000)),
  transaction_id: z.string().min(1).max(1_000).optional(),
})

export type Outcome =
  | { credentials: string[]; notificationId?: string | undefined }
  | { transactionId: string; intervalSeconds: number }

/** @throws {Problem} `IssuerRefused`; 503 if another attempt may succeed */
export async function askForCredential(
  caller: Caller,
  record: OfferRecord,
  keys: readonly HolderKey[],
): Promise<Outcome> {
  const { receivedOffer } = record
  const { credentialIdentifier, credentialConfigurationId, endpoints } = receivedOffer
  const ask = async () => {
    const isBound = keys.length > 0
    const nonce = isBound ? await newNonce(caller, endpoints.nonce) : undefined
    const proofs = isBound && (await createProofs(caller.wallet, record, keys, nonce))
    const about =
      credentialIdentifier === undefined
        ? { credential_configuration_id: credentialConfigurationId }
        : { credential_identifier: credentialIdentifier }
    return send(caller, record, endpoints.credential, { ...about, ...(proofs && { proofs }) })
  }
  const first = await ask()
  // Another nonce may have been used meanwhile, or the first one has expired.
  const answer = first.error === 'invalid_nonce' ? await ask() : first
  return toOutcome(answer, endpoints.credential, keys)
}

/** @throws {Problem} as `askForCredential` */
export async function askForDeferred(
  caller: Caller,
  record: OfferRecord,
  keys: readonly HolderKey[],
): Promise<Outcome> {
  const { transactionId, endpoints } = record.receivedOffer
  const { deferred: url, credential } = endpoints
  if (url === undefined || transactionId === undefined)
    throw refused(
      credential,
      'the issuer defers the credential, and its metadata have no deferred_credential_endpoint',
    )
  const answer = await send(caller, record, url, { transaction_id: transactionId })
  // The error of earlier drafts, which servers still send.
  if (answer.error === 'issuance_pending') return { transactionId, intervalSeconds: secondsIn(answer) }
  return toOutcome(answer, url, keys, transactionId)
}

/** VCI §7. */
async function newNonce(caller: Caller, url: string | undefined): Promise<string | undefined> {
  if (url === undefined) return undefined
  const answer = await post(caller, url, {})
  return readAnswer(z.looseObject({ c_nonce: z.string().min(1).max(10_000) }), answer, url).c_nonce
}

async function send(caller: Caller, record: OfferRecord, url: string, json: object): Promise<Answer> {
  const { accessToken, dpopKey } = openSecrets(caller.wallet, record)
  if (accessToken === undefined) throw new Error(`the record ${record.id} has no access token`)
  const { encryption } = record.receivedOffer
  if (!encryption) return post(caller, url, { json, accessToken, dpopKey })
  const { jwt, open } = await sealRequest(encryption, json)
  return open(await post(caller, url, { jwt, accessToken, dpopKey }), url)
}

function toOutcome(answer: Answer, url: string, keys: readonly HolderKey[], known?: string): Outcome {
  const response = readAnswer(CredentialResponse, answer, url)
  const { credentials = [], notification_id: notificationId, transaction_id: transactionId } = response
  // VCI §8.3: an issuer may issue fewer.
  if (credentials.length > Math.max(keys.length, 1))
    throw refused(url, `its response has ${credentials.length} credentials for ${keys.length} keys`)
  if (credentials.length > 0)
    return { credentials: credentials.map(({ credential }) => credential), notificationId }
  if (transactionId === undefined)
    throw refused(url, 'its response has neither credentials nor transaction_id')
  if (known !== undefined && transactionId !== known)
    throw refused(url, 'its response has another transaction_id than the request')
  return { transactionId, intervalSeconds: secondsIn(answer) }
}

function secondsIn({ body }: Answer): number {
  const interval = body?.['interval']
  const seconds = typeof interval === 'number' && interval > 0 ? interval : defaultSeconds
  return Math.min(Math.max(seconds, shortestSeconds), longestSeconds)
}
