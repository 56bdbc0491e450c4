/** New DIDs of the wallet for commands and the dashboard that find none. */
import type { Client } from '../../daemon/client/client.ts'
import { canonicalDid } from '../../src/definitions/did-names.ts'

/** The ids of the keys of such a DID. */
export const usualKeys = { authentication: 'auth-1', assertion: 'assertion-1' } as const

/** Creates a DID like `agent did create`. Returns its short form. */
export async function createDid(call: Client): Promise<string> {
  const curve = 'secp256k1'
  const publicKeys = [
    { id: usualKeys.authentication, purpose: 'authentication' as const, curve },
    { id: usualKeys.assertion, purpose: 'assertionMethod' as const, curve },
  ] as const
  const { longFormDid } = await call('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [...publicKeys] } },
  })
  return canonicalDid(longFormDid)
}

/** Creates a DID and begins its publication, which an issuer needs. Returns its short form. */
export async function createPublished(call: Client): Promise<string> {
  const didRef = await createDid(call)
  await call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef } })
  return didRef
}
