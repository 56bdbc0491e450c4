/** The credential endpoint (VCI §8): issues the credential of a session to the key that the wallet proves to have. */
import * as z from 'zod'
import { Problem } from '../base/problem.ts'
import { isSameKey } from '../crypto/keys.ts'
import { canonicalDid } from '../did/document.ts'
import { getRecord } from '../protocols/engine/find.ts'
import { advance, updateData } from '../protocols/engine/record.ts'
import { formatOf, type IssuedMessage } from '../protocols/issue-credential/format.ts'
import { issueCredential, type CredentialRecord } from '../protocols/issue-credential/model.ts'
import { noteCount } from '../storage/tx-context.ts'
import { LaterError, type Wallet } from '../wallet/wallet.ts'
import { authorize, type Presented } from './access-token.ts'
import { checkConfiguration, isFinalForm, proofsOf, readRequest } from './credential-request.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { nonceLifetimeSeconds, readNonce, useNonce } from './nonce.ts'
import { OAuthError } from './oauth-error.ts'
import { invalidNonce, invalidProof, verifyKeyProof, type KeyProof, type ProofChecks } from './proof.ts'
import type { SessionRow } from './session.ts'

export const CredentialResponse = z
  .object({
    credentials: z.array(z.object({ credential: z.string() })).optional(),
    credential: z.string().optional().describe('In the form of the Cloud Agent.'),
  })
  .meta({ id: 'CredentialResponse' })
export type CredentialResponse = z.infer<typeof CredentialResponse>

/** How often an index of a status list is chosen again, because another credential got it meanwhile. */
const attempts = 5

/**
 * Issues the credential. A repeated request with a proof of the same key returns the same credential, because the first response may be lost.
 *
 * @throws {OAuthError} with the reason, which the record then has too
 */
export async function issueToWallet(
  wallet: Wallet,
  issuer: IssuerRow,
  { body, ...presented }: Presented & { body: unknown },
): Promise<CredentialResponse> {
  const session = await authorize(wallet, issuer, presented)
  try {
    const request = readRequest(body)
    await checkConfiguration(wallet, issuer, session, request)
    const proofs = await verifyProofs(proofsOf(request), checksOf(wallet, issuer))
    const credentials = await issueOnce(wallet, session, proofs)
    if (!isFinalForm(request)) return { credential: credentials[0]! }
    return { credentials: credentials.map((credential) => ({ credential })) }
  } catch (error) {
    if (error instanceof OAuthError) await noteRefusal(wallet, session.record_id, error)
    throw error
  }
}

/** VCI §8.3: each key gets at most one credential. */
async function verifyProofs(all: readonly string[], checks: ProofChecks): Promise<KeyProof[]> {
  const proofs: KeyProof[] = []
  for (const jwt of all) {
    const proof = await verifyKeyProof(jwt, checks)
    if (proofs.some(({ key }) => isSameKey(key, proof.key)))
      throw invalidProof('two proofs of the batch are of the same key')
    proofs.push(proof)
  }
  return proofs
}

function checksOf(wallet: Wallet, { id }: IssuerRow): ProofChecks {
  const { env } = wallet
  return {
    resolve: env.resolver.document,
    audience: identifierOf(env.urls.rest, id),
    now: Math.floor(Date.now() / 1_000),
    leewaySeconds: env.config.PRESENTATION_LEEWAY,
    maxAgeSeconds: nonceLifetimeSeconds,
    readNonce: (nonce: string) => readNonce(wallet, id, nonce),
  }
}

/** Signs and stores the credentials, or returns those that were issued to the same keys. @throws {OAuthError} */
async function issueOnce(
  wallet: Wallet,
  { record_id: id }: SessionRow,
  proofs: readonly KeyProof[],
): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const record = await getRecord(wallet.db, issueCredential, id)
    if (record.state === 'CredentialSent') return issuedTo(record, proofs)
    if (record.state !== 'OfferRedeemed')
      throw new OAuthError('credential_request_denied', `The offer cannot be used any more: ${record.state}.`)
    try {
      return await issueNow(wallet, record, proofs)
    } catch (error) {
      // Another request was faster, or another credential got the index of the status list.
      const isRace = error instanceof LaterError || isWrongState(error)
      if (!isRace || attempt === attempts) throw error
    }
  }
}

/** Signs before the transaction, which uses up the nonces. */
async function issueNow(
  wallet: Wallet,
  record: CredentialRecord,
  proofs: readonly KeyProof[],
): Promise<string[]> {
  const issued: Issued[] = []
  for (const { holderDid, key: holderKey } of proofs) {
    const made = await formatOf(record).issue(wallet, { ...record, holderDid, holderKey })
    issued.push({ ...made, holderDid, holderKey })
  }
  const [first, ...more] = issued as [Issued, ...Issued[]]
  const { holderDid, holderKey, credential } = first
  const batch = more.map((each) => ({ holderDid: each.holderDid, credential: each.credential }))
  const holder = { holderDid, subjectId: holderDid, holderKey }
  const further = batch.length > 0 ? { batch } : {}
  const change = { ...holder, credential, metaLastFailure: undefined, ...further }
  const nonces = new Map(proofs.map(({ nonce, nonceEndsMs }) => [nonce, nonceEndsMs]))
  await wallet.transaction(async (tx) => {
    for (const [nonce, endsMs] of nonces) if (!(await useNonce(tx, nonce, endsMs))) throw invalidNonce()
    await advance(tx, issueCredential, record, 'received credential request', change)
    for (const { store } of issued) {
      await store?.(tx)
      noteCount(tx, 'agent_credentials_issued_total', { format: record.credentialFormat })
    }
  })
  return issued.map((each) => each.credential)
}

type Issued = { holderDid: string; holderKey: KeyProof['key'] } & IssuedMessage

/** The credentials of a record in the order of the proofs. */
function issuedTo(
  { credential, holderDid, batch = [] }: CredentialRecord,
  proofs: readonly KeyProof[],
): string[] {
  const all = [{ holderDid, credential }, ...batch]
  return proofs.map((proof) => {
    const own = all.find((each) => canonicalDid(each.holderDid ?? '') === canonicalDid(proof.holderDid))
    if (own?.credential === undefined)
      throw new OAuthError('credential_request_denied', 'The credential was issued to another key.')
    return own.credential
  })
}

function isWrongState(error: unknown): boolean {
  return error instanceof Problem && error.type === issueCredential.problems.wrongState
}

/** Stores why a request was refused, for the trace. The wallet may send a better one. */
async function noteRefusal(wallet: Wallet, recordId: string, error: OAuthError): Promise<void> {
  const title = error.code.replaceAll('_', ' ')
  const metaLastFailure = { status: error.status, type: error.code, title, detail: error.message }
  await wallet.transaction(async (tx) => {
    const record = await getRecord(tx, issueCredential, recordId)
    if (record.state === 'OfferRedeemed') await updateData(tx, record, { metaLastFailure })
  })
}
