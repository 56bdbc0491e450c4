/** The state of an own DID between its row and the rules: the last one that the ledger confirmed, or the one it was made with. */
import { z } from 'zod'
import { usages, type Usage } from '../did/prism/model.ts'
import type { DidContent, DidState } from '../did/prism/state.ts'

const Hash = z.string().regex(/^[0-9a-f]{64}$/)
const PublicJwk = z.object({
  kty: z.enum(['OKP', 'EC']),
  crv: z.enum(['secp256k1', 'Ed25519', 'X25519']),
  x: z.string(),
  y: z.string().exactOptional(),
})

const StoredContent = z.object({
  publicKeys: z.array(
    z.object({ id: z.string(), usage: z.enum(Object.keys(usages) as Usage[]), publicKey: PublicJwk }),
  ),
  services: z.array(z.object({ id: z.string(), type: z.string(), serviceEndpoint: z.string() })),
  contexts: z.array(z.string()),
  retiredKeyIds: z.array(z.string()),
  retiredServiceIds: z.array(z.string()),
  deactivated: z.boolean(),
})

const StoredState = StoredContent.extend({
  suffix: Hash,
  lastOperationHash: Hash,
  createdAt: z.string().exactOptional(),
  updatedAt: z.string().exactOptional(),
})

/** What a DID of any method says of itself. @throws when the row was not written by this agent. */
export function readContent(json: string): DidContent {
  return StoredContent.parse(JSON.parse(json))
}

/** The state of a did:prism. @throws as `readContent`. */
export function readState(json: string): DidState {
  return StoredState.parse(JSON.parse(json))
}

export function writeState(state: DidContent): string {
  return JSON.stringify(state)
}
