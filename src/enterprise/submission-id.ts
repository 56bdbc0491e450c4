/**
 * Submission ids: the last part of the public link of a DID request or a challenge (service §2.10, §2.11).
 *
 * It is the wallet's id, sealed for one product: the public endpoint finds the wallet without a table, nobody can make one, and two links
 * of one wallet do not look alike. An id that opens was issued here, whatever has become of what it was issued for.
 */
import { fromHex, toHex } from '../base/bytes.ts'
import { sealToken, unsealToken } from '../base/seal.ts'
import type { Product } from './states.ts'

/** Makes an id for a link of a wallet, never the same twice; about 55 characters of base58. */
export function newSubmissionId(key: Uint8Array, product: Product, walletId: string): string {
  return sealToken(key, product, fromHex(walletId.replaceAll('-', '')))
}

/** The wallet that an id was made for; nothing for one that is not ours, or was made for the other product. */
export function openSubmissionId(key: Uint8Array, product: Product, id: string): string | undefined {
  const bytes = unsealToken(key, product, id)
  return bytes?.length === 16
    ? toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    : undefined
}
