/** Requests to the enterprise suite over HTTP, a wallet with its own key, and holders that sign. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import { generateKey, sign, toPublic, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { createPeerDid } from '../../../src/did/peer.ts'
import { toMultikey } from '../../../src/did/multikey.ts'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import { createSession, type Product, type Session } from '../../../src/exchange/enterprise/session.ts'
import { startAgent, type TestAgent } from '../../support/agent.ts'

/** API key of the default tenant. */
export const keyOf = ({ agent }: TestAgent) => agent.defaultApiKey!.reveal()

export type Holder = {
  did: string
  key: PrivateJwk
  answer: (nonce: string) => { did: string; signature: string }
}

/** Creates a did:peer of numalgo 2 or 0 and the key that signs for it. */
export function newHolder(numalgo: 0 | 2 = 2): Holder {
  const [authentication, keyAgreement] = [generateKey('Ed25519'), generateKey('X25519')]
  const did =
    numalgo === 2
      ? createPeerDid({
          authentication: toPublic(authentication),
          keyAgreement: toPublic(keyAgreement),
          serviceUri: [],
        })
      : `did:peer:0${toMultikey(toPublic(authentication))}`
  return { did, key: authentication, answer: (nonce) => ({ did, signature: signed(authentication, nonce) }) }
}

/** Returns the signature over the UTF-8 bytes of a text, as base64url. */
export function signed(key: PrivateJwk, text: string): string {
  return toBase64url(sign(key, utf8(text)))
}

/** Matches a UUID without a prefix. */
export const bareUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * Runs `use` with the default tenant's wallet. Uses a RAM disk where there is one, because a thousand commits
 * to disk are slow.
 */
export async function withWallet(use: (wallet: Wallet, agent: TestAgent) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'identity-agent-'))
  try {
    await using started = await startAgent({ AUTH_CHALLENGE_EXPIRY: '600' }, { dataDir })
    const { walletId } = (await started.agent.tenants.keys.find(keyOf(started)))!
    await started.agent.wallets.use(walletId, (wallet) => use(wallet, started))
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Creates sessions of a product. */
export function beginMany(wallet: Wallet, product: Product, count: number): Promise<Session[]> {
  return Promise.all(Array.from({ length: count }, () => createSession(wallet, product, { from: undefined })))
}
