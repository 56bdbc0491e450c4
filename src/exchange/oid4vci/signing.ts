/** Signs the credentials of a request, each for another key that the wallet proved to have. */
import { toBase64url } from '../../foundation/bytes.ts'
import { type PublicJwk, thumbprintOf } from '../../foundation/crypto/keys.ts'
import { includesDid } from '../../did/document.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { noteCount } from '../../foundation/storage/tx-context.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { wrongState } from '../engine/protocol.ts'
import { issuanceFormats } from '../issuance/format.ts'
import { type Instance, maxInstances } from '../issuance/instance.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import { signCredential, type SignedCredential } from '../issuance/sign.ts'
import { invalidNonce, isUsed, useNonce } from './nonce.ts'
import { type Sourced, withSourced } from './sourced.ts'

/** A key of the wallet, and the DID that names it. */
export type HolderKey = NonNullable<CredentialRecord['requestedKeys']>[number]

/** The keys that a request proved, and the nonces of its proofs, each with its end in milliseconds since 1970. */
export type Proven = { keys: readonly HolderKey[]; nonces: ReadonlyMap<string, number> }

type Issued = { holderDid: string; holderKey: HolderKey['key'] } & SignedCredential

/** A repeated request must be for the keys of the first. @throws {OAuthError} `credential_request_denied` */
export function assertRequested(requested: readonly HolderKey[], keys: readonly HolderKey[]): undefined {
  const dids = requested.map(({ holderDid }) => holderDid)
  if (!keys.every(({ holderDid }) => includesDid(dids, holderDid)))
    throw new OAuthError('credential_request_denied', 'The credential was requested for another key.')
}

/** Signs a credential for each key. `store` stores their entries of status lists. */
export async function signAll(
  wallet: Wallet,
  record: CredentialRecord,
  keys: readonly HolderKey[],
  sourced: Sourced | undefined,
) {
  const { signed, kept } = withSourced(record, sourced)
  const issued: Issued[] = []
  for (const { holderDid, key: holderKey } of keys) {
    const made = await signCredential(wallet, { ...signed, holderDid, holderKey })
    issued.push({ ...made, holderDid, holderKey })
  }
  const [first, ...more] = issued as [Issued, ...Issued[]]
  const { holderDid, holderKey, credential } = first
  const batch = more.map((each) => ({ holderDid: each.holderDid, credential: each.credential }))
  const holder = { holderDid, subjectId: holderDid, holderKey }
  const further = { batch: batch.length > 0 ? batch : undefined }
  const { claims } = record
  const made = issued.map((each) => toInstance(record, each))
  const instances = [...(record.instances ?? []), ...made].slice(-maxInstances)
  return {
    change: { claims, ...kept, ...holder, credential, instances, metaLastFailure: undefined, ...further },
    credentials: issued.map((each) => each.credential),
    store: async (tx: Tx) => {
      for (const each of issued) {
        await each.store(tx)
        noteCount(tx, 'agent_credentials_issued_total', { format: record.credentialFormat })
      }
    },
  }
}

function toInstance(
  { credentialFormat }: CredentialRecord,
  { holderKey, credential, statusListIndex }: Issued,
): Instance {
  const { validUntil } = issuanceFormats[credentialFormat].read(credential)
  return {
    keyThumbprint: toBase64url(thumbprintOf(holderKey as PublicJwk)),
    statusListIndex,
    issuedAt: new Date().toISOString(),
    ...(validUntil !== undefined && { expiresAt: new Date(validUntil * 1_000).toISOString() }),
  }
}

/** A nonce is of one request: all proofs of a batch may have it. @throws {OAuthError} `invalid_nonce` */
export async function useNonces(tx: Tx, nonces: Proven['nonces']): Promise<void> {
  for (const [nonce, endsMs] of nonces) if (!(await useNonce(tx, nonce, endsMs))) throw invalidNonce()
}

/**
 * Refuses a proof that was used, before a claims source is asked for it. The same request at once is a race,
 * as when its nonces are stored.
 *
 * @throws {OAuthError} `invalid_nonce`
 * @throws {Problem} 429 for too many requests; if another request was faster
 */
export async function assertUnused(
  wallet: Wallet,
  record: CredentialRecord,
  nonces: Proven['nonces'],
): Promise<void> {
  await wallet.env.limitOffers(record.id)
  for (const nonce of nonces.keys()) {
    if (!(await isUsed(wallet.db, nonce))) continue
    const current = await getRecord(wallet.db, issueCredential, record.id)
    const isSame = current.state === record.state && current.renewed?.token === record.renewed?.token
    if (isSame) throw invalidNonce()
    throw wrongState(issueCredential, current, 'received credential request')
  }
}
