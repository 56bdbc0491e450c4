/** Type metadata of others that the type of a configuration extends: they are read when it is set. */
import { integrityOf } from '../../credentials/codecs/sd-jwt/type-metadata.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { readTypeChain } from '../../credentials/display/type-chain.ts'
import { isLocalHost } from '../../foundation/net/public-url.ts'
import { UnreachableError } from '../../foundation/net/unreachable-error.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { Extended } from './configuration-settings.ts'

const limits = { timeoutMs: 10_000, maxBytes: 1_048_576 }

/** @throws {Problem} 400 for a type that cannot be read, or that wallets would refuse */
export async function readExtended(wallet: Wallet, uri: string): Promise<Extended> {
  try {
    const document = await read(wallet, uri)
    const integrity = integrityOf(document)
    await readTypeChain({ vct: uri, integrity }, (url) =>
      url === uri ? Promise.resolve(document) : read(wallet, url),
    )
    return { uri, integrity }
  } catch (cause) {
    if (!(cause instanceof VerificationError || cause instanceof UnreachableError)) throw cause
    throw new Problem('BadRequest', `extends: ${cause.message}.`, { cause })
  }
}

async function read({ env }: Wallet, url: string): Promise<Uint8Array> {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' && !isLocalHost(hostname))
    throw new VerificationError('malformed', `The type metadata at ${url} are not at an https URL`)
  const headers = { accept: 'application/json' }
  const request = {
    method: 'GET' as const,
    headers,
    encoding: 'base64' as const,
    purpose: 'document' as const,
  }
  const { status, text } = await env.http.exchange(url, { ...request, ...limits })
  if (status !== 200)
    throw new VerificationError('malformed', `The type metadata at ${url} cannot be read: status ${status}`)
  return Buffer.from(text, 'base64')
}
