/** Type metadata of others that the type of a configuration extends: they are read when it is set. */
import { integrityOf } from '../../credentials/codecs/sd-jwt/type-metadata.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { readTypeChain } from '../../credentials/display/type-chain.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { Extended } from './configuration-settings.ts'
import { getBytes } from './holder/caller.ts'

/** @throws {Problem} 400 for a type that cannot be read, or that wallets would refuse; 503 */
export async function readExtended(wallet: Wallet, uri: string): Promise<Extended> {
  try {
    const read = (url: string) => getBytes({ wallet, calls: [] }, url)
    const document = await read(uri)
    const integrity = integrityOf(document)
    await readTypeChain({ vct: uri, integrity }, (url) =>
      url === uri ? Promise.resolve(document) : read(url),
    )
    return { uri, integrity }
  } catch (cause) {
    const isExpected = cause instanceof VerificationError || (cause instanceof Problem && !isTemporary(cause))
    if (!isExpected) throw cause
    throw new Problem('BadRequest', `extends: ${cause.message.replace(/\.?$/, '.')}`, { cause })
  }
}
